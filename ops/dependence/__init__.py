"""Dependences in a program: one indexing, all of them between two arrays, and links.

Rules tell what an operation does with shapes (:class:`~ops.rules.rule.OpIndexing`). Here
this becomes a value about two arrays of a program, which composes and unites.
"""

from __future__ import annotations
