"""The same formula in fewer nodes: laws first, then what its context makes superfluous, then smaller equals.

Every step keeps a `Promise` and is proven to before it is taken; what cannot be proven is not. No step makes the
formula larger. Work is bounded by the number of decisions and of enumerated pairs, never by seconds; `budget` is for
the search for the smallest formula (`rewriting.smallest`).
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from induction.budget import Budget, Outcome, OutOfMemoryError, OutOfTimeError, resident_bytes
from induction.enumeration.layout import Fragment
from induction.errors import BudgetExhaustedError, EvaluationLimitError, FormulaTooLargeError
from induction.evaluation import bitset, reference
from induction.formula.metrics import free_variables
from induction.formula.normal_forms import to_nnf, to_renamed_apart
from induction.formula.syntax import (
    FREE_VARIABLE,
    And,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Quantified,
    Signature,
    fold,
    subformulas,
)
from induction.grounding.equivalence import Comparer, Sameness
from induction.rewriting.promises import Everywhere, Promise, promise_on, used_signature
from induction.rewriting.replacing import Replacements
from induction.rewriting.rules import IFF_LAW, LAWS, is_false, is_true, omissions, replaced, tops
from induction.rewriting.smallest import Effort, SmallestSearch, atoms_of_x, is_within
from induction.rewriting.writing import to_shortest, to_working
from induction.worlds.instance import Instance

MAX_NODES = 2_000
"""Largest formula that is simplified, in AST nodes."""

MOST_DECISIONS = 2_000
"""Most proofs, or refutations, of one simplification."""

MOST_PAIRS = 3_000_000
MOST_BYTES = 200_000_000
"""Work on the smallest equal of the whole that a plain simplification may take: pairs combined and bytes held."""

_MOST_UNDECIDED = 20  # these are what takes long
_PROOF_LIMIT = 1_000_000
_UP_TO = 5
_CONFIRMED_UP_TO_STEPS = 3_000_000


@dataclass(frozen=True)
class Step:
    """One change: its name, the AST size before and after, the whole formula after it, and what decided it."""

    name: str
    before: int
    after: int
    formula: Formula
    decided_by: str


@dataclass(frozen=True)
class Simplification:
    """What `source` was simplified to.

    `formula` is the source itself if nothing smaller was found. `promise` says in words what is the same of both, and
    `proof` how that is known. `outcome` is SOLVED when all steps there are were tried (UNKNOWN if work ended first),
    or, if the smallest formula was asked for, when it is known which that is.

    No formula of `fragment` with fewer AST nodes than `none_below` keeps the promise (0 where nothing was proven).
    `smallest` is the smallest formula of the fragment that is known to keep it, None if none is; it can be larger than
    `formula` where that uses `implies`, `iff` or more than the fragment has. `undecided` are smaller formulas that
    agree in all worlds of up to `agree_up_to` objects without a proof that they do in others. `worlds_added` counts the
    worlds that told formulas apart beside the promise's own, `interrupted` says that Ctrl-C ended the search.
    """

    source: Formula
    formula: Formula
    steps: tuple[Step, ...]
    promise: str
    proof: str
    outcome: Outcome
    fragment: str = ""
    none_below: int = 0
    smallest: Formula | None = None
    undecided: tuple[Formula, ...] = ()
    agree_up_to: int = 0
    worlds_added: int = 0
    interrupted: bool = False

    @property
    def is_proven_smallest(self) -> bool:
        """Whether no formula of the fragment that keeps the promise is smaller than `formula`."""
        return self.formula.ast_nodes <= self.none_below


def simplify(
    formula: Formula,
    *,
    signature: Signature,
    on: Instance | None = None,
    smallest: bool = False,
    fragment: Fragment | None = None,
    budget: Budget | None = None,
    most_decisions: int = MOST_DECISIONS,
    comparer: Comparer | None = None,
    report: Callable[[Effort, int], None] = lambda effort, size: None,
) -> Simplification:
    """`formula` in fewer nodes, or with `smallest` in as few as there can be in `fragment` (3 variables, depth 3, `=`).

    Without `on` it stays true of the same objects in every world, which `comparer` proves (one over the signature; by
    default one with modest limits). With `on` it keeps its extension in the worlds that the instance's verdicts are
    about, for EC in every completion of each; x must be free in it and stays so. `budget` bounds the search for the
    smallest; when it runs out, the outcome says so and what is found and proven by then is given. `report` is told how
    far that search is, and the size of the best formula; before the search begins, an effort at size 0.

    Raises:
        FormulaTooLargeError: more than `MAX_NODES` AST nodes.
        EvaluationLimitError: with `on`, a formula too wide to be evaluated on the worlds.
        ValueError: a free variable other than x, or with `on` no x.
        KeyError: a predicate that is not in the signature.
    """
    free = free_variables(formula)
    if free - {FREE_VARIABLE} or (on is not None and not free):
        raise ValueError(f"the free variable must be {FREE_VARIABLE}, not {', '.join(sorted(free)) or 'none'}")
    if formula.ast_nodes > MAX_NODES:
        raise FormulaTooLargeError(
            f"formulas of up to {MAX_NODES:,} AST nodes are simplified, not of {formula.ast_nodes:,}"
        )
    promise: Promise
    own_limits = comparer is None
    if on is not None:
        promise = promise_on(on)
        bitset.extensions([formula], promise.worlds)  # too wide a formula is refused here
    else:
        used = used_signature(formula, signature)
        comparer = comparer or Comparer(used, up_to=_UP_TO, resource_limit=_PROOF_LIMIT)
        promise = Everywhere(used, comparer)
    fragment = fragment or Fragment()
    run = _Run(formula, promise, signature, fragment, most_decisions, report)
    run.reduce()
    if on is None:
        # Predicates that went are not enumerated; see NOTE(predicates) in `smallest`.
        used = used_signature(run.current, signature)
        comparer = Comparer(used) if smallest and own_limits else comparer
        assert comparer is not None
        promise = Everywhere(used, comparer)
    ending = _Ending(run, promise, fragment, whatever_size=smallest)
    if smallest:
        ending.within_budget(budget or Budget(), report)
    else:
        ending.within_work(MOST_PAIRS, MOST_BYTES)
    return ending.result()


class _Run:
    """A simplification under way: the formula as it stands, in working form and as shortest written, and the steps."""

    def __init__(
        self,
        source: Formula,
        promise: Promise,
        signature: Signature,
        fragment: Fragment,
        most_decisions: int,
        report: Callable[[Effort, int], None],
    ) -> None:
        self.source = source
        self.current = source
        self.steps: list[Step] = []
        self.signature = signature
        self.promise = promise
        self._connectives = {type(node) for node in subformulas(source)} & {Implies, Iff}
        self._decisions_left = most_decisions
        self._undecided_left = _MOST_UNDECIDED
        self._fragment = fragment
        self._report = report
        self._refused: set[Formula] = set()
        self._working = to_working(to_renamed_apart(source, signature))
        self._needs_x = promise.keeps_x
        used = used_signature(source, signature)
        self._atom = next(iter(atoms_of_x(used, equality=False)), None)
        self._replacements: Replacements | None = None

    @property
    def ran_out(self) -> bool:
        """Whether steps were left untried for lack of work allowed."""
        return self._decisions_left <= 0 or self._undecided_left <= 0

    def reduce(self) -> None:
        """Take every step there is."""
        self._take("double negation dropped", _without_double_negation(self.source))
        self._take("negations moved", self._write(self._working))
        while not self.ran_out:
            if self._apply_laws() or self._omit() or self._replace():
                continue
            break

    def _write(self, working: Formula) -> Formula:
        if (is_true(working) or is_false(working)) and not self._fragment.equality and self._atom is not None:
            return (Or if is_true(working) else And)(self._atom, Not(self._atom))
        return to_shortest(working, self._connectives)

    def _measure(self, working: Formula) -> tuple[int, int]:
        """What every change of the working form must make less: AST size, then the sizes of the scopes."""
        scopes = sum(node.body.ast_nodes for node in subformulas(working) if isinstance(node, Quantified))
        return self._write(working).ast_nodes, scopes

    def _take(self, name: str, written: Formula, decided_by: str = "") -> None:
        """Make `written`, which is the same, the formula if it is smaller, and note the step."""
        before = self.current.ast_nodes
        if written.ast_nodes >= before:
            return
        if not decided_by:
            decision = self.promise.decide(self.current, written)
            if decision.sameness is not Sameness.EQUIVALENT:
                return
            decided_by = decision.decided_by
        self.current = written
        self.steps.append(Step(name, before, written.ast_nodes, written, decided_by))

    def _accept(self, name: str, working: Formula) -> bool:
        """Go on from `working` if it is proven the same as the present form and measures less."""
        if working in self._refused or self.ran_out:
            return False
        if self._measure(working) >= self._measure(self._working):
            return False
        if self._needs_x and FREE_VARIABLE not in free_variables(working):
            return False
        self._decisions_left -= 1
        self._report(Effort(0, 0, 0, 0), self.current.ast_nodes)
        decision = self.promise.decide(self._working, working)
        if decision.sameness is not Sameness.EQUIVALENT:
            self._undecided_left -= decision.sameness is Sameness.UNDECIDED
            self._refused.add(working)
            return False
        self._working = working
        self._take(name, self._write(working), decision.decided_by)
        return True

    def _apply_laws(self) -> bool:
        laws = LAWS | dict([IFF_LAW] if Iff in self._connectives else [])
        changed = False
        while any(self._apply(name, law) for name, law in laws.items()):
            changed = True
        return changed

    def _apply(self, name: str, law: Callable[[Formula], Formula | None]) -> bool:
        for node in tops(self._working):
            made = law(node)
            if made is not None and self._accept(name, replaced(self._working, node, made)):
                return True
        return False

    def _omit(self) -> bool:
        """Leave out one operand that its context implies, the largest there is."""
        size = self._measure(self._working)
        candidates = [(name, made) for name, made in omissions(self._working) if self._measure(made) < size]
        candidates.sort(key=lambda pair: pair[1].ast_nodes)
        agreeing = self._agreeing([made for _, made in candidates])
        return any(agrees and self._accept(*pair) for agrees, pair in zip(agreeing, candidates, strict=True))

    def _agreeing(self, formulas: Sequence[Formula]) -> Iterator[bool]:
        """Which of them agree with the present form on the promise's worlds: a first look."""
        if not formulas:
            return
        try:
            batch = bitset.Batch.of(self.promise.worlds)
            tables = bitset.extension_tables([self._working, *formulas], batch)
        except EvaluationLimitError:
            yield from (True for _ in formulas)
            return
        yield from (bool(np.array_equal(tables[0], table)) for table in tables[1:])

    def _replace(self) -> bool:
        if self._replacements is None:
            self._replacements = Replacements(self.promise, equality=self._fragment.equality)
        name = "subformula replaced by a smaller equal"
        return any(self._accept(name, made) for made in self._replacements.candidates(self._working))

    def take_whole(self, formula: Formula) -> None:
        """Take a smaller formula that is proven the same, for the whole."""
        self._take("whole replaced by a smaller equal", formula)


class _Ending:
    """The search for the smallest formula after a simplification, and what there is to say at the end."""

    def __init__(self, run: _Run, promise: Promise, fragment: Fragment, *, whatever_size: bool) -> None:
        self._run = run
        self._fragment = fragment
        in_fragment = to_shortest(to_nnf(run.current))
        self._known = in_fragment if is_within(in_fragment, fragment) else None
        # What is known needs no looking for; with `whatever_size` what is larger than the formula as it stands counts.
        most = (in_fragment if self._known is not None and whatever_size else run.current).ast_nodes - 1
        self._search = SmallestSearch(run.current, promise, fragment, most, self._check)
        self._checks: list[Callable[[Effort], None]] = []
        self._outcome = Outcome.SOLVED
        self._interrupted = False

    def _check(self, effort: Effort) -> None:
        for check in self._checks:
            check(effort)

    def within_work(self, pairs: int, held: int) -> None:
        """Search as far as this many combined pairs and bytes go."""

        def check(effort: Effort) -> None:
            if effort.pairs > pairs or effort.bytes > held:
                raise BudgetExhaustedError("the work allowed for the smallest equal is done")

        self._checks.append(check)
        with contextlib.suppress(BudgetExhaustedError, EvaluationLimitError):
            self._search.run()
        if self._run.ran_out:
            self._outcome = Outcome.UNKNOWN

    def within_budget(self, budget: Budget, report: Callable[[Effort, int], None]) -> None:
        """Search until the smallest is known or the budget runs out."""
        meter = budget.start()

        def check(effort: Effort) -> None:
            report(effort, self._run.current.ast_nodes)
            meter.check(max(effort.bytes, resident_bytes()))

        self._checks.append(check)
        try:
            meter.check(resident_bytes())
            self._search.run()
            self._outcome = Outcome.SOLVED if self._is_known else Outcome.UNKNOWN
        except OutOfTimeError:
            self._outcome = Outcome.TIMED_OUT
        except (OutOfMemoryError, MemoryError):
            self._outcome = Outcome.OUT_OF_MEMORY
        except EvaluationLimitError:
            self._outcome = Outcome.UNKNOWN
        except KeyboardInterrupt:
            self._outcome, self._interrupted = Outcome.UNKNOWN, True

    @property
    def _smallest(self) -> Formula | None:
        """The smallest formula of the fragment that is known to be the same."""
        return self._search.best or self._known

    @property
    def _is_known(self) -> bool:
        """Whether there is nothing smaller in the fragment than what is known."""
        least = self._run.current if self._smallest is None else self._smallest
        return least.ast_nodes <= self._search.none_below

    def result(self) -> Simplification:
        """What there is to say, once the answer agrees with the source by the reference evaluator."""
        run, search = self._run, self._search
        if search.best is not None:
            run.take_whole(search.best)
        formula = run.source if not run.steps else to_renamed_apart(run.current, run.signature)
        _confirm(run.source, formula, run.promise)
        smallest = run.current if is_within(run.current, self._fragment) else self._smallest
        return Simplification(
            source=run.source,
            formula=formula,
            steps=tuple(run.steps),
            promise=run.promise.text,
            proof=run.promise.proof,
            outcome=self._outcome,
            fragment=str(self._fragment),
            none_below=search.none_below,
            smallest=None if smallest is None else to_renamed_apart(smallest, run.signature),
            undecided=tuple(to_renamed_apart(one, run.signature) for one in search.undecided),
            agree_up_to=search.agree_up_to,
            worlds_added=search.worlds_added,
            interrupted=self._interrupted,
        )


def _without_double_negation(formula: Formula) -> Formula:
    def combine(node: Formula, *parts: Formula) -> Formula:
        if isinstance(node, Not) and isinstance(parts[0], Not):
            return parts[0].operand
        return node.with_children(*parts)

    return fold(formula, combine)


def _confirm(source: Formula, formula: Formula, promise: Promise) -> None:
    """Raise AssertionError if the reference evaluator tells the two apart on a world of the promise."""
    if formula is source:
        return
    for world in promise.worlds:
        if sum(reference.bound_steps(one, world.size) for one in (source, formula)) > _CONFIRMED_UP_TO_STEPS:
            continue
        if (reference.extension(source, world) != reference.extension(formula, world)).any():
            raise AssertionError(f"{formula} is not {source} in {world.name}")
