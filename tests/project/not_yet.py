"""What the tests about floors and names still let pass; it shrinks to nothing."""

from __future__ import annotations

from typing import Final

IMPORTS: Final[frozenset[tuple[str, str]]] = frozenset(
    [
        ("simplifier.bounds.digits", "simplifier.canonical.clamps"),
        ("simplifier.bounds.digits", "simplifier.canonical.scope"),
        ("simplifier.bounds.digits", "simplifier.laws.catalogue.ranges"),
        ("simplifier.bounds.equations", "simplifier.laws.catalogue.constraints"),
        ("simplifier.bounds.equations", "simplifier.laws.law"),
        ("simplifier.bounds.facts", "simplifier.canonical.scope"),
        ("simplifier.bounds.propagation", "simplifier.canonical.scope"),
        ("simplifier.bounds.propagation", "simplifier.laws.catalogue.constraints"),
        ("simplifier.bounds.propagation", "simplifier.laws.catalogue.ranges"),
        ("simplifier.bounds.propagation", "simplifier.laws.law"),
        ("simplifier.bounds.ranges", "simplifier.canonical.clamps"),
        ("simplifier.bounds.ranges", "simplifier.canonical.scope"),
        ("simplifier.bounds.ranges", "simplifier.laws.catalogue.ranges"),
        ("simplifier.bounds.ranges", "simplifier.laws.law"),
        ("simplifier.bounds.samples", "simplifier.canonical.scope"),
        ("simplifier.bounds.symbolic_digits", "simplifier.canonical.scope"),
        ("simplifier.canonical.clamps", "simplifier.canonical.scope"),
        ("simplifier.canonical.extrema", "simplifier.canonical.clamps"),
        ("simplifier.canonical.extrema", "simplifier.canonical.order"),
        ("simplifier.canonical.extrema", "simplifier.canonical.scope"),
        ("simplifier.canonical.floordiv", "simplifier.canonical.scope"),
        ("simplifier.canonical.order", "simplifier.canonical.clamps"),
        ("simplifier.canonical.order", "simplifier.canonical.scope"),
        ("simplifier.canonical.products", "simplifier.canonical.scope"),
        ("simplifier.canonical.scope", "simplifier.canonical.extrema"),
        ("simplifier.canonical.scope", "simplifier.canonical.floordiv"),
        ("simplifier.canonical.scope", "simplifier.canonical.products"),
        ("simplifier.canonical.scope", "simplifier.canonical.symbolic"),
        ("simplifier.canonical.scope", "simplifier.extraction"),
        ("simplifier.canonical.symbolic", "simplifier.canonical.scope"),
        ("simplifier.expr.operations", "simplifier.limits"),
        ("simplifier.expr.polynomials", "simplifier.canonical.scope"),
        ("simplifier.extraction.extrema", "simplifier.extraction.pricing"),
        ("simplifier.extraction.extrema", "simplifier.extraction.rewriting"),
        ("simplifier.extraction.pricing", "simplifier.extraction.rewriting"),
        ("simplifier.extraction.pricing", "simplifier.extraction.search"),
        ("simplifier.extraction.products", "simplifier.extraction.rewriting"),
        ("simplifier.extraction.quotients", "simplifier.extraction.pricing"),
        ("simplifier.extraction.quotients", "simplifier.extraction.rewriting"),
        ("simplifier.extraction.remainders", "simplifier.extraction.pricing"),
        ("simplifier.extraction.remainders", "simplifier.extraction.rewriting"),
        ("simplifier.extraction.rewriting", "simplifier.extraction.pricing"),
        ("simplifier.extraction.search", "simplifier.extraction.extrema"),
        ("simplifier.extraction.search", "simplifier.extraction.pricing"),
        ("simplifier.extraction.search", "simplifier.extraction.products"),
        ("simplifier.extraction.search", "simplifier.extraction.quotients"),
        ("simplifier.extraction.search", "simplifier.extraction.remainders"),
        ("simplifier.extraction.search", "simplifier.extraction.rewriting"),
        ("simplifier.extraction.search", "simplifier.extraction.sums"),
        ("simplifier.extraction.sums", "simplifier.extraction.rewriting"),
        ("simplifier.trace", "simplifier.fixpoint"),
        ("simplifier.trace", "simplifier.problem"),
    ]
)
"""Imports, from and to, that still run up or close a circle."""

HIDDEN_IMPORTS: Final[frozenset[tuple[str, str]]] = frozenset(
    [
        ("simplifier.expr.form", "simplifier.expr.printer"),
    ]
)
"""Imports, from and to, that still stand in a function."""

UNBUILT: Final[frozenset[str]] = frozenset([])
"""Names on floors that no module carries yet."""

UNNAMED: Final[frozenset[str]] = frozenset([])
"""Modules that no floor names yet."""

SHARED_FILE_NAMES: Final[frozenset[str]] = frozenset(
    [
        "extrema",
        "products",
        "quotients",
        "ranges",
        "schedule",
        "symbolic",
    ]
)
"""File names that several modules still carry."""

SHARED_CLASS_NAMES: Final[frozenset[str]] = frozenset(
    [
        "Cell",
        "Direction",
        "Fact",
        "Group",
        "Kind",
        "Part",
        "Piece",
        "Reading",
        "Rest",
        "Solution",
        "Step",
        "Unknown",
        "View",
    ]
)
"""Class names that several classes still carry."""

LIMITS: Final[frozenset[str]] = frozenset(
    [
        "indexing/layout/view/layout_svg.py: _LONGEST_INDEX",
        "indexing/layout/view/layout_svg.py: _LONGEST_TITLE",
        "indexing/layout/view/picture.py: MOST_PLANES",
        "indexing/layout/view/picture.py: MOST_ROWS",
        "simplifier/exact/improve.py: _MOST_PIECES",
    ]
)
"""Limits that still have no reason beside them."""
