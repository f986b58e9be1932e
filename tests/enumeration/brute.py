"""Every formula of a fragment up to an AST size, by the definition and nothing else: what the search is judged by.

Formulas are kept as rows of truth values of all objects under all assignments of x, y and z to objects, so that none
is lost to any cleverness; sets of rows per size and depth are exact because a formula's value depends on its parts'
values alone.
"""

import itertools

import numpy as np


def all_values(worlds, variables, depth, equality, most):
    """`result[size]` is the set of (value, depth, is x free) of all formulas of that AST size.

    A value is the bytes of a `bool[assignments]` over every world and every assignment of x, y, z in it.
    """
    names = ("x", "y", "z")[:variables]
    places = []  # world number and assignment
    for w, world in enumerate(worlds):
        places += [(w, assignment) for assignment in itertools.product(range(world.size), repeat=3)]
    index = {place: i for i, place in enumerate(places)}

    def quantified(value, position, existential):
        table = np.frombuffer(value, dtype=np.bool_)
        result = np.empty_like(table)
        for i, (w, assignment) in enumerate(places):
            others = []
            for element in range(worlds[w].size):
                changed = (*assignment[:position], element, *assignment[position + 1 :])
                others.append(table[index[w, changed]])
            result[i] = any(others) if existential else all(others)
        return result.tobytes()

    atoms = {}
    for name, arity in worlds[0].signature.items():
        for arguments in itertools.product(range(variables), repeat=arity):
            value = np.array([worlds[w].true[name][tuple(a[k] for k in arguments)] for w, a in places])
            atoms.setdefault(1 + arity, set()).add((value.tobytes(), 0, frozenset(names[k] for k in arguments)))
    if equality:
        for left, right in itertools.product(range(variables), repeat=2):
            value = np.array([a[left] == a[right] for _, a in places])
            atoms.setdefault(3, set()).add((value.tobytes(), 0, frozenset((names[left], names[right]))))

    result = {size: set() for size in range(most + 1)}
    for size in range(2, most + 1):
        here = set(atoms.get(size, ()))
        for value, d, free in result[size - 1]:
            here.add(((~np.frombuffer(value, dtype=np.bool_)).tobytes(), d, free))
        for left in range(2, size - 2):
            for (a, da, fa), (b, db, fb) in itertools.product(result[left], result[size - 1 - left]):
                x, y = np.frombuffer(a, dtype=np.bool_), np.frombuffer(b, dtype=np.bool_)
                d, free = max(da, db), fa | fb
                here.add(((x & y).tobytes(), d, free))
                here.add(((x | y).tobytes(), d, free))
        for value, d, free in result[size - 2]:
            if d < depth:
                for position, name in enumerate(names):
                    for existential in (True, False):
                        here.add((quantified(value, position, existential), d + 1, free - {name}))
        result[size] = here
    return result, places


def definitions(worlds, variables, depth, equality, most):
    """`result[size]`: the extensions, `bytes` of `bool[all objects]`, of the formulas with exactly x free."""
    values, places = all_values(worlds, variables, depth, equality, most)
    diagonal = [places.index((w, (e, 0, 0))) for w, world in enumerate(worlds) for e in range(world.size)]
    return {
        size: {
            np.frombuffer(value, dtype=np.bool_)[diagonal].tobytes()
            for value, d, free in formulas
            if free == {"x"} and d <= depth
        }
        for size, formulas in values.items()
    }
