"""cvc5's SyGuS interface as a peer: synthesise a concept in relation algebra that has the target's extension.

A concept is a bit-vector over all (world, object), a role one over all (world, object, object). Predicates are
constants, the operations of a description logic with inverse, role complement and composition are functions on them,
and the term sought has just one constraint: to equal the target. The smallest term by cvc5's own count of operators is
not always the smallest formula; the formula's AST size is reported.
"""

from collections.abc import Callable
from typing import Any

from induction.evaluation import check
from induction.formula.syntax import And, Atom, Exists, ForAll, Formula, Not, Or, to_sexpr
from induction.worlds import Instance


def synthesise(instance: Instance, _send: Callable[[Any], None]) -> dict[str, Any]:
    """The formula cvc5 finds, checked; run in a process of its own under a time limit."""
    import cvc5
    from cvc5 import Kind

    manager = cvc5.TermManager()
    solver = cvc5.Solver(manager)
    solver.setLogic("BV")
    solver.setOption("sygus", "true")
    worlds = instance.train_worlds
    concept_bits = [(w, x) for w, world in enumerate(worlds) for x in range(world.size)]
    role_bits = [(w, x, y) for w, world in enumerate(worlds) for x in range(world.size) for y in range(world.size)]
    concept = manager.mkBitVectorSort(len(concept_bits))
    role = manager.mkBitVectorSort(len(role_bits))
    role_index = {bit: i for i, bit in enumerate(role_bits)}
    concept_index = {bit: i for i, bit in enumerate(concept_bits)}

    def constant(values: list[bool]) -> Any:
        return manager.mkBitVector(len(values), "".join("1" if v else "0" for v in reversed(values)), 2)

    def bit(term: Any, index: int) -> Any:
        return manager.mkTerm(manager.mkOp(Kind.BITVECTOR_EXTRACT, index, index), term)

    def joined(bits: list[Any]) -> Any:
        return manager.mkTerm(Kind.BITVECTOR_CONCAT, *reversed(bits))

    def defined(name: str, sorts: list[Any], result: Any, body: Callable[..., Any]) -> Any:
        variables = [manager.mkVar(sort, f"{name}{i}") for i, sort in enumerate(sorts)]
        return solver.defineFun(name, variables, result, body(*variables))

    def any_of(bits: list[Any]) -> Any:
        return bits[0] if len(bits) == 1 else manager.mkTerm(Kind.BITVECTOR_OR, *bits)

    def all_of(bits: list[Any]) -> Any:
        return bits[0] if len(bits) == 1 else manager.mkTerm(Kind.BITVECTOR_AND, *bits)

    def some(r: Any, c: Any) -> Any:
        return joined([
            any_of([
                manager.mkTerm(Kind.BITVECTOR_AND, bit(r, role_index[w, x, y]), bit(c, concept_index[w, y]))
                for y in range(worlds[w].size)
            ])
            for w, x in concept_bits
        ])  # fmt: skip

    def only(r: Any, c: Any) -> Any:
        return joined([
            all_of([
                manager.mkTerm(
                    Kind.BITVECTOR_OR,
                    manager.mkTerm(Kind.BITVECTOR_NOT, bit(r, role_index[w, x, y])),
                    bit(c, concept_index[w, y]),
                )
                for y in range(worlds[w].size)
            ])
            for w, x in concept_bits
        ])  # fmt: skip

    def inverse(r: Any) -> Any:
        return joined([bit(r, role_index[w, y, x]) for w, x, y in role_bits])

    def composed(r: Any, s: Any) -> Any:
        return joined([
            any_of([
                manager.mkTerm(Kind.BITVECTOR_AND, bit(r, role_index[w, x, z]), bit(s, role_index[w, z, y]))
                for z in range(worlds[w].size)
            ])
            for w, x, y in role_bits
        ])  # fmt: skip

    functions = {
        "some": defined("some", [role, concept], concept, some),
        "only": defined("only", [role, concept], concept, only),
        "inv": defined("inv", [role], role, inverse),
        "comp": defined("comp", [role, role], role, composed),
    }
    signature = instance.signature
    atoms = {}
    for name in signature.unary:
        values = [bool(worlds[w].true[name][x]) for w, x in concept_bits]
        atoms[name] = solver.defineFun(f"p_{name}", [], concept, constant(values))
    for name in signature.binary:
        values = [bool(worlds[w].true[name][x, y]) for w, x, y in role_bits]
        atoms[name] = solver.defineFun(f"r_{name}", [], role, constant(values))
    concepts, roles = manager.mkVar(concept, "C"), manager.mkVar(role, "R")
    grammar = solver.mkGrammar([], [concepts, roles])

    def applied(name: str, *arguments: Any) -> Any:
        return manager.mkTerm(Kind.APPLY_UF, functions[name], *arguments)

    grammar.addRules(
        concepts,
        [
            *(atoms[name] for name in signature.unary),
            manager.mkTerm(Kind.BITVECTOR_AND, concepts, concepts),
            manager.mkTerm(Kind.BITVECTOR_OR, concepts, concepts),
            manager.mkTerm(Kind.BITVECTOR_NOT, concepts),
            applied("some", roles, concepts),
            applied("only", roles, concepts),
        ],
    )
    grammar.addRules(
        roles,
        [
            *(atoms[name] for name in signature.binary),
            applied("inv", roles),
            manager.mkTerm(Kind.BITVECTOR_NOT, roles),
            applied("comp", roles, roles),
        ],
    )
    wanted = solver.synthFun("phi", [], concept, grammar)
    target = constant([bool(worlds[w].target[x]) for w, x in concept_bits])
    solver.addSygusConstraint(manager.mkTerm(Kind.EQUAL, wanted, target))
    if not solver.checkSynth().hasSolution():
        return {"outcome": "no solution"}
    formula = _concept(str(solver.getSynthSolution(wanted)), "x")
    if not check(formula, instance, use_reference=True).valid:
        raise AssertionError(f"the translation is wrong: {formula}")
    return {"outcome": "solved", "ast": formula.ast_nodes, "formula": to_sexpr(formula)}


def _tree(text: str) -> Any:
    words = text.replace("(", " ( ").replace(")", " ) ").split()
    position = 0

    def read() -> Any:
        nonlocal position
        word = words[position]
        position += 1
        if word != "(":
            return word
        items = []
        while words[position] != ")":
            items.append(read())
        position += 1
        return items

    return read()


def _concept(text: str, variable: str) -> Formula:
    return _concept_formula(_tree(text), variable, 0, positive=True)


def _fresh(level: int) -> str:
    return ("y", "z", "w", "v", "u", "t")[level] if level < 6 else f"v{level}"


def _concept_formula(tree: Any, x: str, level: int, *, positive: bool) -> Formula:
    """The concept, or its negation, of x, negations pushed inward."""
    if isinstance(tree, str):
        atom = Atom(tree.removeprefix("p_"), (x,))
        return atom if positive else Not(atom)
    head, *arguments = tree
    if head == "bvnot":
        return _concept_formula(arguments[0], x, level, positive=not positive)
    if head in ("bvand", "bvor"):
        connective = And if (head == "bvand") == positive else Or
        first, second = (_concept_formula(part, x, level, positive=positive) for part in arguments)
        return connective(first, second)
    y = _fresh(level)
    existential = (head == "some") == positive
    related = _role_formula(arguments[0], x, y, level + 1, positive=existential)
    held = _concept_formula(arguments[1], y, level + 1, positive=positive)
    return Exists(y, And(related, held)) if existential else ForAll(y, Or(related, held))


def _role_formula(tree: Any, x: str, y: str, level: int, *, positive: bool) -> Formula:
    if isinstance(tree, str):
        atom = Atom(tree.removeprefix("r_"), (x, y))
        return atom if positive else Not(atom)
    head, *arguments = tree
    if head == "bvnot":
        return _role_formula(arguments[0], x, y, level, positive=not positive)
    if head == "inv":
        return _role_formula(arguments[0], y, x, level, positive=positive)
    z = _fresh(level)
    first = _role_formula(arguments[0], x, z, level + 1, positive=positive)
    second = _role_formula(arguments[1], z, y, level + 1, positive=positive)
    return Exists(z, And(first, second)) if positive else ForAll(z, Or(first, second))
