"""World as a value with checked, read-only tables."""

import numpy as np
import pytest
from hypothesis import given
from strategies import SIGNATURES, worlds

from induction.formula.syntax import Signature
from induction.worlds.world import World

SIGNATURE = Signature({"P": 1, "R": 2})


def test_tables_are_complete_typed_and_read_only():
    world = World("w", ("a", "b"), SIGNATURE, {"P": [1, 0]}, [False, True], {"R": [[0, 1], [0, 0]]})
    assert world.true["P"].dtype == np.bool_
    assert world.true["R"].shape == world.unknown["R"].shape == (2, 2)
    assert world.count_unknown() == 1
    assert world.observation_mode == "partial"
    assert world.density("R") == 0.0
    assert world.density("P") == 0.5
    assert world.elements(world.target) == ("b",)
    for table in (world.true["P"], world.true["R"], world.unknown["P"], world.target):
        with pytest.raises(ValueError, match="read-only"):
            table[0] = True


def test_later_changes_of_the_source_do_not_reach_the_world():
    source = np.array([True, False])
    world = World("w", ("a", "b"), SIGNATURE, {"P": source}, source)
    source[:] = False
    assert world.true["P"].tolist() == world.target.tolist() == [True, False]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("w", (), SIGNATURE, {}, []), "no objects"),
        (("w", ("a", "a"), SIGNATURE, {}, [0, 0]), "twice"),
        (("w", ("a",), SIGNATURE, {"Q": [0]}, [0]), "Q, which is not in the signature"),
        (("w", ("a",), SIGNATURE, {"P": [[0]]}, [0]), "shape"),
        (("w", ("a",), SIGNATURE, {}, [0, 1]), "shape"),
        (("w", ("a",), SIGNATURE, {"P": [1]}, [0], {"P": [1]}), "both true and unknown"),
    ],
)
def test_refusals(arguments, words):
    with pytest.raises(ValueError, match=words):
        World(*arguments)


@given(worlds(SIGNATURES[0], unknown=True))
def test_completion_fills_unknown_atoms_only(world):
    full = world.completed({name: np.ones_like(table) for name, table in world.true.items()})
    assert full.count_unknown() == 0
    assert full.observation_mode == "full"
    for name in world.signature:
        assert (full.true[name] == (world.true[name] | world.unknown[name])).all()
