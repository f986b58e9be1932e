"""Formulas for other provers: TPTP and SMT-LIB."""

import itertools
from collections.abc import Collection, Iterator, Mapping

from induction.errors import InductionError
from induction.formula.metrics import free_variables, variable_names
from induction.formula.syntax import (
    FREE_VARIABLE,
    TARGET,
    And,
    Atom,
    BinaryConnective,
    Equal,
    Exists,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    PrefixNotation,
    Quantified,
    prefix_pieces,
    require_tree_size,
    subformulas,
)

_TPTP_CONNECTIVES: Mapping[type[Formula], str] = {And: "&", Or: "|", Implies: "=>", Iff: "<=>"}
_SMTLIB_CONNECTIVES: Mapping[type[Formula], str] = {And: "and", Or: "or", Implies: "=>", Iff: "="}
_SMTLIB_TAKEN = frozenset(
    [
        "!",
        "_",
        "as",
        "let",
        "par",
        "lambda",
        "match",
        "exists",
        "forall",
        "true",
        "false",
        "not",
        "and",
        "or",
        "xor",
        "ite",
        "distinct",
        "Bool",
        "Object",
        "phi",
        "the_object",
        "choice",
        "BINARY",
        "DECIMAL",
        "HEXADECIMAL",
        "NUMERAL",
        "STRING",
    ]
)


def to_tptp(formula: Formula) -> str:
    """A TPTP FOF annotated formula: the definition of `t` by a formula with x free, a closed formula as an axiom.

    Variables get an upper-case first letter and predicates a lower-case one; a predicate whose name would then be
    another's is quoted instead.

    Raises:
        InductionError: free variables other than x.
        FormulaTooLargeError: more than `MAX_TREE_NODES` AST nodes.
    """
    free = free_variables(formula)
    if free - {FREE_VARIABLE}:
        raise InductionError(f"TPTP takes a formula with {FREE_VARIABLE} free or none, not {', '.join(sorted(free))}")
    predicates = dict.fromkeys(node.predicate for node in subformulas(formula) if isinstance(node, Atom))
    lowered = {name: name[0].lower() + name[1:] for name in (*predicates, TARGET)}
    names = {
        name: f"'{name}'" if list(lowered.values()).count(low) > 1 or not low[0].isalpha() else low
        for name, low in lowered.items()
    }
    text = "".join(_tptp_pieces(formula, names))
    if free:
        variable = _tptp_variable(FREE_VARIABLE)
        return f"fof(definition_of_t, definition, ! [{variable}] : ({names[TARGET]}({variable}) <=> {text}))."
    return f"fof(formula, axiom, {text})."


def _tptp_variable(variable: str) -> str:
    return variable[0].upper() + variable[1:]


def _tptp_pieces(formula: Formula, names: Mapping[str, str]) -> Iterator[str]:
    require_tree_size(formula, "printing")
    pending: list[Formula | str] = [formula]
    while pending:
        item = pending.pop()
        match item:
            case str():
                yield item
            case Atom(predicate, arguments):
                yield f"{names[predicate]}({', '.join(map(_tptp_variable, arguments))})"
            case Equal(left, right):
                yield f"({_tptp_variable(left)} = {_tptp_variable(right)})"
            case Not(operand):
                yield "~ "
                pending.append(operand)
            case BinaryConnective(left, right):
                yield "("
                pending.extend((")", right, f" {_TPTP_CONNECTIVES[type(item)]} ", left))
            case Quantified(variable, body):
                yield f"{'?' if isinstance(item, Exists) else '!'} [{_tptp_variable(variable)}] : "
                pending.append(body)


def to_smtlib(formula: Formula) -> str:
    """SMT-LIB 2 commands over an uninterpreted sort `Object`: the predicates, and the formula as the function `phi`.

    The free variables are the parameters of `phi`, in alphabetical order. Names that mean something to SMT-LIB get
    underscores behind them.

    Raises:
        FormulaTooLargeError: more than `MAX_TREE_NODES` AST nodes.
    """
    require_tree_size(formula, "printing")
    arities = {node.predicate: len(node.arguments) for node in subformulas(formula) if isinstance(node, Atom)}
    variables = variable_names(formula)
    predicate_names = _renamed(arities, _SMTLIB_TAKEN)
    variable_of = _renamed(variables, _SMTLIB_TAKEN | set(predicate_names.values()))
    lines = ["(declare-sort Object 0)"]
    lines += [
        f"(declare-fun {predicate_names[name]} ({' '.join(['Object'] * arity)}) Bool)"
        for name, arity in arities.items()
    ]
    parameters = " ".join(f"({variable_of[variable]} Object)" for variable in sorted(free_variables(formula)))
    notation = PrefixNotation(
        predicate=predicate_names.__getitem__,
        variable=variable_of.__getitem__,
        connective=_SMTLIB_CONNECTIVES.__getitem__,
        binder=lambda bound: f"(({bound} Object))",
    )
    body = "".join(prefix_pieces(formula, notation))
    lines.append(f"(define-fun phi ({parameters}) Bool {body})")
    return "\n".join(lines)


def _renamed(names: Collection[str], taken: Collection[str]) -> dict[str, str]:
    result: dict[str, str] = {}
    for name in names:
        candidates = (name + "_" * i for i in itertools.count())
        result[name] = next(new for new in candidates if new not in taken and (new == name or new not in names))
    return result
