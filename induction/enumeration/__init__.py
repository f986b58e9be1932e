"""Exhaustive enumeration of formulas by AST size, up to what some worlds can tell apart."""
