"""Definitions by rules with negated literals, found by answer set programming: fewest literals first.

A rule `T(x) :- literals` over x and a few further variables reads as "exists y exists z (and ...)", several rules as
their disjunction. The solver chooses the literals; tuples of objects on which all atoms have the same values are one
tuple type to it. Universal statements are outside of what rules can say, which is told where it is certain.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from induction.budget import Budget, Outcome
from induction.grounding.vocabulary import Vocabulary, definition_by_rules, x_and
from induction.search import About, Attempt, Progress, SearchOptions, SearchResult, outcome_of, refuse_unheeded
from induction.worlds.instance import Instance, Regime

MOST_RULES = 3
MOST_LITERALS = 6
MOST_FURTHER_VARIABLES = 2
MOST_TUPLES = 12_000
"""Of objects, in all worlds: where two further variables would make more, rules have one."""
_WAIT_S = 0.05

# rule(R), literal(L), negative(L), cost(L,C), ofx(L), atom_of(L,A): the hypothesis space.
# tuple(O,Y): object O has a tuple of type Y; holds(Y,A): atom A is true of tuples of type Y.
_PROGRAM = """
{ in(R,L) : literal(L) } :- rule(R).
used(R) :- in(R,_).
:- rule(R), rule(R+1), used(R+1), not used(R).
:- in(R,L), in(R,K), atom_of(L,A), atom_of(K,A), L < K.
:- rule(R), #count { L : in(R,L) } > most.
:- not in(_,L) : ofx(L).

holds(Y,A) :- open(Y,A,G), true(G).
{ true(G) } :- open(_,_,G).
fails(R,Y) :- in(R,L), atom_of(L,A), negative(L), holds(Y,A).
fails(R,Y) :- in(R,L), atom_of(L,A), not negative(L), type(Y), not holds(Y,A).
covered(O) :- tuple(O,Y), used(R), not fails(R,Y).
:- match(O), label(O), not covered(O).
:- match(O), not label(O), covered(O).
wrong(W) :- miss(W,O), label(O), not covered(O).
wrong(W) :- miss(W,O), not label(O), covered(O).
:- miss(W,_), not wrong(W).

:- #count { R,L : in(R,L) } > allowed.
#minimize { 1@2,R,L : in(R,L) ; C@1,R,L : in(R,L), cost(L,C) }.
#show in/2.
"""


class IlpAsp:
    """Rules by answer set programming with clingo; registered as `ilp-asp`."""

    name = "ilp-asp"
    about = About(
        summary="rules with negated literals by answer set programming (clingo), fewest literals first",
        expresses=f"disjunctions of up to {MOST_RULES} existential conjunctions, each of up to {MOST_LITERALS} "
        f"literals of different atoms and {MOST_FURTHER_VARIABLES} quantifiers; no forall; all regimes",
        proves="fewest literals where it came to its end, not smallest AST; says where the concept is outside",
        heeds=("variables", "depth", "equality"),
        needs=("clingo",),
        extra="induction[asp]",
    )

    def search(
        self,
        instance: Instance,
        budget: Budget,
        options: SearchOptions,
        report: Callable[[Progress], None],
    ) -> SearchResult:
        """The definition with the fewest literals found in time. `depth` and `variables` bound the quantifiers."""
        refuse_unheeded(self, instance, options)
        attempt = Attempt(instance, budget, options, report)
        run = _Run(attempt)
        outcome = outcome_of(run.run)
        best = attempt.best
        return attempt.result(
            self.name,
            outcome,
            fragment=(
                f"disjunction of up to {MOST_RULES} existential conjunctions of up to {MOST_LITERALS} literals of "
                f"different atoms, {run.further} quantifiers"
                + (", = between different variables" if options.equality else "")
            ),
            diagnosis=run.diagnosis or ("" if best is not None else "not decided"),
            statistics={
                "literals": run.literals,
                "fewestLiterals": run.decided and best is not None,
                "models": run.models,
                "stages": run.stages,
            },
        )


class _Run:
    """The stages of one search: few rules and variables first."""

    def __init__(self, attempt: Attempt) -> None:
        options = attempt.options
        self.further = max(0, min(options.depth, options.variables - 1, MOST_FURTHER_VARIABLES))
        sizes = [world.size for world in (*attempt.instance.train_worlds, *attempt.instance.no_worlds)]
        while self.further > 1 and sum(size ** (1 + self.further) for size in sizes) > MOST_TUPLES:
            self.further -= 1  # grounding cannot be interrupted
        self.diagnosis = ""
        self.literals: int | None = None
        self.decided = False
        self.models = 0
        self.stages: list[str] = []
        self._attempt = attempt

    def run(self) -> Outcome:
        outside = (
            self._outside() if self._vocabulary(self.further).literals else "there are no literals to make rules of"
        )
        if outside:
            self.diagnosis = outside
            return Outcome.PROVEN_NONE
        for rules in range(1, MOST_RULES + 1):
            for further in range(0 if rules == 1 else min(1, self.further), self.further + 1):
                if self.literals is None or self.literals > 1:
                    self._stage(rules, further)
                    self.stages.append(f"{rules} rules, {further} quantifiers")
        self.decided = True
        if self.models == 0:
            self.diagnosis = (
                f"outside the fragment: no {MOST_RULES} rules of up to {MOST_LITERALS} literals of different atoms and "
                f"{self.further} further variables say it"
            )
        return self._attempt.ended(none_left=self.models == 0)

    def _outside(self) -> str:
        """Why no set of rules whatever can say it, in words; "" where some can, or in EC where that is not decided.

        A rule that holds of an object holds of every object that has tuples of the same types around it. So each
        labelled object needs a tuple whose type no object without the label has.
        """
        instance = self._attempt.instance
        vocabulary = self._vocabulary(self.further)
        if not vocabulary.literals:
            return "there are no literals to make rules of"
        if instance.regime is Regime.EC:
            return ""
        spoilt: dict[bytes, str] = {}
        labelled: list[tuple[str, set[bytes]]] = []
        for world in instance.train_worlds:
            atoms, _ = vocabulary.truth(world)
            rows = np.packbits(atoms, axis=1).reshape(world.size, -1, -(-atoms.shape[1] // 8))
            for e, of_object in enumerate(rows):
                types = {row.tobytes() for row in of_object}
                name = f"{world.domain[e]} in {world.name}"
                if world.target[e]:
                    labelled.append((name, types))
                else:
                    spoilt.update(dict.fromkeys(types, name))
        for name, types in labelled:
            if all(kind in spoilt for kind in types):
                others = list(dict.fromkeys(sorted(spoilt[kind] for kind in types)))
                shown = ", ".join(others[:3]) + (", ..." if len(others) > 3 else "")
                return (
                    f"outside the fragment, however many rules: {name} is labelled T, but whatever rules with "
                    f"{self.further} further variables can say of it holds also of objects without T ({shown})"
                )
        return ""

    def _vocabulary(self, further: int) -> Vocabulary:
        return Vocabulary(self._attempt.instance.signature, x_and(further), self._attempt.options.equality)

    def _stage(self, rules: int, further: int) -> None:
        import clingo

        attempt = self._attempt
        vocabulary = self._vocabulary(further)
        allowed = rules * MOST_LITERALS if self.literals is None else min(rules * MOST_LITERALS, self.literals - 1)
        control = clingo.Control(["--warn=none", f"-c most={MOST_LITERALS}", f"-c allowed={allowed}"])
        control.add("base", [], _PROGRAM + "\n".join(self._facts(vocabulary, rules)))
        attempt.tick()
        control.ground([("base", [])])
        attempt.tick()
        found: list[list[tuple[int, int]]] = []

        def take(model: Any) -> None:
            symbols = model.symbols(shown=True)
            found.append(sorted((one.arguments[0].number, one.arguments[1].number) for one in symbols))

        with control.solve(on_model=take, async_=True) as handle:
            try:
                finished = False
                while not finished:
                    finished = handle.wait(_WAIT_S)
                    while found:
                        self._offer(vocabulary, found.pop(0))
                    attempt.tick()
            finally:
                handle.cancel()
        while found:
            self._offer(vocabulary, found.pop(0))

    def _offer(self, vocabulary: Vocabulary, chosen: Sequence[tuple[int, int]]) -> None:
        """Answers come with ever fewer literals, or of as many with smaller ones; the last is the one to keep."""
        self.models += 1
        rules = [[i for of, i in chosen if of == rule] for rule in dict.fromkeys(rule for rule, _ in chosen)]
        formula = definition_by_rules(vocabulary, rules)
        if self._attempt.offer(formula, even_if_larger=True):
            self.literals = len(chosen)

    def _facts(self, vocabulary: Vocabulary, rules: int) -> list[str]:
        instance = self._attempt.instance
        half = len(vocabulary.atoms)
        facts = [f"rule(1..{rules})."]
        for i, literal in enumerate(vocabulary.literals):
            facts.append(f"literal({i}). atom_of({i},{i % half}). cost({i},{literal.ast_nodes + 1}).")
            if i >= half:
                facts.append(f"negative({i}).")
        facts += [f"ofx({i})." for i in vocabulary.of_x]
        types: dict[bytes, int] = {}
        objects = 0
        for w, world in enumerate((*instance.train_worlds, *instance.no_worlds)):
            atoms, unknown = vocabulary.truth(world)
            inner = len(atoms) // world.size
            for e in range(world.size):
                objects += 1
                matched = w < len(instance.train_worlds)
                facts.append(f"match({objects})." if matched else f"miss({w},{objects}).")
                if world.target[e]:
                    facts.append(f"label({objects}).")
                for row in range(e * inner, (e + 1) * inner):
                    is_open = bool((unknown[row] >= 0).any())
                    key = atoms[row].tobytes() + (f"{w}:".encode() + unknown[row].tobytes() if is_open else b"")
                    if key not in types:
                        number = types[key] = len(types)
                        facts.append(f"type({number}).")
                        facts += [f"holds({number},{a})." for a in np.flatnonzero(atoms[row]).tolist()]
                        facts += [
                            f"open({number},{a},g({w},{unknown[row, a]}))."
                            for a in np.flatnonzero(unknown[row] >= 0).tolist()
                        ]
                    facts.append(f"tuple({objects},{types[key]}).")
        return facts
