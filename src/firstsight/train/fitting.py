"""`fit`: from labelled images to a model, by one of two ways: torch makes the encoder, or an exported one is taken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from firstsight.core.errors import DataError, ModelError, SettingsError
from firstsight.core.packages import need
from firstsight.core.progress import Watcher, watched_by
from firstsight.core.settings import ImageSettings, Settings
from firstsight.methods.settings import settings_to_fit
from firstsight.model.folder import is_model
from firstsight.model.model import Model


def fit(
    folder: Path | str,
    out: Path | str | None = None,
    settings: Settings | None = None,
    *,
    device: str = "auto",
    resume: bool = False,
    checkpoint_every: float = 30.0,
    thumbnails: bool = True,
    track: Path | str | None = None,
    progress: Watcher = None,
    **changes: Any,
) -> Model:
    """Train on FOLDER/<category>/<image>, or on a pack; save to `out` where one is named.

    `changes` are settings by name on top of `settings`. A run that was killed goes on with `resume`; on a CPU it
    ends with the weights an uninterrupted run would have. `checkpoint_every` is in seconds. With `thumbnails`, small
    copies of some support images are kept with the model, for explaining its answers. `progress` is a function that is
    called with what is being done, how much of it is done, and how much there is. `track` is a folder for TensorBoard.

    Processes that torchrun started train the same model together: the first writes it, and each gives it back. Where
    `weights` is an exported model, its encoder is taken as it is: nothing trains, and no torch is loaded.

    >>> import timm
    >>> from safetensors.torch import save_file
    >>> from firstsight.data.synthetic import species, write_folder
    >>> here = getfixture("tmp_path")
    >>> drawn = write_folder(here / "moths", species(3), range(2), size=64)
    >>> save_file(timm.create_model("test_resnet").state_dict(), here / "weights.safetensors")
    >>> own = {"backbone": "test_resnet", "weights": str(here / "weights.safetensors"), "image_size": 64}
    >>> model = fit(here / "moths", here / "moths.model", device="torch", **own)
    >>> len(model.names), sorted(path.name for path in (here / "moths.model").glob("*.safetensors"))
    (3, ['decision.safetensors', 'encoder.safetensors', 'examples.safetensors'])
    """
    if not isinstance(folder, (str, Path)):
        raise DataError(
            f"fit takes a folder, not a {type(folder).__name__}", "features are fitted by fit_features(X, y)"
        )
    chosen = _of_images(settings_to_fit(settings, changes))
    need("fitting", "scipy", "sklearn")
    out = Path(out).absolute() if out is not None else None
    if chosen.weights is not None and is_model(Path(chosen.weights)):
        from firstsight.train.frozen import fit_exported

        _refuse_training(resume, track)
        return fit_exported(Path(folder), out, chosen, device, thumbnails, watched_by(progress))
    need("fitting with weights that are no exported model", "torch", "timm")
    from firstsight.train.fit import fit_folder

    return fit_folder(
        Path(folder),
        out,
        chosen,
        device=device,
        resume=resume,
        checkpoint_every=checkpoint_every,
        thumbnails=thumbnails,
        track=track,
        progress=progress,
    )


def check_place(out: Path | None, folder: Path) -> None:
    """Refuse to write a model where something is, or into its own support set."""
    if out is None:
        return
    if out.is_relative_to(folder.absolute()):
        raise SettingsError(f"{out} is inside the support set {folder}", "choose a place outside it with --out")
    if out.exists():
        raise ModelError(f"{out} exists already", "choose another name with --out, or remove it first")


def _of_images(settings: Settings) -> ImageSettings:
    """The settings, if they say how to look at images; a method of one's own need not have such."""
    if not isinstance(settings, ImageSettings):
        raise SettingsError(
            f"{settings.method} has no settings for images, such as a backbone",
            "fit it on features with fit_features, or let its settings extend ImageSettings",
        )
    return settings


def _refuse_training(resume: bool, track: Path | str | None) -> None:
    if resume:
        raise SettingsError("--resume goes on with a training, and an exported encoder is not trained")
    if track is not None:
        raise SettingsError("--track follows a training, and an exported encoder is not trained")
