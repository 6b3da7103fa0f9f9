"""Instructions that run as one, and the questions of compilers about them."""

# A door imports for others.
# ruff: noqa: F401
# pyright: reportUnusedImport=false

from __future__ import annotations

from ops.fusion.fusion import Fusion, FusionError, Reason, TileRead, by_producer, reads, why
from ops.fusion.pictures import FusionGraph, access_picture, fusion_graph
from ops.fusion.reads import Reads
from ops.fusion.slicing import Provenance
