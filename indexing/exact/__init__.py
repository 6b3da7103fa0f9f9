"""Questions about maps that isl answers exactly: complete where the map is quasi-affine."""

from indexing.exact.boxes import Box, StridedInterval
from indexing.exact.differences import Difference, first_difference
from indexing.exact.images import count, count_results, domain_set, image, sample
from indexing.exact.inversion import inverse
from indexing.exact.multiplicity import multiplicities
from indexing.exact.questions import (
    covers,
    equals,
    is_bijective_onto,
    is_empty,
    is_injective,
    is_subset,
)
from indexing.exact.sets import IndexSet

__all__ = [
    "Box",
    "Difference",
    "IndexSet",
    "StridedInterval",
    "count",
    "count_results",
    "covers",
    "domain_set",
    "equals",
    "first_difference",
    "image",
    "inverse",
    "is_bijective_onto",
    "is_empty",
    "is_injective",
    "is_subset",
    "multiplicities",
    "sample",
]
