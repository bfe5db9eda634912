"""What makes an answer an answer. ``verdict`` judges one in doubles and gives a ``certificate``; ``words`` explains it.
``kkt/`` measures optima, ``claims/`` checks whatever is claimed, ``levels/`` raises a certificate to ``rigorous/``,
``exact/`` or ``enclosure/``, ``separability/`` is one question of several models, ``portable/`` certificates as files.
"""
