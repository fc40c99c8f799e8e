"""`firstsight demo --serve`: the drawn moths arrive in a service, a few a second, while somebody watches."""

from __future__ import annotations

from pathlib import Path
from threading import Event, Thread

from firstsight.cli.console import Bars, say
from firstsight.core.errors import DataError, SettingsError

EVERY = 0.35  # seconds between two moths
PATIENCE = 60.0  # seconds for one answer


def serve_demo(folder: Path, port: int, device: str) -> None:
    """Serve the moths of a folder until interrupted: drawn and learned first where they are not there yet."""
    try:
        import httpx  # noqa: F401 - the first that would be missing

        from firstsight.serve.run import serve
        from firstsight.serve.settings import ServeSettings
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"serving needs {error.name}, which is not installed", "pip install 'firstsight[serve]'"
        ) from None
    from firstsight.model.folder import load_model

    if not folder.exists():
        _make(folder, device)
    elif not (folder / "model").is_dir() or not (folder / "stream").is_dir():
        raise DataError(f"{folder} is no folder of a demo", "name a new folder with --out")
    over, threads = Event(), list[Thread]()

    def started(address: str) -> None:
        say(f" Open {address} and watch moths arrive; Ctrl-C ends it, and the same command goes on.")
        threads.append(Thread(target=stream, args=(address, folder / "stream", over), name="moths"))
        threads[-1].start()

    try:
        serve(lambda: load_model(folder / "model", device), folder / "moths.db", ServeSettings(port=port), started)
    finally:
        over.set()
        for thread in threads:
            thread.join()


def _make(folder: Path, device: str) -> None:
    from firstsight.cli.demo import SETTINGS, draw
    from firstsight.cli.fit import describe
    from firstsight.train.fitting import fit

    draw(folder)
    describe(fit(folder / "support", folder / "model", device=device, progress=Bars(), **SETTINGS), folder / "model")


def stream(address: str, folder: Path, over: Event) -> None:
    """Send the images of a folder one after another, in an order that is always the same; those sent before are not."""
    import httpx
    import numpy as np

    from firstsight.data.folder import read_folder

    images = [Path(str(each)) for each in read_folder(folder).images]
    order = np.random.default_rng(0).permutation(len(images)).tolist()
    with httpx.Client(base_url=address, timeout=PATIENCE) as client:
        try:
            before = client.get("/api/images", params={"limit": 1}).json()["total"]
            for i in order[before:]:
                if over.wait(EVERY):
                    return
                name = f"moth-{i + 1}.jpg"  # not that of its species, which nobody is to know
                client.post("/api/discover", params={"once": True, "name": name}, content=images[i].read_bytes())
        except (httpx.HTTPError, OSError):  # the service ended, or somebody took the images away
            return
    say(" all moths have arrived")
