"""What the tests about floors and names still let pass; it shrinks to nothing."""

from __future__ import annotations

from typing import Final

IMPORTS: Final[frozenset[tuple[str, str]]] = frozenset(
    [
        ("indexing.exact.reading", "indexing.exact.sets"),
        ("indexing.exact.sets", "indexing.exact.reading"),
        ("ops.analysis.answers", "ops.analysis.chaining"),
        ("ops.analysis.chaining", "ops.analysis.answers"),
        ("ops.analysis.chaining", "ops.analysis.dependences"),
        ("ops.analysis.chaining", "ops.analysis.known_values"),
        ("ops.analysis.chaining", "ops.analysis.widening"),
        ("ops.analysis.dependences", "ops.analysis.answers"),
        ("ops.analysis.known_values", "ops.analysis.answers"),
        ("ops.analysis.known_values", "ops.analysis.dependences"),
        ("ops.analysis.widening", "ops.analysis.answers"),
        ("ops.analysis.widening", "ops.analysis.dependences"),
        ("ops.modules.analysis", "ops.modules.html"),
        ("ops.modules.html", "ops.modules.analysis"),
        ("simplifier.bounds.digits", "simplifier.bounds.maxima"),
        ("simplifier.bounds.digits", "simplifier.canonical.scope"),
        ("simplifier.bounds.digits", "simplifier.laws.catalogue.ranges"),
        ("simplifier.bounds.propagation", "simplifier.laws.catalogue.constraints"),
        ("simplifier.bounds.propagation", "simplifier.laws.law"),
        ("simplifier.bounds.facts", "simplifier.canonical.scope"),
        ("simplifier.bounds.propagation", "simplifier.canonical.scope"),
        ("simplifier.bounds.propagation", "simplifier.laws.catalogue.constraints"),
        ("simplifier.bounds.propagation", "simplifier.laws.catalogue.ranges"),
        ("simplifier.bounds.propagation", "simplifier.laws.law"),
        ("simplifier.bounds.ranges", "simplifier.bounds.maxima"),
        ("simplifier.bounds.ranges", "simplifier.canonical.scope"),
        ("simplifier.bounds.ranges", "simplifier.laws.catalogue.ranges"),
        ("simplifier.bounds.ranges", "simplifier.laws.law"),
        ("simplifier.bounds.samples", "simplifier.canonical.scope"),
        ("simplifier.bounds.polynomials", "simplifier.canonical.scope"),
        ("simplifier.bounds.maxima", "simplifier.canonical.scope"),
        ("simplifier.canonical.extrema", "simplifier.bounds.maxima"),
        ("simplifier.canonical.extrema", "simplifier.canonical.extrema"),
        ("simplifier.canonical.extrema", "simplifier.canonical.scope"),
        ("simplifier.canonical.floordiv", "simplifier.canonical.scope"),
        ("simplifier.canonical.extrema", "simplifier.bounds.maxima"),
        ("simplifier.canonical.extrema", "simplifier.canonical.scope"),
        ("simplifier.canonical.symbolic", "simplifier.canonical.scope"),
        ("simplifier.canonical.scope", "simplifier.canonical.extrema"),
        ("simplifier.canonical.scope", "simplifier.canonical.floordiv"),
        ("simplifier.canonical.scope", "simplifier.canonical.symbolic"),
        ("simplifier.canonical.scope", "simplifier.canonical.symbolic"),
        ("simplifier.canonical.scope", "simplifier.extraction"),
        ("simplifier.canonical.symbolic", "simplifier.canonical.scope"),
        ("simplifier.expr.operations", "simplifier.limits"),
        ("simplifier.bounds.polynomials", "simplifier.canonical.scope"),
        ("simplifier.extraction.extrema", "simplifier.extraction.candidates"),
        ("simplifier.extraction.extrema", "simplifier.extraction.candidates"),
        ("simplifier.extraction.candidates", "simplifier.extraction.candidates"),
        ("simplifier.extraction.candidates", "simplifier.extraction.search"),
        ("simplifier.extraction.products", "simplifier.extraction.candidates"),
        ("simplifier.extraction.quotients", "simplifier.extraction.candidates"),
        ("simplifier.extraction.quotients", "simplifier.extraction.candidates"),
        ("simplifier.extraction.remainders", "simplifier.extraction.candidates"),
        ("simplifier.extraction.remainders", "simplifier.extraction.candidates"),
        ("simplifier.extraction.candidates", "simplifier.extraction.candidates"),
        ("simplifier.extraction.search", "simplifier.extraction.extrema"),
        ("simplifier.extraction.search", "simplifier.extraction.candidates"),
        ("simplifier.extraction.search", "simplifier.extraction.products"),
        ("simplifier.extraction.search", "simplifier.extraction.quotients"),
        ("simplifier.extraction.search", "simplifier.extraction.remainders"),
        ("simplifier.extraction.search", "simplifier.extraction.candidates"),
        ("simplifier.extraction.search", "simplifier.extraction.quotients"),
        ("simplifier.extraction.quotients", "simplifier.extraction.candidates"),
        ("simplifier.trace", "simplifier.fixpoint"),
        ("simplifier.trace", "simplifier.problem"),
    ]
)
"""Imports, from and to, that still run up or close a circle."""

HIDDEN_IMPORTS: Final[frozenset[tuple[str, str]]] = frozenset(
    [
        ("indexing.exact.sets", "indexing.exact.reading"),
        ("ops.analysis.answers", "ops.analysis.chaining"),
        ("simplifier.expr.form", "simplifier.expr.printer"),
    ]
)
"""Imports, from and to, that still stand in a function."""

UNBUILT: Final[frozenset[str]] = frozenset(
    [
        "ops.dependence",
    ]
)
"""Names on floors that no module carries yet."""

UNNAMED: Final[frozenset[str]] = frozenset([])
"""Modules that no floor names yet."""

SHARED_FILE_NAMES: Final[frozenset[str]] = frozenset(
    [
        "arguments",
        "constraints",
        "digits",
        "domain",
        "extrema",
        "fusion",
        "html",
        "isl",
        "lexer",
        "parser",
        "products",
        "questions",
        "quotients",
        "ranges",
        "schedule",
        "symbolic",
    ]
)
"""File names that several modules still carry."""

SHARED_CLASS_NAMES: Final[frozenset[str]] = frozenset(
    [
        "Array",
        "Cell",
        "Direction",
        "Fact",
        "Group",
        "Kind",
        "Part",
        "Piece",
        "Read",
        "Reader",
        "Reading",
        "Registry",
        "Rest",
        "Scope",
        "Solution",
        "Step",
        "Unknown",
        "View",
    ]
)
"""Class names that several classes still carry."""

LIMITS: Final[frozenset[str]] = frozenset(
    [
        "indexing/layout/shape.py: _LONGEST_SHOWN",
        "indexing/layout/shape.py: _MOST_DIGITS",
        "indexing/layout/view/layout_svg.py: _LONGEST_INDEX",
        "indexing/layout/view/layout_svg.py: _LONGEST_TITLE",
        "indexing/layout/view/picture.py: MOST_PLANES",
        "indexing/layout/view/picture.py: MOST_ROWS",
        "ops/hlo/lexer.py: _LONGEST_SHOWN",
        "ops/hlo/lexer.py: _MOST_DIGITS",
        "simplifier/exact/improve.py: _MOST_PIECES",
    ]
)
"""Limits that still have no reason beside them."""
