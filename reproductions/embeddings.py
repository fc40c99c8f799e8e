"""Features that are of no picture: `firstsight` beside what scikit-learn and river have for clusters and novelty.

    python reproductions/embeddings.py --out embeddings.jsonl

Two sets are made of what is installed. Digits are scikit-learn's: 64 values, 0 to 4 known. Docstrings are of ten
packages, five of them known: tf-idf and 64 singular vectors, both of the taught ones alone. Half of what is known is
taught; the rest and all that is new arrive in random orders. Everybody gets the same features, at length 1 or where
`firstsight` compares them, whichever does better on a stream simulated on the support set; so is every reach chosen.
A line for every method and set says its strict accuracy, its deviation over orders, and how many categories it found.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import json
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from river import cluster
from sklearn.cluster import HDBSCAN, Birch, KMeans, MiniBatchKMeans
from sklearn.datasets import load_digits
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import LocalOutlierFactor
from sklearn.svm import OneClassSVM

from firstsight.core.accuracy import strict_accuracy
from firstsight.evaluate.orders import random_orders
from firstsight.train.features import fit_features

PACKAGES = ("numpy", "torch", "PIL", "rich", "networkx", "scipy", "sklearn", "timm", "jinja2", "hypothesis")
REACHES = (0.5, 0.7, 0.85, 1.0, 1.2, 1.5)  # times the median distance of a taught feature to its category's mean
WIDTH = 64
EACH, SHORTEST = 200, 120  # docstrings of a package, and characters of one

Floats = NDArray[np.float64]
Labels = NDArray[Any]


@dataclass(frozen=True)
class Task:
    """A support set, and a stream in its order."""

    taught: Floats
    labels: Labels
    stream: Floats
    number: int  # of categories in all, for who is told

    @property
    def scale(self) -> float:
        means = {label: self.taught[self.labels == label].mean(axis=0) for label in np.unique(self.labels)}
        return float(np.median([np.linalg.norm(x - means[y]) for x, y in zip(self.taught, self.labels, strict=True)]))


# ------------------------------------------------------------------ what answers; `reach` is nothing to some


def ours(task: Task, reach: float) -> list[Any]:
    model = fit_features(task.taught, task.labels)
    return list(model.register().assign_many(model.transform(task.stream.astype(np.float32))).category)


def never_discovers(task: Task, reach: float) -> list[Any]:
    return list(LogisticRegression(max_iter=1000).fit(task.taught, task.labels).predict(task.stream))


def kmeans_at_once(task: Task, reach: float) -> list[Any]:
    return list(KMeans(task.number, n_init=3, random_state=0).fit_predict(task.stream))


def mini_batch(task: Task, reach: float) -> list[Any]:
    means = MiniBatchKMeans(task.number, random_state=0, n_init=3).partial_fit(task.taught)
    found = []
    for feature in task.stream:
        found.append(int(means.predict(feature[None])[0]))
        means.partial_fit(feature[None])
    return found


def birch(task: Task, reach: float) -> list[Any]:
    every = np.concatenate([task.taught, task.stream])
    return list(Birch(threshold=reach * task.scale, n_clusters=None).fit(every).labels_[len(task.taught) :])


def outliers_by_birch(task: Task, reach: float) -> list[Any]:
    inside = OneClassSVM(nu=0.1).fit(task.taught).predict(task.stream) > 0
    return _two_steps(task, inside, lambda rest: Birch(threshold=reach * task.scale, n_clusters=None).fit_predict(rest))


def outliers_by_density(task: Task, reach: float) -> list[Any]:
    inside = LocalOutlierFactor(novelty=True).fit(task.taught).predict(task.stream) > 0
    return _two_steps(task, inside, HDBSCAN(copy=True).fit_predict)


def _two_steps(task: Task, inside: Labels, group: Callable[[Floats], Labels]) -> list[Any]:
    """What is taken for known is classified as it comes; the rest is grouped at the end."""
    found: list[Any] = never_discovers(task, 0)
    rest = np.flatnonzero(~inside)
    for at, group_of in zip(rest, group(task.stream[rest]) if len(rest) > 5 else [0] * len(rest), strict=True):
        found[at] = f"new-{group_of}" if group_of >= 0 else f"alone-{at}"
    return found


def _river(make: Callable[[Task, float], Any]) -> Callable[[Task, float], list[Any]]:
    def answers(task: Task, reach: float) -> list[Any]:
        model, found = make(task, reach), []
        for i, feature in enumerate(np.concatenate([task.taught, task.stream])):
            named = dict(enumerate(feature.tolist()))
            model.learn_one(named)
            if i >= len(task.taught):
                found.append(int(model.predict_one(named) or 0))
        return found

    return answers


def _dbstream(task: Task, reach: float) -> Any:
    return cluster.DBSTREAM(clustering_threshold=reach * task.scale, fading_factor=1e-5, minimum_weight=1.0)


def _stream_kmeans(task: Task, reach: float) -> Any:
    return cluster.STREAMKMeans(chunk_size=50, n_clusters=task.number, seed=0)  # type: ignore[no-untyped-call]


@dataclass(frozen=True)
class Method:
    name: str
    answers: Callable[[Task, float], list[Any]]
    reaches: bool = False
    spaces: bool = True


METHODS = (
    Method("`firstsight`", ours, spaces=False),
    Method("LocalOutlierFactor, then HDBSCAN at the end", outliers_by_density),
    Method("OneClassSVM, then Birch at the end", outliers_by_birch, reaches=True),
    Method("Birch, asked at the end", birch, reaches=True),
    Method("river DBSTREAM", _river(_dbstream), reaches=True),
    Method("river STREAMKMeans, told the number", _river(_stream_kmeans)),
    Method("MiniBatchKMeans, told the number", mini_batch),
    Method("KMeans of the whole stream, told the number", kmeans_at_once),
    Method("LogisticRegression, never discovers", never_discovers),
)


# ------------------------------------------------------------------ sets


def digits(most: int) -> tuple[Floats, Labels, Floats, Labels]:
    data = load_digits()
    taught, labels = _halves(data.target, range(5), most)
    return data.data[taught], data.target[taught], data.data[labels], data.target[labels]


def docstrings(most: int) -> tuple[Floats, Labels, Floats, Labels]:
    texts, packages = zip(*((text, name) for name in PACKAGES for text in _docstrings_of(name)), strict=True)
    labels = np.array(packages)
    taught, arriving = _halves(labels, PACKAGES[:5], most)
    words = TfidfVectorizer(stop_words="english", sublinear_tf=True, min_df=2)
    counted = words.fit_transform([texts[i] for i in taught])
    reduced = TruncatedSVD(min(WIDTH, counted.shape[1] - 1, len(taught) - 1), random_state=0).fit(counted)
    stream = reduced.transform(words.transform([texts[i] for i in arriving]))
    return reduced.transform(counted), labels[taught], stream, labels[arriving]


def _docstrings_of(package: str) -> list[str]:
    """What functions and classes say of themselves, read and not run; of some files, the same ones every time."""
    found = importlib.util.find_spec(package)
    assert found is not None
    assert found.submodule_search_locations
    generator, said = np.random.default_rng(0), dict[str, None]()
    paths = [
        path for path in sorted(Path(found.submodule_search_locations[0]).rglob("*.py")) if "test" not in str(path)
    ]
    for i in generator.permutation(len(paths)):
        nodes = ast.walk(ast.parse(paths[i].read_text(encoding="utf-8")))
        texts = (ast.get_docstring(node) or "" for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef)))
        said |= dict.fromkeys(text[:1000] for text in texts if len(text) >= SHORTEST)
        if len(said) >= 2 * EACH:  # of which those of no one file are most
            break
    every = list(said)
    return [every[i] for i in generator.permutation(len(every))[:EACH]]


def _halves(labels: Labels, known: Any, most: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Half of every known category's is taught; all else arrives."""
    generator, taught, arriving = np.random.default_rng(0), list[int](), list[int]()
    for label in np.unique(labels):
        own = generator.permutation(np.flatnonzero(labels == label))[:most].tolist()
        half = len(own) // 2 if label in known else 0
        taught += own[:half]
        arriving += own[half:]
    return np.array(taught), np.array(arriving)


SETS = {"digits": digits, "docstrings": docstrings}


# ------------------------------------------------------------------ scoring


def scored(task: Task, truth: Labels, answers: list[Any]) -> tuple[float, float, float, int]:
    known = np.isin(truth, task.labels)
    right = strict_accuracy(truth.tolist(), [str(each) for each in answers], known)
    return right.all, right.old, right.new, len({str(each) for each in answers})


def simulated(taught: Floats, labels: Labels) -> tuple[Task, Labels]:
    """A stream of the support set in which every third category plays a new one."""
    classes = np.unique(labels)
    here, there = _halves(labels, [each for i, each in enumerate(classes) if i % 3], len(labels))
    there = np.random.default_rng(1).permutation(there)
    return Task(taught[here], labels[here], taught[there], len(classes)), labels[there]


def spaces(features: Floats, task: tuple[Floats, Labels]) -> Iterator[tuple[str, Floats]]:
    """Features at length 1, and where `firstsight`, taught so, compares them."""
    yield "length 1", features / np.maximum(np.linalg.norm(features, axis=1, keepdims=True), 1e-12)
    yield "projected", fit_features(*task).transform(features.astype(np.float32)).astype(np.float64)


def run(method: Method, data: tuple[Floats, Labels, Floats, Labels], orders: int) -> dict[str, Any]:
    taught, labels, stream, truth = data
    number, began = len({*labels.tolist(), *truth.tolist()}), time.monotonic()
    chosen, ways = (
        ("as given", 1.0),
        list(product(range(2 if method.spaces else 0), REACHES if method.reaches else [1.0])),
    )
    if method.spaces:
        trial, true = simulated(taught, labels)
        inputs = list(zip(spaces(trial.taught, (trial.taught, trial.labels)),
                          spaces(trial.stream, (trial.taught, trial.labels)), strict=True))  # fmt: skip
        best = -1.0
        for i, reach in ways:
            (name, before), (_, after) = inputs[i]
            got = scored(trial, true, method.answers(Task(before, trial.labels, after, trial.number), reach))[0]
            if got > best:
                best, chosen = got, (name, reach)
        taught, stream = (dict(spaces(each, data[:2]))[chosen[0]] for each in (taught, stream))
    scores = []
    for order in random_orders(len(stream), orders):
        task = Task(taught, labels, stream[order], number)
        scores.append(scored(task, truth[order], method.answers(task, chosen[1])))
    mean, spread = np.mean(scores, axis=0), np.std(scores, axis=0)
    names = ("all", "old", "new", "found")
    figures = {name: round(float(value), 4) for name, value in zip(names, mean, strict=True)}
    deviations = {f"{name}_deviation": round(float(value), 4) for name, value in zip(names, spread, strict=True)}
    seconds = round(time.monotonic() - began, 1)
    return {"space": chosen[0], "reach": chosen[1], **figures, **deviations, "orders": orders, "seconds": seconds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--orders", type=int, default=10)
    parser.add_argument("--images", type=int, default=1000, help="of a category at most")
    parser.add_argument("--out", type=Path, help="a file to add lines to")
    given = parser.parse_args()
    warnings.filterwarnings("ignore")  # k-means of few features, HDBSCAN of none
    for name in given.sets.split(","):
        data = SETS[name](given.images)
        print(f"{name}: {len(data[0])} taught, {len(data[2])} arrive, {data[0].shape[1]} values", flush=True)
        for method in METHODS:
            line = {"set": name, "method": method.name, **run(method, data, given.orders)}
            cells = " | ".join(
                f"{100 * line[part]:.1f} ± {100 * line[f'{part}_deviation']:.1f}" for part in ("all", "old", "new")
            )
            print(f"| {method.name} | {cells} | {line['found']:.0f} |  {line['space']} {line['seconds']} s", flush=True)
            if given.out is not None:
                with given.out.open("a") as file:
                    file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
