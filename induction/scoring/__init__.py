"""Answers scored: read, evaluated, explained, counted and shown."""
