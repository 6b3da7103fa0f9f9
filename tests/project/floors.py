"""The floors of the three packages as data: low modules know nothing of high ones.

A floor is a row of modules and packages, and a package stands for all in it that no longer name
covers. The name of the package itself, such as ``ops``, stands for its ``__init__`` alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

Floors: TypeAlias = tuple[tuple[str, ...], ...]

FLOORS: Final[Mapping[str, Floors]] = {
    "": (("simplifier",), ("indexing",), ("ops",)),
    "simplifier": (
        ("simplifier.errors", "simplifier.limits"),
        ("simplifier.tools",),
        ("simplifier.expr",),
        ("simplifier.bounds.interval",),
        ("simplifier.laws",),
        ("simplifier.bounds",),
        ("simplifier.tabulate",),
        ("simplifier.canonical",),
        ("simplifier.extraction",),
        ("simplifier.surroundings",),
        ("simplifier.evaluation",),
        ("simplifier.choices",),
        ("simplifier.fixpoint",),
        ("simplifier.divisibility",),
        ("simplifier.problem",),
        ("simplifier.trace",),
        ("simplifier.exact",),
        ("simplifier.simplification",),
        ("simplifier",),
    ),
    "indexing": (
        ("indexing.errors", "indexing.startup", "indexing.pictures.svg", "indexing.pictures.axis"),
        ("indexing.variable",),
        ("indexing.parameters",),
        ("indexing.domain",),
        ("indexing.symbolic_bounds",),
        ("indexing.relation", "indexing.validation"),
        ("indexing.simplify",),
        ("indexing.transform",),
        ("indexing.pictures",),
        ("indexing.formats.text", "indexing.formats.isl_text"),
        ("indexing.formats.set_text", "indexing.formats.notebook"),
        ("indexing.exact",),
        ("indexing.formats",),
        ("indexing.tile", "indexing.set_relations", "indexing.index_relation"),
        ("indexing.readable_map",),
        ("indexing.derived_map",),
        ("indexing.map",),
        ("indexing.readers",),
        ("indexing.layout", "indexing.upwards"),
        ("indexing",),
        ("indexing.__main__",),
    ),
    "indexing.layout": (
        ("indexing.layout.element_type",),
        ("indexing.layout.layout",),
        ("indexing.layout.array_shape",),
        ("indexing.layout.dimensions",),
        ("indexing.layout.steps",),
        ("indexing.layout.memory",),
        ("indexing.layout.view.describe",),
        ("indexing.layout.view.picture",),
        ("indexing.layout.view",),
        ("indexing.layout.shape",),
        ("indexing.layout.maps", "indexing.layout.padded", "indexing.layout.tile_formats"),
        ("indexing.layout.free_operations",),
        ("indexing.layout.bitcasts",),
        ("indexing.layout.cute", "indexing.layout.linear"),
        ("indexing.layout",),
    ),
    "indexing.layout.linear": (
        ("indexing.layout.linear.linear_layout",),
        ("indexing.layout.linear.encoding_parts", "indexing.layout.linear.linear_maps"),
        ("indexing.layout.linear.encodings", "indexing.layout.linear.shared_encodings"),
        (
            "indexing.layout.linear.linear_text",
            "indexing.layout.linear.encoding_text",
            "indexing.layout.linear.conversion",
            "indexing.layout.linear.linear_picture",
        ),
        ("indexing.layout.linear",),
    ),
    "indexing.layout.cute": (
        ("indexing.layout.cute.int_tuple",),
        ("indexing.layout.cute.cute_layout",),
        ("indexing.layout.cute.layout_algebra",),
        ("indexing.layout.cute.divide_product", "indexing.layout.cute.swizzle"),
        (
            "indexing.layout.cute.cute_text",
            "indexing.layout.cute.cute_maps",
            "indexing.layout.cute.cute_picture",
        ),
        ("indexing.layout.cute",),
    ),
    "ops": (
        ("ops.sizes", "ops.limits", "ops.accelerators", "ops.mlir"),
        ("ops.index_maps",),
        ("ops.hlo",),
        ("ops.devices",),
        ("ops.rules",),
        ("ops.dependence",),
        ("ops.analysis",),
        ("ops.loops", "ops.schedules"),
        ("ops.fusion",),
        ("ops.kernels",),
        ("ops.performance",),
        ("ops.tiling",),
        ("ops.modules", "ops.jaxpr", "ops.explorer", "ops.stablehlo"),
        ("ops.pallas", "ops.triton"),
        ("ops",),
        ("ops.cli",),
    ),
    "ops.hlo": (
        ("ops.hlo.errors",),
        ("ops.hlo.hlo_lexer", "ops.hlo.protobuf"),
        ("ops.hlo.files",),
        ("ops.hlo.values", "ops.hlo.replica_groups", "ops.hlo.literal"),
        ("ops.hlo.attributes",),
        ("ops.hlo.opcodes", "ops.hlo.neutral_elements"),
        ("ops.hlo.names",),
        ("ops.hlo.module",),
        (
            "ops.hlo.symbol_table",
            "ops.hlo.verifier",
            "ops.hlo.result_sizes",
            "ops.hlo.side_effects",
        ),
        ("ops.hlo.shape_inference", "ops.hlo.size_rules"),
        (
            "ops.hlo.true_sizes",
            "ops.hlo.draft",
            "ops.hlo.uses",
            "ops.hlo.source_location",
            "ops.hlo.instruction_builder",
        ),
        ("ops.hlo.new_instruction", "ops.hlo.outline"),
        ("ops.hlo.editor",),
        ("ops.hlo.instruction_reader",),
        ("ops.hlo.stablehlo",),
        ("ops.hlo.module_reader",),
        ("ops.hlo.dumps",),
        ("ops.hlo",),
    ),
    "ops.hlo.stablehlo": (
        ("ops.hlo.stablehlo.program_assembly",),
        ("ops.hlo.stablehlo.assembly", "ops.hlo.stablehlo.tracked_sizes"),
        ("ops.hlo.stablehlo.shardings", "ops.hlo.stablehlo.given_operation"),
        ("ops.hlo.stablehlo.common_attributes",),
        ("ops.hlo.stablehlo.operation_writer",),
        ("ops.hlo.stablehlo.construction",),
        ("ops.hlo.stablehlo.attribute_conversions", "ops.hlo.stablehlo.device_operations"),
        ("ops.hlo.stablehlo.compiled_operations", "ops.hlo.stablehlo.entry_attributes"),
        ("ops.hlo.stablehlo.operation_table",),
        ("ops.hlo.stablehlo.computed_sizes", "ops.hlo.stablehlo.control_flow"),
        ("ops.hlo.stablehlo.constructions",),
        ("ops.hlo.stablehlo.computation_writer",),
        ("ops.hlo.stablehlo.module_writer",),
        ("ops.hlo.stablehlo.stablehlo_reader",),
        ("ops.hlo.stablehlo",),
    ),
    "ops.mlir": (
        ("ops.mlir.mlir_lexer",),
        ("ops.mlir.mlir_types",),
        ("ops.mlir.dense_elements", "ops.mlir.locations"),
        ("ops.mlir.mlir_attributes",),
        ("ops.mlir.operation",),
        ("ops.mlir.operation_reader",),
        ("ops.mlir.linalg",),
        ("ops.mlir",),
    ),
    "ops.jaxpr": (
        ("ops.jaxpr.primitives",),
        ("ops.jaxpr.jaxpr_builder",),
        ("ops.jaxpr.composites", "ops.jaxpr.jaxpr_control_flow", "ops.jaxpr.size_values"),
        ("ops.jaxpr.from_jax",),
        ("ops.jaxpr",),
    ),
    "ops.pallas": (
        ("ops.pallas.errors",),
        ("ops.pallas.block_spec",),
        ("ops.pallas.blocked_array",),
        ("ops.pallas.index_map_jaxpr", "ops.pallas.pallas_call"),
        ("ops.pallas.from_pallas",),
        ("ops.pallas",),
    ),
    "ops.explorer": (
        ("ops.explorer.page_code", "ops.explorer.views"),
        ("ops.explorer.page_data", "ops.explorer.widget"),
        ("ops.explorer.exploration",),
        ("ops.explorer",),
    ),
    "ops.triton": (
        ("ops.triton.kernel_text", "ops.triton.kernel_values"),
        ("ops.triton.thread_layout", "ops.triton.known_numbers", "ops.triton.loop_values"),
        ("ops.triton.expressions",),
        ("ops.triton.kernel_access", "ops.triton.tl_functions"),
        ("ops.triton.interpreter",),
        ("ops.triton.read_kernel",),
        ("ops.triton",),
    ),
    "ops.cli": (
        ("ops.cli.documents", "ops.cli.selection", "ops.cli.svg_files", "ops.cli.terminal"),
        ("ops.cli.console", "ops.cli.reports", "ops.cli.tables"),
        (
            "ops.cli.examples",
            "ops.cli.kernel_questions",
            "ops.cli.layout_report",
            "ops.cli.loop_questions",
            "ops.cli.map_questions",
            "ops.cli.memory_questions",
            "ops.cli.module_questions",
        ),
        ("ops.cli.explorer_file", "ops.cli.module_difference", "ops.cli.simplified"),
        ("ops.cli.commands", "ops.cli.options"),
        ("ops.cli.main",),
        ("ops.cli",),
    ),
}
"""The floors inside each package, low ones first; "" has those of the packages."""

RECURSIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "a form and its printer": ("simplifier.expr.form", "simplifier.expr.printer"),
}
"""Modules that may import each other, also in functions, by the name of the recursion they are."""

IMPORTS_UPWARDS: Final[Mapping[tuple[str, str], str]] = {
    ("indexing.__main__", "ops.cli"): "`python -m indexing` starts the command line",
    ("indexing.upwards", "ops.explorer"): "`indexing.explore`, in a function, shows a program",
}
"""The doors upwards: which module imports which package above it, and why."""

LOADED_LATE: Final[Mapping[str, str]] = {
    "islpy": "a tenth of a second, and only exact questions need it",
    "numpy": "a tenth of a second, and only arrays need it",
    "jax": "an extra",
    "tqdm": "an extra",
    "anywidget": "an extra",
    "traitlets": "an extra, with anywidget",
    "importlib.metadata": "a fiftieth of a second, and only the version needs it",
    "concurrent.futures": "only work in several processes needs it",
    "multiprocessing": "only work in several processes needs it",
}
"""What a function may import by itself, and why: all else stands on top of its module."""

LIMIT_WORDS: Final = ("MAX", "BUDGET", "LIMIT")
"""How the names of constants begin that bound something; each says beside it why so much."""

WORDS_FOR_MAX: Final = ("MOST", "LONGEST", "DEEPEST", "LARGEST")
"""How no constant begins: MAX is the word for a limit."""

SAME_IDEA: Final[Mapping[str, str]] = {
    "__init__": "the door of each package",
    "errors": "the errors of each package",
    "limits": "how much each package does at most, with the reasons",
}
"""File names that several modules may carry, and the idea that these share."""

SAME_CLASS_NAME: Final[Mapping[str, str]] = {
    "Step": "public in both packages: of a simplification, and from an index to its offset",
}
"""Class names that several classes may carry, and why."""
