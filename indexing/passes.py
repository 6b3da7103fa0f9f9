"""Names that passes use beside the public methods of maps: domains, tiles, counts and hulls.

This is the door of the package for those who build maps from parts, as ``ops`` does.
"""

# A door imports for others.
# ruff: noqa: F401
# pyright: reportUnusedImport=false

from __future__ import annotations

from indexing.domain import (
    LETTERS,
    NO_VALUES,
    ByRole,
    Constraint,
    Domain,
    Ends,
    bare,
    depths_of,
    ends_and_constraints,
    limits,
    substituted_constraints,
)
from indexing.exact import few_points
from indexing.exact.counting import hull_of, multiplicities, number_of_points, number_of_results
from indexing.exact.questions import count_reached, reached, reached_again
from indexing.exact.symbolic import symbolic_count
from indexing.formats.notebook import html_of_map
from indexing.formats.text import format_head
from indexing.layout.layout import ARRAY_TYPES
from indexing.layout.maps import form_of
from indexing.layout.picture import svg_of_layout, text_of_layout
from indexing.layout.shape import (
    BLANK,
    MAX_NESTING,
    PLAIN_ARRAY,
    SHAPE_TYPES,
    plain_array,
    read_shape,
)
from indexing.relation import check_without_parameters, longest_formula, terms_in, weight
from indexing.simplify import conditioned
from indexing.tile.tile import Formulas, tile_of
from indexing.transform.evaluate import MAX_INT64, evaluate_forms, numbered, result_columns
from indexing.transform.hull import (
    MAX_TABLE_TERMS,
    MAX_VALUES,
    box,
    holds,
    hull,
    retabulated,
    shortened,
    values_in_box,
    with_tables,
)
from indexing.transform.substitute import (
    arranged,
    from_zero,
    over_domain,
    part_over,
    without_conditional_ranges,
    without_determined_ranges,
)
from indexing.validation import read_grid
from indexing.variable import (
    GRID,
    PARAMETER,
    POSITIONAL,
    check_parameters,
    counted,
    has_parameters,
    is_symbolic,
    other_use,
    over_parameters,
    parameter_identifier,
    united,
)
