"""Algorithm 1: what matches, what is founded, and that a batch is a loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstsight.core.assignments import Assignment, Candidate
from firstsight.core.bounds import packing_limit
from firstsight.core.codes import Words, hamming, pack, unpack
from firstsight.core.errors import SettingsError
from firstsight.core.protocols import Centre
from firstsight.register import codes as register_module
from firstsight.register import index
from firstsight.register.codes import CodeRegister, closed_set

RULES = ("nearest", "first", "reference")


def words(*values: int) -> Words:
    return np.array(values, dtype=np.uint64)[:, None]


def random_codes(count: int, bits: int, seed: int) -> Words:
    return pack(np.random.default_rng(seed).choice([-1, 1], size=(count, bits)))


def three(rule: Any = "nearest", radius: int = 1) -> CodeRegister:
    """Centres 0000, 0011 and 1111."""
    return CodeRegister(4, radius, ["a", "b", "c"], words(0b0000, 0b0011, 0b1111), rule)


def test_a_code_within_the_radius_is_the_nearest_category() -> None:
    assert three().match(words(0b1110)[0]) == Assignment("c", False, False, 1, 1, Candidate("a", 3))


def test_of_two_equally_near_centres_the_older_answers() -> None:
    assert three(radius=1).match(words(0b0001)[0]) == Assignment("a", False, False, 1, 1, Candidate("b", 1))


def test_first_takes_the_oldest_within_the_radius_as_algorithm_1_is_printed() -> None:
    code = words(0b0111)[0]  # 3 from a, 1 from b and c
    assert three("first", radius=3).match(code).category == "a"
    assert three("nearest", radius=3).match(code).category == "b"


def test_reference_counts_the_distance_to_known_centres_as_the_released_code_does() -> None:
    # L minus common ones: even its own centre 0000 is 4 away from 0000, and only 1111 is near 1111
    register = three("reference", radius=1)
    assert register.match(words(0b0000)[0]) == Assignment(None, True, False, 4, 1, Candidate("a", 4))
    assert register.match(words(0b1111)[0]).category == "c"


def test_reference_compares_stream_codes_by_hamming() -> None:
    register = three("reference", radius=1)
    assert register.assign(words(0b0000)[0]).category == "new-1"
    assert register.assign(words(0b0001)[0]) == Assignment("new-1", True, False, 1, 1, Candidate("b", 3))


def test_a_code_outside_every_ball_founds_a_category_that_then_answers() -> None:
    register = three()
    founded = register.assign(words(0b1001)[0])
    assert founded == Assignment("new-1", True, True, 2, 1, Candidate("a", 2))
    assert register.assign(words(0b1000)[0]).category == "a"  # as near to a as to new-1, and a is older
    assert register.assign(words(0b1101)[0]).category == "c"
    assert register.match(words(0b1001)[0]) == Assignment("new-1", True, False, 0, 1, Candidate("a", 2))


def test_matching_changes_nothing() -> None:
    register = three()
    register.match(words(0b1001)[0])
    assert len(register) == 3


def test_an_empty_register_founds_its_first_category() -> None:
    register = CodeRegister(8, 2)
    assert register.match(words(5)[0]) == Assignment(None, True, False, None, 2, None)
    assert register.assign(words(5)[0]) == Assignment("new-1", True, True, None, 2, None)


def test_new_ids_pass_over_known_names() -> None:
    register = CodeRegister(4, 0, ["new-1"], words(0b0000))
    assert register.assign(words(0b1111)[0]).category == "new-2"


def test_the_radius_can_be_changed_at_run_time() -> None:
    register = three(radius=0)
    assert register.match(words(0b1110)[0]).category is None
    register.radius = 1
    assert register.match(words(0b1110)[0]).category == "c"


@pytest.mark.parametrize("radius", [-1, 5])
def test_a_radius_outside_the_code_is_refused(radius: int) -> None:
    with pytest.raises(SettingsError, match="0 to 4"):
        three(radius=radius)


def test_names_and_centres_must_agree_and_the_rule_exist() -> None:
    with pytest.raises(SettingsError, match="2 names"):
        CodeRegister(4, 1, ["a", "b"], words(0))
    with pytest.raises(SettingsError, match="nearest, first, reference"):
        CodeRegister(4, 1, rule="best")  # type: ignore[arg-type]


@given(
    bits=st.sampled_from([1, 3, 8, 12, 16, 17, 64, 65, 130, 256]),
    known=st.integers(0, 6),
    count=st.integers(0, 60),
    rule=st.sampled_from(RULES),
    radius=st.floats(0, 1),
    seed=st.integers(0, 2**31),
)
def test_a_batch_is_exactly_the_loop(bits: int, known: int, count: int, rule: Any, radius: float, seed: int) -> None:
    centres, codes = random_codes(known, bits, seed), random_codes(count, bits, seed + 1)
    codes = np.concatenate([codes, codes[::2]])  # some come again
    one, many = (
        CodeRegister(bits, int(radius * bits), [f"k{i}" for i in range(known)], centres, rule) for _ in range(2)
    )
    assert [one.assign(code) for code in codes] == list(many.assign_many(codes))
    assert one.names == many.names
    assert (one.centres == many.centres).all()


def by_hand(bits: int, radius: int, rule: str, centres: Words, codes: Words) -> list[Assignment]:
    """Algorithm 1 as a person would write it down: bit by bit, centre by centre."""
    known = len(centres)
    names, held = [f"k{i}" for i in range(known)], [unpack(c, bits)[0].tolist() for c in centres]
    answers = []
    for code in (unpack(c, bits)[0].tolist() for c in codes):
        ranked: list[tuple[int, int]] = []
        for i, centre in enumerate(held):
            both = sum(a == b == 1 for a, b in zip(code, centre, strict=True))
            differing = sum(a != b for a, b in zip(code, centre, strict=True))
            ranked.append((bits - both if rule == "reference" and i < known else differing, i))
        within = [pair for pair in ranked if pair[0] <= radius]
        if within:
            distance, chosen = min(within, key=lambda pair: pair[1]) if rule == "first" else min(within)
            others = [Candidate(names[i], d) for d, i in sorted(ranked) if i != chosen]
            answers.append(Assignment(names[chosen], chosen >= known, False, distance, radius, (others or [None])[0]))  # type: ignore[list-item]
        else:
            nearest = Candidate(names[min(ranked)[1]], min(ranked)[0]) if ranked else None
            names.append(f"new-{len(names) - known + 1}")
            held.append(code)
            answers.append(Assignment(names[-1], True, True, nearest.distance if nearest else None, radius, nearest))
    return answers


@given(
    bits=st.sampled_from([1, 4, 7, 66]),
    known=st.integers(0, 5),
    rule=st.sampled_from(RULES),
    radius=st.floats(0, 1),
    seed=st.integers(0, 2**31),
)
def test_every_rule_is_algorithm_1_done_by_hand(bits: int, known: int, rule: Any, radius: float, seed: int) -> None:
    centres, codes, reach = random_codes(known, bits, seed), random_codes(40, bits, seed + 1), int(radius * bits)
    register = CodeRegister(bits, reach, [f"k{i}" for i in range(known)], centres, rule)
    assert list(register.assign_many(codes)) == by_hand(bits, reach, rule, centres, codes)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("bits", [7, 12, 18])
def test_a_batch_is_the_loop_at_every_radius(bits: int, rule: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small chunks and tiles, and threads at work, so that every seam is crossed."""
    monkeypatch.setattr(register_module, "CHUNK", 23)
    monkeypatch.setattr(index, "TILE", 40)
    monkeypatch.setattr(index, "WIDE", 5)
    monkeypatch.setattr(index, "THREADS_FROM", 100)
    monkeypatch.setattr(index, "computing_threads", lambda: 3)
    centres, codes = random_codes(9, bits, seed=1), random_codes(70, bits, seed=2)
    for radius in range(bits + 1):
        one, many = (CodeRegister(bits, radius, [f"k{i}" for i in range(9)], centres, rule) for _ in range(2))
        assert [one.assign(code) for code in codes] == list(many.assign_many(codes))


@given(
    rule=st.sampled_from(RULES),
    bits=st.sampled_from([5, 12, 40, 70]),
    owners=st.lists(st.integers(0, 3), min_size=1, max_size=12),
    reach=st.floats(0, 1),
    seed=st.integers(0, 2**31),
)
def test_merged_centres_answer_for_one_category(
    rule: Any, bits: int, owners: list[int], reach: float, seed: int
) -> None:
    """Several centres to a category: the answer by hand, one by one and in a batch."""
    radius, features = int(reach * bits), random_codes(len(owners), bits, seed)
    centres = [
        Centre(feature, f"c{owner}", f"h{i}") for i, (feature, owner) in enumerate(zip(features, owners, strict=True))
    ]
    register, batch = CodeRegister(bits, radius, rule=rule), CodeRegister(bits, radius, rule=rule)
    register.rebuild(centres)
    batch.rebuild(centres)
    codes = random_codes(20, bits, seed + 1)
    for code in codes:
        ranked = sorted((int(hamming(c.feature, code)), i) for i, c in enumerate(centres))
        within = [(i, d) for d, i in ranked if d <= radius]
        answer = register.match(code)
        if not within:
            assert answer.category is None
            assert answer.runner_up == Candidate(centres[ranked[0][1]].category, ranked[0][0])
            continue
        chosen, distance = min(within) if rule == "first" else within[0]
        others = [Candidate(centres[i].category, d) for d, i in ranked if owners[i] != owners[chosen]]
        assert (answer.category, answer.via, answer.distance) == (f"c{owners[chosen]}", f"h{chosen}", distance)
        assert answer.runner_up == (others[0] if others else None)
    assert [register.assign(code) for code in codes] == list(batch.assign_many(codes))


@given(bits=st.integers(1, 12), rule=st.sampled_from(RULES), reach=st.floats(0, 1), seed=st.integers(0, 2**31))
def test_the_table_answers_as_the_scan_does(bits: int, rule: Any, reach: float, seed: int) -> None:
    centres, codes = random_codes(4, bits, seed), random_codes(60, bits, seed + 1)
    names = ["a", "b", "c", "d"]
    table = CodeRegister(bits, int(reach * bits), names, centres, rule)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(register_module, "TABLE_BITS", 0)
        scan = CodeRegister(bits, int(reach * bits), names, centres, rule)
    assert isinstance(table._index, index.Table)
    assert isinstance(scan._index, index.Scan)
    assert list(table.assign_many(codes)) == list(scan.assign_many(codes))
    assert [table.match(code) for code in codes] == [scan.match(code) for code in codes]


@pytest.mark.parametrize("rule", RULES)
def test_a_changed_radius_decides_about_what_comes(rule: Any) -> None:
    codes = random_codes(40, 12, seed=5)
    changed, fresh = (CodeRegister(12, r, [*"ab"], random_codes(2, 12, seed=4), rule) for r in (1, 4))
    changed.radius = 4
    assert list(changed.assign_many(codes)) == list(fresh.assign_many(codes))


def test_a_rebuilt_register_numbers_on_and_passes_over_reserved_names() -> None:
    register = CodeRegister(8, 0)
    register.rebuild([Centre(words(3)[0], "new-1", "new-1")], reserved=["new-2", "new-4"])
    assert [register.assign(words(code)[0]).category for code in (1, 2)] == ["new-3", "new-5"]


def test_the_header_starts_the_same_register_again() -> None:
    register = CodeRegister(70, 5, [*"abc"], random_codes(3, 70, seed=1), "first")
    again = CodeRegister.of(register.header())
    assert again.header() == register.header()
    codes = random_codes(20, 70, seed=2)
    assert list(again.assign_many(codes)) == list(register.assign_many(codes))
    assert (again.feature_from(register.feature_bytes(codes[0])) == codes[0]).all()


def test_the_centre_of_codes_is_their_majority_and_on_a_tie_the_first() -> None:
    register = CodeRegister(4, 1)
    assert register.centre_of(words(0b0001, 0b0011, 0b0111)) == words(0b0011)
    assert register.centre_of(words(0b0001, 0b1110)) == words(0b0001)


@given(
    bits=st.integers(1, 14),
    radius=st.integers(0, 14),
    rule=st.sampled_from(["nearest", "first"]),
    seed=st.integers(0, 2**31),
)
def test_created_centres_are_apart_and_never_more_than_the_bounds_allow(
    bits: int, radius: int, rule: Any, seed: int
) -> None:
    radius = min(radius, bits)
    known = random_codes(3, bits, seed)
    register = CodeRegister(bits, radius, ["a", "b", "c"], known, rule)
    for code in random_codes(120, bits, seed + 1):
        present = register.centres.copy()
        if register.assign(code).created:
            assert (hamming(present, code) > radius).all()
    created = register.centres[3:]
    assert len(created) <= (packing_limit(bits, radius + 1) if radius < bits else 1)


def test_closed_set_never_discovers() -> None:
    register = closed_set(4, ["a", "b"], words(0b0000, 0b1111))
    answers = register.assign_many(words(*range(16)))
    assert {answer.category for answer in answers} == {"a", "b"}
    assert not any(answer.created for answer in answers)
