"""induction: first-order definitions of a concept over small finite relational worlds."""

__version__ = "0.1.0"
