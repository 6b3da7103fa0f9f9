"""Rules, one module a family of operations: its maps, and how they are read off an instruction.

:mod:`~ops.rules.rule` says what a rule is, :mod:`~ops.rules.registry` gathers all of them.
"""

from __future__ import annotations
