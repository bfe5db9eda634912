"""Mutants of the trusted core: every comparison, sign, constant and check is broken in turn, and a test has to fail.

    python -m tests.mutants [--files PATTERN ...] [--jobs J] [--only TEXT] [--list]

``operators.py`` says how a source is broken, ``session.py`` runs the tests on each mutant in a forked child,
``targets.toml`` which tests belong to which file, and ``equivalent.toml`` which mutants change nothing, and why.
"""
