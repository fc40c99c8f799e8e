"""Centres among float vectors: what matches, what is founded, and that neither company nor rounding decides."""

from __future__ import annotations

import json
import math
import warnings
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from firstsight.checks import check_discoverer
from firstsight.cli.main import app
from firstsight.core.assignments import Assignment, Candidate
from firstsight.core.errors import ModelError, SettingsError
from firstsight.core.protocols import Centre, Provenance
from firstsight.discoverer import Discoverer
from firstsight.exports.export import export
from firstsight.register import features as register_module
from firstsight.register.features import FeatureRegister, Features, Metric, closed_set_features
from firstsight.register.kinds import of_header
from firstsight.store.store import Arrival, Store
from firstsight.store.suggest import suggest
from firstsight.store.views import describe

METRICS = get_args(Metric)
MODEL = Provenance("f" * 64, 1, "cpu", "fp32")


def features(*values: Sequence[float]) -> Features:
    return np.array(values, dtype=np.float32)


def names(count: int) -> list[str]:
    return [f"k{i}" for i in range(count)]


def two(radius: float = 1) -> FeatureRegister:
    """Centres (0, 0) and (6, 8), 10 apart."""
    return FeatureRegister("euclidean", radius, ["a", "b"], features([0, 0], [6, 8]))


def cosine(radius: float = 0.5) -> FeatureRegister:
    """Centres to the right, of length 2, and up."""
    return FeatureRegister("cosine", radius, ["right", "up"], features([2, 0], [0, 1]))


def test_a_feature_within_the_radius_is_the_nearest_category() -> None:
    assert two(radius=5).match(features([3, 4])[0]) == Assignment("a", False, False, 5.0, 5.0, Candidate("b", 5.0))
    assert two(radius=5).match(features([6, 5])[0]).category == "b"


def test_a_feature_outside_every_ball_founds_a_category_that_leads() -> None:
    register = two()
    assert register.assign(features([3, 4])[0]) == Assignment("new-1", True, True, 5.0, 1.0, Candidate("a", 5.0))
    assert register.assign(features([3, 5])[0]) == Assignment(
        "new-1", True, False, 1.0, 1.0, Candidate("b", math.sqrt(18))
    )
    assert register.assign(features([3, 6])[0]).category == "new-2"  # the centre of new-1 has not moved
    assert len(register) == 4


def test_cosine_is_one_minus_the_cosine_whatever_the_length() -> None:
    register = cosine()
    answer = register.match(features([300, 400])[0])  # cosines 0.6 and 0.8
    assert (answer.category, answer.runner_up and answer.runner_up.category) == ("up", "right")
    assert answer.distance == pytest.approx(0.2, abs=1e-7)
    assert answer.runner_up is not None
    assert answer.runner_up.distance == pytest.approx(0.4, abs=1e-7)
    assert register.match(features([0.5, 0])[0]).distance == 0
    assert register.match(features([-7, 0])[0]) == Assignment(None, True, False, 1.0, 0.5, Candidate("up", 1.0))


def test_a_zero_vector_is_1_from_every_direction_and_0_from_itself() -> None:
    register = cosine()
    founded = register.assign(features([0, 0])[0])
    assert founded == Assignment("new-1", True, True, 1.0, 0.5, Candidate("right", 1.0))
    assert register.assign(features([0, 0])[0]) == Assignment("new-1", True, False, 0.0, 0.5, Candidate("right", 1.0))
    assert register.match(features([1, 0])[0]).category == "right"


def test_of_two_equally_near_centres_the_older_answers() -> None:
    register = FeatureRegister("euclidean", 2, ["a", "b", "c"], features([9, 9], [1, 0], [-1, 0]))
    assert register.match(features([0, 0])[0]) == Assignment("b", False, False, 1.0, 2.0, Candidate("c", 1.0))
    register.rebuild(reversed(register.known_centres()))
    assert register.match(features([0, 0])[0]).category == "c"


def test_an_empty_register_founds_its_first_category() -> None:
    for metric in METRICS:
        register = FeatureRegister(metric, 0)
        assert register.match(features([1, 2])[0]) == Assignment(None, True, False, None, 0.0, None)
        assert register.neighbours(features([1, 2])[0], 9, 9) == []
        assert list(register.assign_many(features([1, 2], [1, 2]))) == [
            Assignment("new-1", True, True, None, 0.0, None),
            Assignment("new-1", True, False, 0.0, 0.0, None),
        ]
        assert len(register.assign_many(np.zeros((0, 2), dtype=np.float32))) == 0


@pytest.mark.parametrize("radius", [-0.1, math.nan, -math.inf, 2.1])
def test_a_radius_that_is_no_distance_is_refused(radius: float) -> None:
    register = cosine()
    with pytest.raises(SettingsError, match="0 to 2"):
        register.radius = radius
    assert register.radius == 0.5
    if radius != 2.1:
        with pytest.raises(SettingsError, match="euclidean"):
            two(radius)


def test_names_and_centres_must_agree_and_the_metric_exist() -> None:
    with pytest.raises(SettingsError, match="2 names"):
        FeatureRegister("cosine", 1, ["a", "b"], features([0, 1]))
    with pytest.raises(SettingsError, match="euclidean, cosine"):
        FeatureRegister("manhattan", 1)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("metric", METRICS)
def test_a_feature_that_is_not_all_numbers_is_refused_and_changes_nothing(metric: Any, value: float) -> None:
    register = FeatureRegister(metric, 0.1, ["a"], features([1, 1]))
    for ask in (register.match, register.assign):
        with pytest.raises(ModelError, match="not a finite number"):
            ask(features([0, value])[0])
    with pytest.raises(ModelError, match="encoder"):
        register.assign_many(features([5, 1], [0, value]))
    with pytest.raises(ModelError, match="3 values"):
        register.match(features([1, 2, 3])[0])
    assert register.names == ["a"]
    with pytest.raises(ModelError):
        FeatureRegister(metric, 0.1, ["a"], features([value, 1]))


def test_the_centre_of_features_is_their_mean() -> None:
    assert two().centre_of(features([1, 2], [3, 5])).tolist() == [2, 3.5]


def test_neighbours_come_nearest_first_and_no_farther_than_asked() -> None:
    register = FeatureRegister("euclidean", 1, [*"abcd"], features([3, 0], [1, 0], [9, 0], [-1, 0]))
    near = [Candidate("b", 1.0), Candidate("d", 1.0), Candidate("a", 3.0)]
    assert register.neighbours(features([0, 0])[0], within=3, limit=9) == near
    assert register.neighbours(features([0, 0])[0], within=3, limit=2) == near[:2]


# ------------------------------------------------------------------ exactness


def drawn(kind: str, count: int, width: int, seed: int) -> Features:
    """Features of all sorts: scattered, on a coarse grid where ties abound, hardly apart, very large, very small."""
    rng = np.random.default_rng(seed)
    if kind == "grid":
        return rng.integers(-1, 2, (count, width)).astype(np.float32)
    scattered = rng.standard_normal((count, width))
    scale = {"scattered": 1.0, "close": 1e-6, "large": 1e30, "small": 1e-30, "mixed": 10.0 ** rng.integers(-38, 38)}
    return (scattered * scale[kind] + (kind == "close")).astype(np.float32)


SORTS = st.sampled_from(["scattered", "grid", "close", "large", "small", "mixed"])


@given(
    metric=st.sampled_from(METRICS),
    kind=SORTS,
    width=st.sampled_from([1, 2, 3, 17, 64]),
    known=st.integers(0, 6),
    count=st.integers(0, 40),
    reach=st.floats(0, 1),
    seed=st.integers(0, 2**31),
)
def test_a_batch_is_exactly_the_loop(
    metric: Any, kind: str, width: int, known: int, count: int, reach: float, seed: int
) -> None:
    centres, stream = drawn(kind, known, width, seed), drawn(kind, count, width, seed + 1)
    stream = np.concatenate([stream, stream[::2], 2 * stream[::3]])  # some come again, or longer
    spread = float(np.abs(stream.astype(np.float64)).max(initial=0)) * 2 * math.sqrt(width)
    radius = reach * (spread if metric == "euclidean" else 2)
    one, many = (FeatureRegister(metric, radius, names(known), centres) for _ in range(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [one.assign(feature) for feature in stream] == list(many.assign_many(stream))
    assert one.names == many.names


@given(kind=SORTS, metric=st.sampled_from(METRICS), width=st.integers(1, 40), seed=st.integers(0, 2**31))
def test_the_fast_pass_leaves_out_nothing_that_matters(kind: str, metric: Any, width: int, seed: int) -> None:
    centres = drawn(kind, 30, width, seed)
    register = FeatureRegister(metric, 0, names(30), centres)
    for feature in drawn(kind, 5, width, seed + 1):
        compared = register._comparable(feature)
        exact = [float(register._index._measure(one[None], compared)[0]) for one in register._centres.features]
        order = sorted(range(30), key=lambda i: (exact[i], i))
        place = register._index.find(compared)
        assert [(place.nearest, place.distance), (place.second, place.second_distance)] == [
            (i, exact[i]) for i in order[:2]
        ]
        assert register.neighbours(feature, math.inf, 7) == [Candidate(f"k{i}", exact[i]) for i in order[:7]]


@given(known=st.integers(0, 5), reach=st.floats(0, 3), seed=st.integers(0, 2**31))
def test_the_answers_are_those_of_leader_clustering_done_by_hand(known: int, reach: float, seed: int) -> None:
    """On a grid, where a distance is the root of a whole number."""
    centres, stream = drawn("grid", known, 4, seed), drawn("grid", 40, 4, seed + 1)
    held = [(name, tuple(centre)) for name, centre in zip(names(known), centres.tolist(), strict=True)]
    answers = []
    for feature in stream.tolist():
        ranked = [Candidate(name, math.dist(feature, centre)) for name, centre in held]
        ranked.sort(key=lambda candidate: candidate.distance)  # stable: the oldest first
        near, other = [*ranked, None, None][:2]
        if near is not None and near.distance <= reach:
            answers.append(Assignment(near.category, near.category[0] == "n", False, near.distance, reach, other))
        else:
            held.append((f"new-{len(held) - known + 1}", tuple(feature)))
            answers.append(Assignment(held[-1][0], True, True, near.distance if near else None, reach, near))
    register = FeatureRegister("euclidean", reach, names(known), centres)
    assert list(register.assign_many(stream)) == answers


@pytest.mark.parametrize("metric", METRICS)
def test_a_batch_is_the_loop_across_every_seam(metric: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    centres, stream = drawn("scattered", 9, 5, seed=1), drawn("scattered", 70, 5, seed=2)
    one = [FeatureRegister(metric, radius, names(9), centres) for radius in np.linspace(0, 2, 9)]
    expected = [[register.assign(feature) for feature in stream] for register in one]
    for name, value in (("CHUNK", 7), ("TILE", 40), ("BLOCK", 3)):
        monkeypatch.setattr(register_module, name, value)
    for register, answers in zip(one, expected, strict=True):
        fresh = FeatureRegister(metric, register.radius, names(9), centres)
        assert list(fresh.assign_many(stream)) == answers
        assert fresh.comparisons > 0


@pytest.mark.parametrize("width", [3, 768, 8193, 20000])
def test_a_distance_does_not_depend_on_what_is_measured_with_it(width: int) -> None:
    many = drawn("scattered", 12, width, seed=3)
    for metric in METRICS:
        register = FeatureRegister(metric, 0, names(12), many)
        alone = [FeatureRegister(metric, 0, ["k"], each[None]).match(many[0]).distance for each in many]
        assert register._index._measure(register._centres.features, register._comparable(many[0])).tolist() == alone
        assert register.match(np.asfortranarray(many)[0]).distance == 0


@given(
    metric=st.sampled_from(METRICS),
    owners=st.lists(st.integers(0, 3), min_size=1, max_size=12),
    reach=st.floats(0, 2),
    seed=st.integers(0, 2**31),
)
def test_merged_centres_answer_for_one_category(metric: Any, owners: list[int], reach: float, seed: int) -> None:
    held = drawn("scattered", len(owners), 3, seed)
    centres = [
        Centre(feature, f"c{owner}", f"h{i}") for i, (feature, owner) in enumerate(zip(held, owners, strict=True))
    ]
    register, batch, apart = (FeatureRegister(metric, reach) for _ in range(3))
    register.rebuild(centres)
    batch.rebuild(centres)
    apart.rebuild([Centre(centre.feature, centre.home, centre.home) for centre in centres])
    stream = drawn("scattered", 20, 3, seed + 1)
    for feature in stream:
        ranked = [(int(c.category[1:]), c.distance) for c in apart.neighbours(feature, math.inf, len(owners))]
        (chosen, distance), answer = ranked[0], register.match(feature)
        if distance > reach:
            assert answer == Assignment(None, True, False, distance, reach, Candidate(f"c{owners[chosen]}", distance))
            continue
        others = [Candidate(f"c{owners[i]}", d) for i, d in ranked if owners[i] != owners[chosen]]
        assert (answer.category, answer.via, answer.distance) == (f"c{owners[chosen]}", f"h{chosen}", distance)
        assert answer.runner_up == (others[0] if others else None)
    assert [register.assign(feature) for feature in stream] == list(batch.assign_many(stream))


@pytest.mark.parametrize("metric", METRICS)
def test_a_register_rebuilt_or_read_from_its_header_decides_exactly_alike(metric: Any) -> None:
    known, stream = drawn("scattered", 3, 9, seed=1), drawn("scattered", 60, 9, seed=2)
    register = FeatureRegister(metric, 0.6, [*"abc"], known)
    again = of_header(json.loads(json.dumps(register.header())))
    assert again.header() == register.header()
    born = [feature for feature, answer in zip(stream, register.assign_many(stream), strict=True) if answer.created]
    centres = register.known_centres() + [Centre(r, f"new-{i}", f"new-{i}") for i, r in enumerate(born, start=1)]
    again.rebuild(
        [c._replace(feature=again.feature_from(register.feature_bytes(c.feature))) for c in centres],
        reserved=["new-1", "new-999"],
    )
    assert again.next_name() == register.next_name() == f"new-{len(born) + 1}"
    assert list(again.assign_many(-stream)) == list(register.assign_many(-stream))


@given(metric=st.sampled_from(METRICS), kind=SORTS, seed=st.integers(0, 2**31))
def test_a_closed_set_never_discovers(metric: Any, kind: str, seed: int) -> None:
    register = closed_set_features(metric, ["a", "b"], drawn(kind, 2, 5, seed))
    limit = np.finfo(np.float32).max
    stream = np.concatenate([drawn(kind, 9, 5, seed + 1), np.zeros((1, 5)), np.full((2, 5), [[limit], [-limit]])])
    assert not any(answer.created for answer in register.assign_many(stream))
    assert register.names == ["a", "b"]
    assert "Infinity" not in json.dumps(register.header())


# ------------------------------------------------------------------ in a discoverer, in a store


class Scatter:
    """An encoder that knows nothing: features drawn at random, always the same for the same pixels."""

    provenance = MODEL

    batch = 16

    def __init__(self, metric: Metric, radius: float) -> None:
        self.metric, self.radius = metric, radius

    def prepare(self, image: Any) -> NDArray[np.uint8]:
        return np.asarray(image)

    def encode(self, prepared: Sequence[NDArray[np.uint8]]) -> NDArray[np.float32]:
        seeds = [zlib.crc32(pixels.tobytes()) for pixels in prepared]
        return np.stack([np.random.default_rng(seed).standard_normal(6) for seed in seeds]).astype(np.float32)

    def transform(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        return features

    def register(self) -> FeatureRegister:
        return FeatureRegister(self.metric, self.radius, ["a", "b"], drawn("scattered", 2, 6, seed=8))


IMAGES = [np.full((4, 4, 3), i, dtype=np.uint8) for i in [*range(30), 3, 4, 29]]


@pytest.mark.parametrize(("metric", "radius"), [("euclidean", 0), ("euclidean", 3), ("cosine", 0), ("cosine", 0.6)])
def test_features_keep_the_contract(metric: Any, radius: float) -> None:
    check_discoverer(lambda: Discoverer(Scatter(metric, radius)), IMAGES)


@pytest.mark.parametrize("metric", METRICS)
def test_the_closed_set_keeps_the_contract(metric: Any) -> None:
    encoder = Scatter(metric, 0)
    centres = drawn("scattered", 2, 6, seed=8)
    check_discoverer(lambda: Discoverer(encoder, closed_set_features(metric, [*"ab"], centres)), IMAGES)


def arrivals(*values: Sequence[float]) -> list[Arrival]:
    return [Arrival(f"{i}.jpg", bytes([i]) * 32, feature) for i, feature in enumerate(features(*values))]


def test_a_store_corrects_and_exports_what_features_decided(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    stream = arrivals([0.3, 0], [0, 5], [0, 5.25], [0, 5.75])
    with Store.create(path, two(radius=0.4), MODEL) as store:
        a, one, same, other = store.record(stream, MODEL)
        assert [x.category for x in (a, one, same, other)] == ["a", "new-1", "new-1", "new-2"]
        store.change_radius(0.5)
        (pair,) = suggest(store.view())
        assert (pair.category, pair.into, pair.reason) == ("new-2", "new-1", "centres 0.75 apart, radius 0.5")
        assert describe(store.view().event(a.image or 0).event) == "0.jpg -> a, 0.3 away"
        store.merge("new-2", into="new-1")
        store.split([one.image or 0, same.image or 0], name="between")
    with Store.open(path) as store:
        assert store.match(features([0, 5.125])[0], b"") == Assignment(
            "new-3", True, False, 0.0, 0.5, Candidate("new-1", 0.125), name="between"
        )
        assert store.match(features([0, 6])[0], b"").via == "new-2"
        assert store.replay() == store.view().catalogue
        export(store.view(), tmp_path / "a.csv")
        export(store.view(), tmp_path / "a.json")
    categories = json.loads((tmp_path / "a.json").read_text())
    measured = {image["source"]: image["distance"] for category in categories for image in category["images"]}
    assert measured == {"0.jpg": a.distance, "1.jpg": None, "2.jpg": None, "3.jpg": other.distance}
    assert (tmp_path / "a.csv").read_text().count("\n") == 5


def test_the_command_line_shows_and_sets_a_radius_that_is_no_whole_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.db"
    with Store.create(path, two(radius=0.4), MODEL) as store:
        store.record(arrivals([0.3, 0]), MODEL)
    for command in (["radius", "0.25"], ["list"], ["show", "a"]):
        app(["categories", str(path), *command], standalone_mode=False)
    shown = capsys.readouterr()
    said = shown.out + shown.err
    assert "radius 0.4 -> 0.25" in said
    assert "0.3 (radius 0.4)" in said
    with pytest.raises(SettingsError, match="radius is nan"):
        app(["categories", str(path), "radius", "nan"], standalone_mode=False)
