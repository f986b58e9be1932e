"""The frontier: its best only improves, its rounds end well whatever the proposer does, its traces play again."""

import json
import sys
import textwrap

import numpy as np
import pytest
from conftest import PROJECT
from induction.baselines.frontier.proposers import (
    MOST_FORMULAS,
    ProgramProposer,
    Proposal,
    count_mismatches,
    described_instance,
)
from induction.baselines.frontier.search import Frontier, FrontierRun, merit, replayed, simplified, trace_header
from test_contract import assert_kept, random_instance, silent

import induction
from induction.budget import Budget, Outcome
from induction.errors import InstanceFormatError, UsageError
from induction.formula import parse_formula
from induction.formula.sampling import sample_formula
from induction.grounding.check import check
from induction.running.program import Program
from induction.search import SearchOptions
from induction.worlds import read_instances

PROPOSER = [sys.executable, str(PROJECT / "data" / "examples" / "proposer.py")]


class Sampler:
    """Proposes random formulas."""

    def __init__(self, seed, signature):
        self.rng = np.random.default_rng(seed)
        self.signature = signature
        self.messages = []

    def propose(self, message, time_limit_s):
        self.messages.append(json.loads(json.dumps(message)))
        return Proposal(
            tuple(
                str(sample_formula(self.rng, int(self.rng.integers(4, 10)), signature=self.signature, max_depth=2))
                for _ in range(2)
            )
        )


@pytest.mark.parametrize("seed", range(9))
def test_as_a_search(seed):
    instance = random_instance(seed)
    search = Frontier(Sampler(seed, instance.signature), rounds=2)
    options = SearchOptions(depth=1 + seed % 2, equality=seed % 3 != 0)
    result = search.search(instance, Budget(60), options, silent)
    assert_kept(search, instance, options, result)


def test_a_search_without_time_or_interrupted():
    instance = random_instance(1)
    result = Frontier(Sampler(1, instance.signature)).search(instance, Budget(1e-9), SearchOptions(), silent)
    assert result.outcome in (Outcome.TIMED_OUT, Outcome.SOLVED)

    def stop(progress):
        raise KeyboardInterrupt

    result = Frontier(Sampler(1, instance.signature)).search(instance, Budget(60), SearchOptions(), stop)
    assert result.outcome is Outcome.UNKNOWN


@pytest.mark.parametrize("seed", range(6))
def test_the_best_only_improves_and_is_told(seed):
    instance = random_instance(seed)
    proposer, run = Sampler(seed, instance.signature), FrontierRun()
    bests = []
    for row in Frontier(proposer, 3).play(instance, run):
        bests.append(merit(run.best))
        assert row["best"]["formula"] == str(run.best.formula)
        assert check(run.best.formula, instance) == run.best or run.best.valid
        for read in row["read"]:
            formula = parse_formula(read["formula"], instance.signature)
            assert merit(run.best) <= merit(check(formula, instance))
            assert read["mismatches"] == count_mismatches(check(formula, instance))
    assert bests == sorted(bests, reverse=True)
    for before, message in zip(run.rows, proposer.messages[1:], strict=False):
        assert message["best"] == before["best"]
        assert message["feedback"] == before["read"]


def test_what_is_told_of_an_instance(examples):
    """All that counts, and not the gold."""
    for instance in read_instances(examples):
        told = described_instance(instance)
        assert str(instance.gold) not in json.dumps(told)
        worlds = {world.name: world for world in (*instance.train_worlds, *instance.no_worlds)}
        assert [world["world"] for world in told["worlds"]] == list(worlds)
        for described in told["worlds"]:
            world = worlds[described["world"]]
            for name, arity in world.signature.items():
                for field, tables in (("true", world.true), ("unknown", world.unknown)):
                    expected = [
                        world.domain[place[0]] if arity == 1 else [world.domain[e] for e in place]
                        for place in np.argwhere(tables[name]).tolist()
                    ]
                    assert described.get(field, {}).get(name, []) == expected
            assert described["target"] == list(world.elements(world.target))


def scripted(tmp_path, text, **options):
    path = tmp_path / "proposer.py"
    path.write_text(textwrap.dedent(text))
    return Program([sys.executable, str(path)], **options)


def test_misdeeds_end_their_round_only(examples, tmp_path):
    (instance,) = read_instances(examples, ["example_fullobs"])
    text = """
        import json, sys, time
        for line in sys.stdin:
            number = json.loads(line)["round"]
            if number == 1: time.sleep(60)
            if number == 2: sys.exit("out of ideas")
            if number == 3: print("I think", flush=True)
            if number == 4:
                while True: sys.stdout.write("(and " * 1000)
            if number == 5: print(json.dumps({"formulas": "(P x)"}), flush=True)
            if number == 6: print(json.dumps({"formulas": ["(P x", "(P y)", "no", "(Q x) )", "(= x x)"] + ["(P x)"] * 50}), flush=True)
            if number == 7: print(json.dumps({"formulas": []}), flush=True)
        """
    run = FrontierRun()
    with scripted(tmp_path, text, time_limit_s=3, byte_limit=100_000) as program:
        rows = list(Frontier(ProgramProposer(program), 7).play(instance, run))
    assert [row["failure"] for row in rows] == [
        "timed-out", "exited", "not-json", "too-long", "not-formulas", "", "",
    ]  # fmt: skip
    assert "out of ideas" in rows[1]["detail"]
    assert [row["best"] for row in rows[:5]] == [None] * 5
    assert run.best is not None
    read = rows[5]["read"]
    assert len(read) == MOST_FORMULAS
    assert rows[5]["passedOver"] == 55 - MOST_FORMULAS
    assert [("problem" in said, "formula" in said) for said in read[:5]] == [
        (False, True), (True, False), (True, False), (False, True), (False, True),
    ]  # fmt: skip
    assert rows[6]["best"] == rows[5]["best"]


@pytest.mark.parametrize("name", ["example_fullobs", "example_ci", "example_ec"])
def test_traces_play_again(examples, name):
    (instance,) = read_instances(examples, [name])
    played = induction.frontier(instance, PROPOSER, rounds=3)
    trace = [trace_header(instance, 3, "x", "0"), *played.rows]
    again = FrontierRun()
    header, search = replayed(json.loads(json.dumps(trace)), instance, "trace")
    rows = list(search.play(instance, again))
    assert json.dumps([header, *rows]) == json.dumps(trace)
    assert again.best == played.best
    (other,) = read_instances(examples, ["example_ci" if name == "example_ec" else "example_ec"])
    with pytest.raises(UsageError, match="instance"):
        replayed(trace, other, "trace")


def test_traces_that_are_none(examples):
    (instance,) = read_instances(examples, ["example_fullobs"])
    header = trace_header(instance, 1, "x", "0")
    for rows in ([], [{}], [header, {"round": 2}]):
        with pytest.raises(InstanceFormatError):
            replayed(rows, instance, "trace")
    _, search = replayed([header, {"round": 1, "proposed": 3}], instance, "trace")
    with pytest.raises(InstanceFormatError):
        list(search.play(instance, FrontierRun()))


def test_simplified_is_equal_and_no_larger():
    from induction.grounding.equivalence import Comparer, Sameness

    instance = random_instance(1)
    comparer = Comparer(instance.signature)
    rng = np.random.default_rng(1)
    for _ in range(30):
        formula = sample_formula(rng, 9, signature=instance.signature, max_depth=2)
        smaller = simplified(formula, instance)
        assert smaller.ast_nodes <= formula.ast_nodes
        assert comparer.compare(formula, smaller).sameness is Sameness.EQUIVALENT
