"""The attributes of instructions and modules, by name, and the kind of value that each has."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from ops.hlo import codecs as formats

if TYPE_CHECKING:
    from ops.hlo.codecs import Format


class Reference(enum.Enum):
    """A value that names other parts of the module."""

    COMPUTATION = "a computation, by name or written in braces"
    COMPUTATIONS = "computations"
    INSTRUCTIONS = "instructions of the same computation"
    LITERAL = "a shape and a literal"


COMMON_ATTRIBUTES: dict[str, Format | Reference] = {
    "sharding": formats.RAW,
    "parameter_replication": formats.BOOLEANS,
    "control-predecessors": Reference.INSTRUCTIONS,
    "origin": formats.RAW,
    "frontend_attributes": formats.FRONTEND,
    "metadata": formats.METADATA,
    "statistics": formats.RAW,
    "backend_config": formats.RAW,
}
"""What every instruction may have."""

ATTRIBUTES: dict[str, Format | Reference] = {
    "algorithm": formats.WORD,
    "api_version": formats.WORD,
    "async_execution_thread": formats.STRING,
    "batch_group_count": formats.INTEGER,
    "body": Reference.COMPUTATION,
    "branch_computations": Reference.COMPUTATIONS,
    "called_computations": Reference.COMPUTATIONS,
    "calls": Reference.COMPUTATION,
    "channel_id": formats.INTEGER,
    "collapsed_slice_dims": formats.INTEGERS,
    "condition": Reference.COMPUTATION,
    "constrain_layout": formats.BOOLEAN,
    "convolution_kind": formats.WORD,
    "cross_program_prefetch_index": formats.INTEGER,
    "custom_call_has_side_effect": formats.BOOLEAN,
    "custom_call_target": formats.STRING,
    "delta": formats.INTEGER,
    "dim_labels": formats.LABELS,
    "dimensions": formats.INTEGERS,
    "direction": formats.WORD,
    "distribution": formats.WORD,
    "domain": formats.RAW,
    "dynamic_slice_sizes": formats.INTEGERS,
    "epsilon": formats.FLOAT,
    "exponent_bits": formats.INTEGER,
    "false_computation": Reference.COMPUTATION,
    "feature_group_count": formats.INTEGER,
    "feature_index": formats.INTEGER,
    "fft_length": formats.INTEGERS,
    "fft_type": formats.WORD,
    "has_dynamic_root": formats.BOOLEAN,
    "index": formats.INTEGER,
    "index_vector_dim": formats.INTEGER,
    "indices": Reference.LITERAL,
    "indices_are_sorted": formats.BOOLEAN,
    "infeed_config": formats.STRING,
    "inferred_dimension": formats.INTEGER,
    "input_batching_dims": formats.INTEGERS,
    "inserted_window_dims": formats.INTEGERS,
    "iota_dimension": formats.INTEGER,
    "is_associative": formats.WORD,
    "is_composite": formats.BOOLEAN,
    "is_host_transfer": formats.BOOLEAN,
    "is_reverse": formats.BOOLEAN,
    "is_stable": formats.BOOLEAN,
    "k": formats.INTEGER,
    "kind": formats.WORD,
    "largest": formats.BOOLEAN,
    "left_side": formats.BOOLEAN,
    "lhs_batch_dims": formats.INTEGERS,
    "lhs_contracting_dims": formats.INTEGERS,
    "lhs_ragged_dims": formats.INTEGERS,
    "literal": Reference.LITERAL,
    "lower": formats.BOOLEAN,
    "mantissa_bits": formats.INTEGER,
    "mode": formats.WORD,
    "num_carries": formats.INTEGER,
    "offset_dims": formats.INTEGERS,
    "operand_batching_dims": formats.INTEGERS,
    "operand_layout_constraints": formats.SHAPES,
    "operand_precision": formats.WORDS,
    "outfeed_config": formats.STRING,
    "outfeed_shape": formats.SHAPE,
    "output_to_operand_aliasing": formats.ALIASING,
    "padding": formats.PADDING,
    "padding_type": formats.WORD,
    "replica_groups": formats.REPLICA_GROUPS,
    "result_accuracy": formats.RAW,
    "rhs_batch_dims": formats.INTEGERS,
    "rhs_contracting_dims": formats.INTEGERS,
    "rhs_group_dims": formats.INTEGERS,
    "scatter": Reference.COMPUTATION,
    "scatter_dims_to_operand_dims": formats.INTEGERS,
    "scatter_indices_batching_dims": formats.INTEGERS,
    "schedule": formats.WORD,
    "select": Reference.COMPUTATION,
    "shifts": formats.INTEGERS,
    "slice": formats.SLICES,
    "slice_sizes": formats.NESTED_INTEGERS,
    "source_target_pairs": formats.INTEGER_LISTS,
    "sparsity_config": formats.RAW,
    "start_index_map": formats.INTEGERS,
    "start_indices_batching_dims": formats.INTEGERS,
    "to_apply": Reference.COMPUTATION,
    "transpose_a": formats.WORD,
    "true_computation": Reference.COMPUTATION,
    "type": formats.WORD,
    "unique_indices": formats.BOOLEAN,
    "unit_diagonal": formats.BOOLEAN,
    "update_window_dims": formats.INTEGERS,
    "use_global_device_ids": formats.BOOLEAN,
    "window": formats.WINDOW,
    **COMMON_ATTRIBUTES,
}
"""What the attributes of instructions hold; :mod:`ops.hlo.opcodes` says which opcode has which."""

MODULE_ATTRIBUTES: dict[str, Format] = {
    "is_scheduled": formats.BOOLEAN,
    "replica_count": formats.INTEGER,
    "num_partitions": formats.INTEGER,
    "input_output_alias": formats.ALIASING,
    "buffer_donor": formats.DONORS,
    "alias_passthrough_params": formats.BOOLEAN,
    "entry_computation_layout": formats.PROGRAM_SHAPE,
    "frontend_attributes": formats.FRONTEND,
    "allow_spmd_sharding_propagation_to_parameters": formats.BOOLEANS,
    "allow_spmd_sharding_propagation_to_output": formats.BOOLEANS,
    "origin_recovery_table": formats.RAW,
}
"""What may follow the name of a module."""
