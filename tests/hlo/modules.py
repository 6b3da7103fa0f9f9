"""The real modules in ``tests/data/hlo``, dumped by JAX for several targets, in several styles."""

from __future__ import annotations

import gzip
from functools import lru_cache
from pathlib import Path
from typing import Final

from tests.extent import IN_CI

FOLDER: Final = Path(__file__).parents[1] / "data" / "hlo"
ALL: Final = sorted(
    str(path.relative_to(FOLDER)).removesuffix(".hlo.gz") for path in FOLDER.rglob("*.hlo.gz")
)
"""Such as ``cpu/softmax`` or ``printing_styles/softmax.opt.short``."""

STYLED: Final = "printing_styles"

_OTHERS: Final = """
cpu/collectives_shard_map cpu/control_flow cpu/conv_zoo cpu/sort_topk gpu/collectives_shard_map
gpu/control_flow gpu/elementwise_zoo gpu/embedding_grad gpu/resnet_block_fwd
tpu/collectives_shard_map tpu/constants_degenerate tpu/control_flow tpu/dynamic_slice_zoo
tpu/embedding_grad tpu/roll tpu/softmax unoptimized/callbacks_tokens
unoptimized/collectives_shard_map unoptimized/control_flow unoptimized/conv_zoo
unoptimized/interior_pad unoptimized/low_precision unoptimized/sort_topk
"""
COVER: Final = (*(name for name in ALL if name.startswith(f"{STYLED}/softmax.")), *_OTHERS.split())
"""Those that have together what all have: ``test_the_cover_has_what_all_modules_have``."""

NAMES: Final = [name for name in ALL if IN_CI or name in COVER]
"""The modules that tests go through."""


@lru_cache(maxsize=16)
def module_text(name: str) -> str:
    return gzip.decompress((FOLDER / f"{name}.hlo.gz").read_bytes()).decode("utf-8")
