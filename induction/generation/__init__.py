"""Instances made to order: golds from templates, worlds that refute rivals, certificates, hold-out worlds."""
