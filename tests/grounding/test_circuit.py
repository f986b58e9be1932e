"""Circuits: folding, sharing, exports, and agreement with both evaluators."""

import itertools
import re

import numpy as np
import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from induction.errors import EvaluationLimitError
from induction.evaluation import bitset, reference, three_valued
from induction.formula import parse_formula
from induction.formula.sampling import sample_formula
from induction.formula.syntax import DEFAULT_SIGNATURE, Signature
from induction.grounding import circuit as circuits
from induction.grounding.circuit import FALSE, TRUE, Circuit, to_smtlib, to_text
from induction.grounding.ground import atom_name, ground
from induction.worlds import World
from induction.worlds.sampling import sample_world

SIGNATURES = [DEFAULT_SIGNATURE, Signature({"P": 1, "likes": 2})]


def _literals(*values):
    return np.array(values, dtype=np.int64)


def test_constants_and_complements_fold():
    circuit = Circuit()
    a, b = circuit.input(("P", (0,))), circuit.input(("P", (1,)))
    cases = [
        (FALSE, a, FALSE),
        (TRUE, a, a),
        (a, a, a),
        (a, a ^ 1, FALSE),
        (a ^ 1, a, FALSE),
        (TRUE, TRUE, TRUE),
        (FALSE, FALSE, FALSE),
        (FALSE, TRUE, FALSE),
    ]
    for left, right, expected in cases:
        assert circuit.conjoin(_literals(left), _literals(right)).tolist() == [expected]
        assert circuit.conjoin(_literals(right), _literals(left)).tolist() == [expected]
    assert circuit.count_gates() == 0
    both = circuit.conjoin(_literals(a, b, a), _literals(b, a, b))
    assert len(set(both.tolist())) == 1
    assert circuit.count_gates() == 1
    assert circuit.input(("P", (0,))) == a
    assert circuit.inputs == (("P", (0,)), ("P", (1,)))


@given(st.lists(st.integers(0, 5), max_size=9), st.integers(0, 2**32))
def test_conjoin_all_is_conjunction(choice, seed):
    circuit = Circuit()
    inputs = [circuit.input(("P", (i,))) for i in range(3)]
    literals = [inputs[c // 2] ^ (c % 2) for c in choice]
    output = circuit.conjoin_all(np.array(literals, dtype=np.int64), 0).tolist()
    for values in itertools.product((False, True), repeat=3):
        expected = all(values[c // 2] ^ bool(c % 2) for c in choice)
        assert circuit.evaluate([output], lambda atom, v=values: v[atom[1][0]]) == [expected]


def _random_pair(rng):
    signature = SIGNATURES[int(rng.integers(2))]
    formula = sample_formula(
        rng, int(rng.integers(3, 30)), signature=signature, max_depth=3, bound_variables=("x", "y", "z")
    )
    world = sample_world(rng, int(rng.integers(1, 7)), signature=signature, unknown_rate=float(rng.choice([0, 0.3, 1])))
    return formula, world


def assert_agreement(rng) -> None:
    """Circuit, fast and naive evaluator agree in a random completion; three values are never wrong."""
    formula, world = _random_pair(rng)
    values = {name: rng.random(table.shape) < 0.5 for name, table in world.true.items()}
    completed = world.completed(values)
    circuit = Circuit()
    outputs = ground(formula, world, circuit).tolist()
    found = circuit.evaluate(outputs, lambda atom: bool(completed.true[atom[0]][atom[1]]))
    ((fast,),) = bitset.extensions([formula], [completed])
    assert found == fast.tolist() == reference.extension(formula, completed).tolist()
    kleene = three_valued.evaluate(formula, world)
    for value, holds in zip(kleene.tolist(), found, strict=True):
        assert value == three_valued.OPEN or (value == three_valued.TRUE) == holds
    if not world.count_unknown():
        assert not circuit.inputs
        assert (kleene != three_valued.OPEN).all()


@pytest.mark.parametrize("seed", range(4))
def test_agreement(seed):
    rng = np.random.default_rng(seed)
    for _ in range(50):
        assert_agreement(rng)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(100, 120))
def test_agreement_full(seed):
    rng = np.random.default_rng(seed)
    for _ in range(100):
        assert_agreement(rng)


def test_worlds_share_gates_in_one_circuit():
    world = sample_world(np.random.default_rng(1), 4, unknown_rate=1.0)
    formula = parse_formula("(forall y (or (not (R x y)) (exists z (S y z))))")
    circuit = Circuit()
    first = ground(formula, world, circuit)
    gates = circuit.count_gates()
    assert (ground(formula, world, circuit) == first).all()
    assert circuit.count_gates() == gates
    assert circuit.count_gates(first.tolist()) == gates
    assert 0 < circuit.depth(first[:1].tolist()) <= 8
    assert circuit.depth([TRUE]) == 0


def _small():
    world = World(
        "w", ("a", "b"), Signature({"P": 1, "R": 2}), {"P": [1, 0]}, [0, 0], {"P": [0, 1], "R": np.ones((2, 2))}
    )
    formula = parse_formula("(exists y (and (R x y) (P y)))", world.signature)
    circuit = Circuit()
    return world, circuit, ground(formula, world, circuit).tolist()


def test_text():
    world, circuit, outputs = _small()
    text = to_text(circuit, outputs, lambda atom: atom_name(world, atom))
    assert text.splitlines()[0] == "n1 = R(a, a)"
    assert [line.split(" = ")[0] for line in text.splitlines()[-2:]] == ["out0", "out1"]
    assert to_text(circuit, [TRUE, FALSE], str) == "out0 = true\nout1 = false"
    # Following the text by hand gives what the circuit gives.
    for values in itertools.product((False, True), repeat=5):
        named = dict(zip([atom_name(world, atom) for atom in circuit.inputs], values, strict=True))
        known = {}
        for line in text.splitlines():
            name, definition = line.split(" = ")
            if definition in named:
                known[name] = named[definition]
            else:
                known[name] = all(known[part.lstrip("!")] ^ part.startswith("!") for part in definition.split(" & "))
        by_atom = dict(zip(circuit.inputs, values, strict=True))
        assert [known["out0"], known["out1"]] == circuit.evaluate(outputs, by_atom.__getitem__)


@pytest.mark.parametrize("seed", range(20))
def test_smtlib_is_the_circuit(seed):
    rng = np.random.default_rng(seed)
    formula, world = _random_pair(rng)
    circuit = Circuit()
    outputs = ground(formula, world, circuit).tolist()
    text = to_smtlib(circuit, outputs, lambda atom: atom_name(world, atom))
    names = dict(re.findall(r"; (n\d+) is (.*)", text))
    values = {name: bool(rng.random() < 0.5) for name in names}
    truth = {atom_name(world, atom): atom for atom in circuit.inputs}
    by_atom = {truth[names[name]]: value for name, value in values.items()}
    expected = circuit.evaluate(outputs, lambda atom: by_atom.get(atom, False))
    solver = z3.Solver()
    solver.from_string(
        text + "".join(f"(assert {'' if v else '(not '}{n}{'' if v else ')'})" for n, v in values.items())
    )
    assert solver.check() == z3.sat
    for i, value in enumerate(expected):
        wrong = f"(assert {'(not ' if value else ''}out{i}{')' if value else ''})"
        again = z3.Solver()
        again.from_string(
            text + "".join(f"(assert {'' if v else '(not '}{n}{'' if v else ')'})" for n, v in values.items()) + wrong
        )
        assert again.check() == z3.unsat


def test_limits(monkeypatch):
    world = sample_world(np.random.default_rng(1), 12, unknown_rate=1.0)
    formula = parse_formula("(exists y (exists z (and (R x y) (iff (R y z) (S z x)))))")
    monkeypatch.setattr(circuits, "MAX_GATES", 100)
    with pytest.raises(EvaluationLimitError, match="more than 100 gates"):
        ground(formula, world, Circuit())
    seven = "(and (R x y1) (and (R y2 y3) (R y4 y5)))"
    for i in range(1, 6):
        seven = f"(exists y{i} {seven})"
    big = sample_world(np.random.default_rng(1), 40)
    with pytest.raises(EvaluationLimitError, match="free variables"):
        ground(parse_formula(seven), big, Circuit())


def test_deep_formulas_are_grounded():
    world = sample_world(np.random.default_rng(1), 3, unknown_rate=1.0)
    circuit = Circuit()
    outputs = ground(parse_formula("(not " * 20_001 + "(P x)" + ")" * 20_001), world, circuit)
    assert outputs.tolist() == [int(not value) for value in world.true["P"]]
