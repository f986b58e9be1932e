"""Formula nodes, the signature they are written over, and the walks everything else is built on.

NOTE(iterative): a formula nested tens of thousands deep is an ordinary value here. Nothing in this package
recurses along a formula: hash and AST size are computed once, at construction, from the children's; every
other question is a loop over `subformulas` or a walk run by `run_walk`.
"""

import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn, TypeAlias, TypeVar

from induction.errors import FormulaTooLargeError, printable

Variable: TypeAlias = str
PredicateName: TypeAlias = str

TARGET: PredicateName = "T"
"""The predicate being defined. It labels worlds and is never part of a signature or a formula."""

FREE_VARIABLE: Variable = "x"
"""The one variable that a definition of the target leaves free."""

KEYWORDS = ("not", "and", "or", "implies", "iff", "forall", "exists")
VARIABLE_PATTERN = re.compile(r"[a-z][A-Za-z0-9_]*")
PREDICATE_PATTERN = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")

MAX_COUNTED_NODES = 10**18
"""AST sizes are exact up to here and stay here beyond: shared subformulas can double a size at every node."""

MAX_TREE_NODES = 1_000_000
"""Largest AST size that is written out as text or walked as a tree."""

_Result = TypeVar("_Result")


class Signature:
    """The predicates a formula may use: an ordered mapping from names to arities 1 or 2.

    Immutable and hashable; two signatures are equal when they hold the same predicates in any order.

    Raises:
        ValueError: a name that is no identifier, is a keyword or the target `T`, comes twice, or an arity other
            than 1 and 2.
    """

    __slots__ = ("_arities",)

    def __init__(self, arities: Mapping[PredicateName, int] | Iterable[tuple[PredicateName, int]]) -> None:
        pairs = list(arities.items() if isinstance(arities, Mapping) else arities)
        for name, arity in pairs:
            if not isinstance(name, str) or not PREDICATE_PATTERN.fullmatch(name):
                raise ValueError(
                    f"{printable(str(name))!r} is not a predicate name "
                    "(up to 100 letters, digits and _, no digit first)"
                )
            if name in KEYWORDS:
                raise ValueError(f"{name!r} is a keyword of the language and cannot be a predicate")
            if name == TARGET:
                raise ValueError(f"{TARGET} is the target being defined and cannot be part of a signature")
            if isinstance(arity, bool) or arity not in (1, 2):
                raise ValueError(
                    f"predicate {printable(name)} has arity {printable(str(arity))}; predicates take 1 or 2 arguments"
                )
        self._arities: dict[PredicateName, int] = {}
        for name, arity in pairs:
            if name in self._arities:
                raise ValueError(f"predicate {name} is declared twice")
            self._arities[name] = arity

    @property
    def unary(self) -> tuple[PredicateName, ...]:
        """Predicates of one argument, in order."""
        return tuple(name for name, arity in self._arities.items() if arity == 1)

    @property
    def binary(self) -> tuple[PredicateName, ...]:
        """Predicates of two arguments, in order."""
        return tuple(name for name, arity in self._arities.items() if arity == 2)

    def arity(self, name: PredicateName) -> int:
        """Number of arguments of `name`. Raises KeyError for a predicate that is not in the signature."""
        return self._arities[name]

    def items(self) -> Iterable[tuple[PredicateName, int]]:
        """Pairs of name and arity, in order."""
        return self._arities.items()

    def __contains__(self, name: object) -> bool:
        return name in self._arities

    def __iter__(self) -> Iterator[PredicateName]:
        return iter(self._arities)

    def __len__(self) -> int:
        return len(self._arities)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Signature) and self._arities == other._arities

    def __hash__(self) -> int:
        return hash(frozenset(self._arities.items()))

    def __repr__(self) -> str:
        return f"Signature({self._arities!r})"

    def __str__(self) -> str:
        return " ".join(f"{name}/{arity}" for name, arity in self._arities.items())


DEFAULT_SIGNATURE = Signature({"P": 1, "Q": 1, "R": 2, "S": 2})


class Formula:
    """A node of a first-order formula; instances belong to one of the nine subclasses below.

    Immutable, so subformulas may be shared. `ast_nodes` is the AST size of the benchmark: every predicate,
    argument, connective, quantifier and bound variable counts one (up to `MAX_COUNTED_NODES`). Equality is
    structural, bound variables by name; it, hashing, printing, copying and pickling do not recurse.
    """

    __slots__ = ("_hash", "ast_nodes")

    ast_nodes: int
    _hash: int

    def _set(self, **fields: object) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def _seal(self, own_nodes: int) -> None:
        for child in self.children:
            if not isinstance(child, Formula):
                raise TypeError(f"{type(self).__name__} takes formulas, not {type(child).__name__}")
        self._set(
            ast_nodes=min(MAX_COUNTED_NODES, own_nodes + sum(child.ast_nodes for child in self.children)),
            _hash=hash((type(self).__name__, self.label, *(child._hash for child in self.children))),
        )

    @property
    def children(self) -> tuple["Formula", ...]:
        """Immediate subformulas, left to right."""
        return ()

    @property
    def label(self) -> tuple[str, ...]:
        """What the node holds besides its children: predicate and arguments, or the bound variable."""
        return ()

    def with_children(self, *children: "Formula") -> "Formula":
        """The same node over other children; `self` where they are the same objects."""
        if all(mine is other for mine, other in zip(self.children, children, strict=True)):
            return self
        return _build(type(self), self.label, children)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Formula):
            return NotImplemented
        pending: list[tuple[Formula, Formula]] = [(self, other)]
        compared: set[tuple[int, int]] = set()  # shared subformulas are compared once, not once a path
        while pending:
            mine, theirs = pending.pop()
            if mine is theirs or (id(mine), id(theirs)) in compared:
                continue
            if type(mine) is not type(theirs) or mine._hash != theirs._hash or mine.label != theirs.label:
                return False
            compared.add((id(mine), id(theirs)))
            pending.extend(zip(mine.children, theirs.children, strict=True))
        return True

    def __copy__(self) -> "Formula":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "Formula":
        return self

    def __reduce__(self) -> tuple[Callable[..., "Formula"], tuple[Any, ...]]:
        nodes = list(subformulas(self))
        index = {id(node): i for i, node in enumerate(nodes)}
        table = tuple((type(n).__name__, n.label, tuple(index[id(c)] for c in n.children)) for n in nodes)
        return _from_table, (table,)

    def __str__(self) -> str:
        return to_sexpr(self)

    def __repr__(self) -> str:
        shown = ""
        for piece in prefix_pieces(self, _SEXPR):
            shown += piece
            if len(shown) > 200:
                shown = shown[:200] + "…"
                break
        return f"<{type(self).__name__} {shown}>"


class Atom(Formula):
    """`predicate` holds of `arguments` (variables). Whether the arity is right is the parser's business."""

    __slots__ = ("arguments", "predicate")
    __match_args__ = ("predicate", "arguments")
    predicate: PredicateName
    arguments: tuple[Variable, ...]

    def __init__(self, predicate: PredicateName, arguments: tuple[Variable, ...]) -> None:
        if not isinstance(arguments, tuple):
            raise TypeError(f"the arguments of {predicate} must be a tuple of variables, not {arguments!r}")
        self._set(predicate=predicate, arguments=arguments)
        self._seal(1 + len(arguments))

    @property
    def label(self) -> tuple[str, ...]:
        """Predicate, then arguments."""
        return (self.predicate, *self.arguments)


class Equal(Formula):
    """`left` and `right` (variables) name the same object."""

    __slots__ = ("left", "right")
    __match_args__ = ("left", "right")
    left: Variable
    right: Variable

    def __init__(self, left: Variable, right: Variable) -> None:
        self._set(left=left, right=right)
        self._seal(3)

    @property
    def label(self) -> tuple[str, ...]:
        """Both variables."""
        return (self.left, self.right)


class Not(Formula):
    """Negation."""

    __slots__ = ("operand",)
    __match_args__ = ("operand",)
    operand: Formula

    def __init__(self, operand: Formula) -> None:
        self._set(operand=operand)
        self._seal(1)

    @property
    def children(self) -> tuple[Formula, ...]:
        """The operand."""
        return (self.operand,)


class BinaryConnective(Formula):
    """And, Or, Implies and Iff; never constructed itself."""

    __slots__ = ("left", "right")
    __match_args__ = ("left", "right")
    keyword: ClassVar[str]
    left: Formula
    right: Formula

    def __init__(self, left: Formula, right: Formula) -> None:
        self._set(left=left, right=right)
        self._seal(1)

    @property
    def children(self) -> tuple[Formula, ...]:
        """Both operands."""
        return (self.left, self.right)


class And(BinaryConnective):
    """Conjunction."""

    __slots__ = ()
    keyword = "and"


class Or(BinaryConnective):
    """Disjunction."""

    __slots__ = ()
    keyword = "or"


class Implies(BinaryConnective):
    """Material implication."""

    __slots__ = ()
    keyword = "implies"


class Iff(BinaryConnective):
    """Equivalence."""

    __slots__ = ()
    keyword = "iff"


class Quantified(Formula):
    """ForAll and Exists; never constructed itself. `variable` is bound in `body`."""

    __slots__ = ("body", "variable")
    __match_args__ = ("variable", "body")
    keyword: ClassVar[str]
    variable: Variable
    body: Formula

    def __init__(self, variable: Variable, body: Formula) -> None:
        self._set(variable=variable, body=body)
        self._seal(2)

    @property
    def children(self) -> tuple[Formula, ...]:
        """The body."""
        return (self.body,)

    @property
    def label(self) -> tuple[str, ...]:
        """The bound variable."""
        return (self.variable,)


class ForAll(Quantified):
    """Every object as `variable` makes `body` true."""

    __slots__ = ()
    keyword = "forall"


class Exists(Quantified):
    """Some object as `variable` makes `body` true."""

    __slots__ = ()
    keyword = "exists"


_NODE_TYPES: dict[str, type[Formula]] = {
    node_type.__name__: node_type for node_type in (Atom, Equal, Not, And, Or, Implies, Iff, ForAll, Exists)
}


def _build(node_type: type[Formula], label: tuple[str, ...], children: tuple[Formula, ...]) -> Formula:
    if node_type is Atom:
        return Atom(label[0], label[1:])
    constructor: Callable[..., Formula] = node_type
    return constructor(*label, *children)


def _from_table(table: tuple[tuple[str, tuple[str, ...], tuple[int, ...]], ...]) -> Formula:
    nodes: list[Formula] = []
    for name, label, children in table:
        nodes.append(_build(_NODE_TYPES[name], label, tuple(nodes[i] for i in children)))
    return nodes[-1]


def subformulas(formula: Formula) -> Iterator[Formula]:
    """Every distinct node object of `formula`, each after its children, left before right."""
    seen: set[int] = set()
    pending: list[tuple[Formula, bool]] = [(formula, False)]
    while pending:
        node, children_done = pending.pop()
        if children_done:
            yield node
        elif id(node) not in seen:
            seen.add(id(node))
            pending.append((node, True))
            pending.extend((child, False) for child in reversed(node.children))


def fold(formula: Formula, combine: Callable[..., _Result]) -> _Result:
    """`combine(node, *results of its children)` from the leaves up; once for each distinct node object."""
    results: dict[int, _Result] = {}
    for node in subformulas(formula):
        results[id(node)] = combine(node, *[results[id(child)] for child in node.children])
    return results[id(formula)]


def run_walk(walk: Generator[Any, Any, _Result]) -> _Result:
    """The return value of a recursive generator, run on a stack of its own.

    A walk is an ordinary recursive function in which each call of itself is written `(yield f(...))`.
    """
    stack: list[Generator[Any, Any, Any]] = [walk]
    returned: Any = None
    while stack:
        try:
            stack.append(stack[-1].send(returned))
            returned = None
        except StopIteration as stop:
            stack.pop()
            returned = stop.value
    result: _Result = returned
    return result


def require_tree_size(formula: Formula, purpose: str) -> None:
    """Guard of what walks the tree path by path: shared subformulas can make it exponentially large.

    Raises:
        FormulaTooLargeError: the AST has more than `MAX_TREE_NODES` nodes.
    """
    if formula.ast_nodes > MAX_TREE_NODES:
        size = f"{formula.ast_nodes:,}" if formula.ast_nodes < MAX_COUNTED_NODES else "10^18 or more"
        raise FormulaTooLargeError(
            f"{purpose} would take a formula of {size} AST nodes; the limit is {MAX_TREE_NODES:,}"
        )


@dataclass(frozen=True)
class PrefixNotation:
    """How a fully parenthesised prefix text writes names, connectives and bound variables."""

    predicate: Callable[[PredicateName], str] = str
    variable: Callable[[Variable], str] = str
    connective: Callable[[type["BinaryConnective"]], str] = lambda node_type: node_type.keyword
    binder: Callable[[str], str] = str


def prefix_pieces(formula: Formula, notation: PrefixNotation) -> Iterator[str]:
    """The text of `formula` in a prefix notation, piece by piece; its size is the caller's to bound."""
    variable = notation.variable
    pending: list[Formula | str] = [formula]
    while pending:
        item = pending.pop()
        match item:
            case str():
                yield item
            case Atom(predicate, arguments):
                yield f"({' '.join((notation.predicate(predicate), *map(variable, arguments)))})"
            case Equal(left, right):
                yield f"(= {variable(left)} {variable(right)})"
            case Not(operand):
                yield "(not "
                pending.extend((")", operand))
            case BinaryConnective(left, right):
                yield f"({notation.connective(type(item))} "
                pending.extend((")", right, " ", left))
            case Quantified(bound, body):
                yield f"({item.keyword} {notation.binder(variable(bound))} "
                pending.extend((")", body))


_SEXPR = PrefixNotation()


def to_sexpr(formula: Formula) -> str:
    """The formula in the released text form: prefix notation, binary connectives, one line.

    Raises:
        FormulaTooLargeError: more than `MAX_TREE_NODES` AST nodes.
    """
    require_tree_size(formula, "printing")
    return "".join(prefix_pieces(formula, _SEXPR))


def with_predicates(formula: Formula, names: Mapping[PredicateName, PredicateName]) -> Formula:
    """`formula` with every predicate that `names` maps replaced, all at once."""

    def combine(node: Formula, *parts: Formula) -> Formula:
        if isinstance(node, Atom):
            return Atom(names.get(node.predicate, node.predicate), node.arguments)
        return node.with_children(*parts)

    return fold(formula, combine)


def conjunction_of(operands: Iterable[Formula]) -> Formula:
    """`operands` (one or more) under `and`, folded to the right."""
    return _fold_right(And, operands)


def disjunction_of(operands: Iterable[Formula]) -> Formula:
    """`operands` (one or more) under `or`, folded to the right."""
    return _fold_right(Or, operands)


def _fold_right(connective: type[BinaryConnective], operands: Iterable[Formula]) -> Formula:
    *front, result = operands
    for operand in reversed(front):
        result = connective(operand, result)
    return result
