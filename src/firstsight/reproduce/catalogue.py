"""Every table and figure of the paper by name: what it is made of, and how it is shown."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from firstsight.core.errors import SettingsError
from firstsight.reproduce.figures import inspected as look
from firstsight.reproduce.figures.accuracy import by_method, deviation_bars, over, over_setting, stream
from firstsight.reproduce.figures.times import time_bars
from firstsight.reproduce.reproduction import Reproduction
from firstsight.reproduce.tables import inspected, stated
from firstsight.reproduce.tables.accuracy import accuracies, deviations, in_its_order
from firstsight.reproduce.tables.times import time_per_sample, training_time

STRATEGIES = ("phe-fixed-h", "linear-cls", "supcon-cls", "phe")
HASHES = ("dpn", "orthohash", "csq", "csq-mc", "mdsh", "mdsh-ball", "phe")
BOTH = ("smile", "phe")
OFFLINE = "offline k-means"
ALL_ORDERS = ("random", "fixed", "bursty")

over_bits = partial(over, "bits", lambda line, results: line.bits)

_ALL = (
    Reproduction(
        "main",
        "Table 2",
        "PHE beside SLC, RankStat, WTA and SMILE",
        accuracies,
        by_method,
        ("slc", "rankstat", "wta", "smile", "phe"),
    ),
    Reproduction("std", "Table 8", "how far PHE's seeds are apart", deviations, deviation_bars, ("phe",)),
    Reproduction(
        "ablation-loss",
        "Table 3",
        "PHE without each of its losses",
        accuracies,
        by_method,
        ("phe-no-lp", "phe-no-lc", "phe-no-lf", "phe"),
    ),
    Reproduction("ablation-strategy", "Table 4", "PHE beside other ways to train", accuracies, by_method, STRATEGIES),
    Reproduction(
        "code-length", "Table 5", "longer codes, SMILE and PHE", accuracies, over_bits(), BOTH, (12, 16, 32, 64)
    ),
    Reproduction("datasets", "Table 6", "categories and images of the data sets", stated.datasets),
    Reproduction("settings", "Table 1", "what each setting of category discovery may know", stated.settings),
    Reproduction("dmax", "Table 7", "d_max for code lengths and data sets", stated.distances),
    Reproduction(
        "sequences",
        "Table 9",
        "PHE in other orders",
        partial(accuracies, orders=ALL_ORDERS, published=in_its_order),
        stream,
        ("phe",),
    ),
    Reproduction(
        "smile-dims",
        "Table 10",
        "SMILE's longer codes, on the fly and clustered offline",
        lambda results: accuracies(results, OFFLINE),
        over_bits(OFFLINE),
        ("smile",),
        (12, 64, 128, 256),
    ),
    Reproduction("deep-hash", "Table 11", "PHE beside deep hashing", accuracies, by_method, HASHES, (12, 32)),
    Reproduction("time", "Table 13", "training time", training_time, time_bars, BOTH, inspected=True),
    Reproduction(
        "time-per-sample",
        "Table 12",
        "training time per image",
        time_per_sample,
        methods=("phe",),
        inspected=True,
    ),
    Reproduction(
        "known-share",
        "Table 14",
        "a quarter, half or three quarters of the categories known",
        accuracies,
        over("per cent of categories known", lambda line, results: line.known_share),
        BOTH,
        shares=(25, 50, 75),
    ),
    Reproduction(
        "simgcd", "Table 15", "PHE beside SimGCD's prototypes", accuracies, by_method, ("simgcd", "simgcd-mc", "phe")
    ),
    Reproduction(
        "alpha",
        "Fig. 4",
        "the weight of the centre loss",
        accuracies,
        over_setting("alpha", "alpha"),
        ("phe",),
        vary=("alpha", (0.05, 0.1, 0.2, 0.5, 1.0)),
    ),
    Reproduction(
        "beta",
        "Fig. 4",
        "the weight of the feature loss",
        accuracies,
        over_setting("beta", "beta"),
        ("phe",),
        vary=("beta", (0.5, 1.0, 2.0, 3.0, 5.0)),
    ),
    Reproduction(
        "k",
        "Fig. 4",
        "how many prototypes a category has",
        accuracies,
        over_setting("prototypes", "prototypes per category, k"),
        ("phe",),
        vary=("prototypes", (1, 2, 5, 10, 15)),
    ),
    Reproduction(
        "centres",
        "Fig. 5",
        "distances of centres before and after training",
        inspected.centre_distances,
        look.centre_bars,
        ("phe",),
        inspected=True,
    ),
    Reproduction(
        "sensitivity",
        "Fig. 1(e)",
        "what small changes of an image do to its code",
        inspected.sensitivity,
        look.sensitivity_bars,
        BOTH,
        inspected=True,
    ),
    Reproduction(
        "cases",
        "Fig. 3, 6 to 11",
        "what images are most like, by how they were answered",
        inspected.cases,
        look.case_bars,
        ("phe",),
        inspected=True,
    ),
    Reproduction(
        "confusion",
        "ours",
        "what each true category was found as",
        inspected.confusion,
        look.confusion_view,
        ("phe",),
        inspected=True,
    ),
    Reproduction(
        "map", "ours", "the stream's codes in the plane", inspected.places, look.place_map, ("phe",), inspected=True
    ),
)
REPRODUCTIONS = {each.name: each for each in _ALL}


def reproductions(names: Sequence[str]) -> list[Reproduction]:
    """Those of these names; SettingsError where there is none."""
    if wrong := [name for name in names if name not in REPRODUCTIONS]:
        raise SettingsError(
            f"there is nothing to reproduce called {wrong[0]!r}", f"there are: {', '.join(REPRODUCTIONS)}"
        )
    return [REPRODUCTIONS[name] for name in names]
