"""A proposer for `induction frontier` that thinks of nothing: it goes through a fixed list of small shapes.

    induction frontier data/examples/examples.yaml --id example_fullobs --proposer 'python data/examples/proposer.py'

It shows what a program has to do: read a JSON line, answer with a JSON line, until the input ends. Standard library
only. Give a number to have so many formulas proposed a round (4).
"""

import itertools
import json
import sys


def shapes(signature):
    """Formulas over the predicates, small ones first."""
    unary = [name for name, arity in signature.items() if arity == 1]
    binary = [name for name, arity in signature.items() if arity == 2]
    for p in unary:
        yield f"({p} x)"
    for r in binary:
        yield f"(exists y ({r} x y))"
        yield f"(exists y ({r} y x))"
    for r, p in itertools.product(binary, unary):
        yield f"(exists y (and ({r} x y) ({p} y)))"
        yield f"(forall y (or (not ({r} x y)) ({p} y)))"
    for r, s in itertools.product(binary, repeat=2):
        yield f"(exists y (and ({r} x y) (exists z ({s} y z))))"
        yield f"(forall y (or (not ({r} x y)) (exists z ({s} y z))))"


def main():
    """Answer every line."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    remaining = None
    for line in sys.stdin:
        message = json.loads(line)
        if remaining is None:
            remaining = shapes(message["instance"]["signature"])
        print(json.dumps({"formulas": list(itertools.islice(remaining, number))}), flush=True)


if __name__ == "__main__":
    main()
