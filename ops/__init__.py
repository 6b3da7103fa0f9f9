"""Tensor operations: shapes and attributes in, indexing maps out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexing import startup as startup  # first: it says what hides the packages beside this one
from simplifier.tools.late import announce, exports

if TYPE_CHECKING:
    from indexing.layout import ShapeError as ShapeError
    from ops.advice import Advice as Advice
    from ops.advice import AdviceList as AdviceList
    from ops.advice import advise as advise
    from ops.analysis.queries import InstructionAnalysis as InstructionAnalysis
    from ops.analysis.queries import InstructionIndexing as InstructionIndexing
    from ops.analysis.queries import ModuleAnalysis as ModuleAnalysis
    from ops.analysis.queries import analyze as analyze
    from ops.analysis.queries import fusion_indexing as fusion_indexing
    from ops.analysis.queries import input_to_output as input_to_output
    from ops.analysis.queries import output_to_input as output_to_input
    from ops.analysis.queries import parameter_indexing as parameter_indexing
    from ops.dependence.operand_indexing import OperandIndexing as OperandIndexing
    from ops.dependence.operand_indexing import RuntimeOrigin as RuntimeOrigin
    from ops.explorer import Exploration as Exploration
    from ops.explorer import explore as explore
    from ops.fusion import Fusion as Fusion
    from ops.fusion import FusionError as FusionError
    from ops.fusion import Provenance as Provenance
    from ops.fusion import Reads as Reads
    from ops.fusion import Reason as Reason
    from ops.fusion import TileRead as TileRead
    from ops.fusion import access_picture as access_picture
    from ops.fusion import by_producer as by_producer
    from ops.fusion import fusion_graph as fusion_graph
    from ops.fusion import reads as reads
    from ops.fusion import why as why
    from ops.hlo.errors import AmbiguousNameError as AmbiguousNameError
    from ops.hlo.errors import NoSuchInstructionError as NoSuchInstructionError
    from ops.hlo.parser import load as load
    from ops.jax import from_jax as from_jax
    from ops.kernels import KernelError as KernelError
    from ops.kernels import emit_kernel as emit_kernel
    from ops.loop_dependence import Conflict as Conflict
    from ops.loop_dependence import InPlaceUpdate as InPlaceUpdate
    from ops.loop_dependence import Loop as Loop
    from ops.loop_dependence import LoopDependence as LoopDependence
    from ops.loop_dependence import LoopError as LoopError
    from ops.loop_dependence import loops as loops
    from ops.modules.batch import Batch as Batch
    from ops.modules.batch import FileAnswer as FileAnswer
    from ops.modules.batch import QuestionError as QuestionError
    from ops.modules.batch import WorkerDiedError as WorkerDiedError
    from ops.modules.batch import analyze_files as analyze_files
    from ops.modules.difference import Change as Change
    from ops.modules.difference import ChangeKind as ChangeKind
    from ops.modules.difference import ModuleDifference as ModuleDifference
    from ops.modules.difference import diff as diff
    from ops.performance import Coalescing as Coalescing
    from ops.performance import Summary as Summary
    from ops.performance import Utilization as Utilization
    from ops.performance import coalescing as coalescing
    from ops.performance import load_picture as load_picture
    from ops.performance import summary as summary
    from ops.performance import utilization as utilization
    from ops.rules.collectives import Root as Root
    from ops.rules.collectives import all_gather as all_gather
    from ops.rules.collectives import all_reduce as all_reduce
    from ops.rules.collectives import all_to_all as all_to_all
    from ops.rules.collectives import all_to_all_of_tuple as all_to_all_of_tuple
    from ops.rules.collectives import collective_broadcast as collective_broadcast
    from ops.rules.collectives import collective_permute as collective_permute
    from ops.rules.collectives import collective_reduce as collective_reduce
    from ops.rules.collectives import ragged_all_to_all as ragged_all_to_all
    from ops.rules.collectives import reduce_scatter as reduce_scatter
    from ops.rules.control import generated as generated
    from ops.rules.control import rng as rng
    from ops.rules.control import rng_bit_generator as rng_bit_generator
    from ops.rules.data_movement import bitcast as bitcast
    from ops.rules.data_movement import bitcast_convert as bitcast_convert
    from ops.rules.data_movement import broadcast as broadcast
    from ops.rules.data_movement import concatenate as concatenate
    from ops.rules.data_movement import pad as pad
    from ops.rules.data_movement import permute as permute
    from ops.rules.data_movement import reshape as reshape
    from ops.rules.data_movement import reverse as reverse
    from ops.rules.data_movement import rotate as rotate
    from ops.rules.data_movement import slice as slice  # noqa: A004 - the operation's name
    from ops.rules.data_movement import transpose as transpose
    from ops.rules.dynamic import dynamic_reshape as dynamic_reshape
    from ops.rules.dynamic import dynamic_slice as dynamic_slice
    from ops.rules.dynamic import dynamic_update_slice as dynamic_update_slice
    from ops.rules.dynamic import get_dimension_size as get_dimension_size
    from ops.rules.dynamic import set_dimension_size as set_dimension_size
    from ops.rules.elementwise import elementwise as elementwise
    from ops.rules.gather_scatter import gather as gather
    from ops.rules.gather_scatter import scatter as scatter
    from ops.rules.linear_algebra import cholesky as cholesky
    from ops.rules.linear_algebra import dot as dot
    from ops.rules.linear_algebra import fft as fft
    from ops.rules.linear_algebra import ragged_dot as ragged_dot
    from ops.rules.linear_algebra import scaled_dot as scaled_dot
    from ops.rules.linear_algebra import triangular_solve as triangular_solve
    from ops.rules.reduce import StepUse as StepUse
    from ops.rules.reduce import batch_norm_grad as batch_norm_grad
    from ops.rules.reduce import batch_norm_inference as batch_norm_inference
    from ops.rules.reduce import batch_norm_training as batch_norm_training
    from ops.rules.reduce import reduce as reduce
    from ops.rules.reduce import scan as scan
    from ops.rules.reduce import sort as sort
    from ops.rules.reduce import top_k as top_k
    from ops.rules.registry import REGISTRY as REGISTRY
    from ops.rules.registry import Registry as Registry
    from ops.rules.rule import OpIndexing as OpIndexing
    from ops.rules.rule import Origin as Origin
    from ops.rules.rule import Unknown as Unknown
    from ops.rules.windows import convolution as convolution
    from ops.rules.windows import reduce_window as reduce_window
    from ops.rules.windows import select_and_scatter as select_and_scatter
    from ops.stablehlo import MlirTextError as MlirTextError
    from ops.tiling import ArrayTile as ArrayTile
    from ops.tiling import DimensionKind as DimensionKind
    from ops.tiling import Propagation as Propagation
    from ops.tiling import TilingCandidate as TilingCandidate
    from ops.tiling import TilingDimension as TilingDimension
    from ops.tiling import Tilings as Tilings
    from ops.tiling import TilingSpace as TilingSpace
    from ops.tiling import propagate as propagate
    from ops.tiling import tilings as tilings
    from ops.xla_gpu import Emitter as Emitter
    from ops.xla_gpu import FusionSchedule as FusionSchedule
    from ops.xla_gpu import schedule_of as schedule_of
else:
    __all__, __getattr__, __dir__ = exports(__name__)

announce("ops.hlo.parser.OTHER_READERS", "ops.stablehlo")
announce("ops.hlo.shape_inference.SHAPE_RULES", "ops.rules.registry")
