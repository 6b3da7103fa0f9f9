"""The examples of the indexing document, openxla.org/xla/indexing: its HLO and its maps."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from indexing import parse_map
from ops import Unknown, fusion_indexing, hlo, input_to_output, output_to_input
from ops.dependence.dependence import Indexings

SUM = "sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) } "
ARGMAX = """argmax { a = f32[] parameter(0) b = s32[] parameter(1) c = f32[] parameter(2)
    d = s32[] parameter(3) ROOT r = (f32[], s32[]) tuple(c, d) } """


@dataclass(frozen=True)
class Example:
    """An instruction; for each operand the map from the result, and those to the results."""

    name: str
    instruction: str
    parameters: tuple[str, ...]
    to_input: tuple[str, ...]
    to_output: tuple[tuple[str, ...], ...] = ()
    callees: str = ""

    @property
    def root(self) -> hlo.Instruction:
        given = [f"p{n} = {shape} parameter({n})" for n, shape in enumerate(self.parameters)]
        body = f"{' '.join(given)} ROOT r = {self.instruction}"
        return hlo.parse(f"HloModule m {self.callees} ENTRY e {{ {body} }}").entry.root


def same(answers: tuple[Indexings, ...], expected: tuple[str, ...]) -> bool:
    """Whether each answer is one map, of the same text as the document's."""
    ways = [way for answer in answers if not isinstance(answer, Unknown) for way in answer]
    return [str(way) for way in ways] == [str(parse_map(text)) for text in expected]


EXAMPLES = [
    Example(
        "elementwise",
        "f32[10,20] add(p0, p1)",
        ("f32[10,20]", "f32[10,20]"),
        ("(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 19]",) * 2,
        (("(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 19]",),) * 2,
    ),
    Example(
        "broadcast",
        "f32[10,20,30] broadcast(p0), dimensions={1}",
        ("f32[20]",),
        ("(d0, d1, d2) -> (d1), domain: d0 in [0, 9], d1 in [0, 19], d2 in [0, 29]",),
        (("(d0)[s0, s1] -> (s0, d0, s1), domain: d0 in [0, 19], s0 in [0, 9], s1 in [0, 29]",),),
    ),
    Example(
        "transpose",
        "f32[3,6,128,12288] transpose(p0), dimensions={0,2,3,1}",
        ("f32[3,12288,6,128]",),
        (
            """(d0, d1, d2, d3) -> (d0, d3, d1, d2),
            domain: d0 in [0, 2], d1 in [0, 5], d2 in [0, 127], d3 in [0, 12287]""",
        ),
        (
            (
                """(d0, d1, d2, d3) -> (d0, d2, d3, d1),
                domain: d0 in [0, 2], d1 in [0, 12287], d2 in [0, 5], d3 in [0, 127]""",
            ),
        ),
    ),
    Example(
        "reverse",
        "f32[1,17,9,9] reverse(p0), dimensions={1,2}",
        ("f32[1,17,9,9]",),
        (
            """(d0, d1, d2, d3) -> (d0, -d1 + 16, -d2 + 8, d3),
            domain: d0 in [0, 0], d1 in [0, 16], d2 in [0, 8], d3 in [0, 8]""",
        ),
        (
            (
                """(d0, d1, d2, d3) -> (d0, -d1 + 16, -d2 + 8, d3),
                domain: d0 in [0, 0], d1 in [0, 16], d2 in [0, 8], d3 in [0, 8]""",
            ),
        ),
    ),
    Example(
        "variadic reduce",
        "(f32[10], s32[10]) reduce(p0, p1, p2, p3), dimensions={0}, to_apply=argmax",
        ("f32[256,10]", "s32[256,10]", "f32[]", "s32[]"),
        (
            "(d0)[s0] -> (s0, d0), domain: d0 in [0, 9], s0 in [0, 255]",
            "(d0)[s0] -> (s0, d0), domain: d0 in [0, 9], s0 in [0, 255]",
            "(d0) -> (), domain: d0 in [0, 9]",
            "(d0) -> (), domain: d0 in [0, 9]",
        ),
        (
            ("(d0, d1) -> (d1), domain: d0 in [0, 255], d1 in [0, 9]",) * 2,
            ("(d0, d1) -> (d1), domain: d0 in [0, 255], d1 in [0, 9]",) * 2,
            ("()[s0] -> (s0), domain: s0 in [0, 9]",) * 2,
            ("()[s0] -> (s0), domain: s0 in [0, 9]",) * 2,
        ),
        ARGMAX,
    ),
    Example(
        "reduce",
        "f32[4,8] reduce(p0, p1), dimensions={0,3}, to_apply=sum",
        ("f32[2,4,8,16]", "f32[]"),
        (
            """(d0, d1)[s0, s1] -> (s0, d0, d1, s1),
            domain: d0 in [0, 3], d1 in [0, 7], s0 in [0, 1], s1 in [0, 15]""",
            "(d0, d1) -> (), domain: d0 in [0, 3], d1 in [0, 7]",
        ),
        callees=SUM,
    ),
    Example(
        "slice",
        "f32[5,3,25] slice(p0), slice={[5:10:1], [3:20:7], [0:50:2]}",
        ("f32[10,20,50]",),
        (
            """(d0, d1, d2) -> (d0 + 5, d1 * 7 + 3, d2 * 2),
            domain: d0 in [0, 4], d1 in [0, 2], d2 in [0, 24]""",
        ),
        (
            (
                """(d0, d1, d2) -> (d0 - 5, (d1 - 3) floordiv 7, d2 floordiv 2),
                domain: d0 in [5, 9], d1 in [3, 17], d2 in [0, 48],
                (d1 - 3) mod 7 in [0, 0], d2 mod 2 in [0, 0]""",
            ),
        ),
    ),
    Example(
        "collapse shape",
        "f32[32] reshape(p0)",
        ("f32[4,8]",),
        ("(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]",),
        (("(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]",),),
    ),
    Example(
        "expand shape",
        "f32[4,8] reshape(p0)",
        ("f32[32]",),
        ("(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]",),
        (("(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]",),),
    ),
    Example(
        "generic reshape, linearized and delinearized",
        "f32[2,4,4] reshape(p0)",
        ("f32[4,8]",),
        (
            """(d0, d1, d2) -> (d0 * 2 + d1 floordiv 2, (d1 mod 2) * 4 + d2),
            domain: d0 in [0, 1], d1 in [0, 3], d2 in [0, 3]""",
        ),
        (
            (
                """(d0, d1) -> (d0 floordiv 2, (d0 mod 2) * 2 + d1 floordiv 4, d1 mod 4),
                domain: d0 in [0, 3], d1 in [0, 7]""",
            ),
        ),
    ),
    Example(
        "generic reshape, expanded and collapsed",
        "f32[32,3,4] reshape(p0)",
        ("f32[4,8,12]",),
        (
            """(d0, d1, d2) -> (d0 floordiv 8, d0 mod 8, d1 * 4 + d2),
            domain: d0 in [0, 31], d1 in [0, 2], d2 in [0, 3]""",
        ),
        (
            (
                """(d0, d1, d2) -> (d0 * 8 + d1, d2 floordiv 4, d2 mod 4),
                domain: d0 in [0, 3], d1 in [0, 7], d2 in [0, 11]""",
            ),
        ),
    ),
    Example(
        "concatenate",
        "f32[2,33,7] concatenate(p0, p1, p2), dimensions={1}",
        ("f32[2,5,7]", "f32[2,11,7]", "f32[2,17,7]"),
        (
            "(d0, d1, d2) -> (d0, d1, d2), domain: d0 in [0, 1], d1 in [0, 4], d2 in [0, 6]",
            "(d0, d1, d2) -> (d0, d1 - 5, d2), domain: d0 in [0, 1], d1 in [5, 15], d2 in [0, 6]",
            "(d0, d1, d2) -> (d0, d1 - 16, d2), domain: d0 in [0, 1], d1 in [16, 32], d2 in [0, 6]",
        ),
        (
            ("(d0, d1, d2) -> (d0, d1, d2), domain: d0 in [0, 1], d1 in [0, 4], d2 in [0, 6]",),
            (
                """(d0, d1, d2) -> (d0, d1 + 5, d2),
                domain: d0 in [0, 1], d1 in [0, 10], d2 in [0, 6]""",
            ),
            (
                """(d0, d1, d2) -> (d0, d1 + 16, d2),
                domain: d0 in [0, 1], d1 in [0, 16], d2 in [0, 6]""",
            ),
        ),
    ),
    Example(
        "dot",
        """f32[4,128,64] dot(p0, p1), lhs_batch_dims={0}, rhs_batch_dims={0},
        lhs_contracting_dims={2}, rhs_contracting_dims={1}""",
        ("f32[4,128,256]", "f32[4,256,64]"),
        (
            """(d0, d1, d2)[s0] -> (d0, d1, s0),
            domain: d0 in [0, 3], d1 in [0, 127], d2 in [0, 63], s0 in [0, 255]""",
            """(d0, d1, d2)[s0] -> (d0, s0, d2),
            domain: d0 in [0, 3], d1 in [0, 127], d2 in [0, 63], s0 in [0, 255]""",
        ),
        (
            (
                """(d0, d1, d2)[s0] -> (d0, d1, s0),
                domain: d0 in [0, 3], d1 in [0, 127], d2 in [0, 255], s0 in [0, 63]""",
            ),
            (
                # The document ends in d1 here, the index of the contracted dimension.
                """(d0, d1, d2)[s0] -> (d0, s0, d2),
                domain: d0 in [0, 3], d1 in [0, 255], d2 in [0, 63], s0 in [0, 127]""",
            ),
        ),
    ),
    Example(
        "pad",
        "f32[12,16] pad(p0, p1), padding=1_4_1x4_8_0",
        ("f32[4,4]", "f32[]"),
        (
            """(d0, d1) -> ((d0 - 1) floordiv 2, d1 - 4),
            domain: d0 in [1, 7], d1 in [4, 7], (d0 - 1) mod 2 in [0, 0]""",
            "(d0, d1) -> (), domain: d0 in [0, 11], d1 in [0, 15]",
        ),
    ),
]

every_example = pytest.mark.parametrize("example", EXAMPLES, ids=[row.name for row in EXAMPLES])


@every_example
def test_results_lead_to_operands(example: Example) -> None:
    assert same(output_to_input(example.root).indexing, example.to_input)


@pytest.mark.parametrize(
    ("example", "operand"),
    [
        pytest.param(row, operand, id=f"{row.name} {operand}")
        for row in EXAMPLES
        for operand in range(len(row.to_output))
    ],
)
def test_operands_lead_to_results(example: Example, operand: int) -> None:
    assert same(input_to_output(example.root, operand).indexing, example.to_output[operand])


@pytest.mark.parametrize(
    "instruction", ["f32[5] constant({1,2,3,4,5})", "s32[5,7] iota(), iota_dimension=0"]
)
def test_constants_have_no_operands(instruction: str) -> None:
    assert output_to_input(Example("", instruction, (), ()).root).indexing == ()


# Fusions.


def of_dot(results: str, ranges: str = "") -> str:
    """A map from the result of the dot below."""
    bounds = "d0 in [0, 15], d1 in [0, 3], d2 in [0, 2], d3 in [0, 5], d4 in [0, 127]"
    return f"(d0, d1, d2, d3, d4){results}, domain: {bounds}{ranges}"


FUSIONS: dict[str, tuple[str, tuple[tuple[str, ...], ...]]] = {
    "one input, several maps": (
        """f { p0 = f32[1000,1000] parameter(0)
        t = f32[1000,1000]{0,1} transpose(p0), dimensions={1,0}
        ROOT a0 = f32[1000,1000] add(p0, t) }""",
        (
            (
                "(d0, d1) -> (d0, d1), domain: d0 in [0, 999], d1 in [0, 999]",
                "(d0, d1) -> (d1, d0), domain: d0 in [0, 999], d1 in [0, 999]",
            ),
        ),
    ),
    "one input, equal maps": (
        """f { p0 = f32[20,10,50] parameter(0)
        l1 = f32[10,20,50] transpose(p0), dimensions={1,0,2}
        le = f32[10,20,50] exponential(l1)
        l2 = f32[10,50,20] transpose(le), dimensions={0,2,1}
        r1 = f32[50,10,20] transpose(p0), dimensions={2,1,0}
        re = f32[50,10,20] exponential(r1)
        r2 = f32[10,50,20] transpose(re), dimensions={1,0,2}
        ROOT add = f32[10,50,20] add(l2, r2) }""",
        (
            (
                """(d0, d1, d2) -> (d2, d0, d1),
                domain: d0 in [0, 9], d1 in [0, 49], d2 in [0, 19]""",
            ),
        ),
    ),
    "softmax": (
        """f { p0 = f32[2,65,125] parameter(0) low = f32[] constant(-inf) zero = f32[] constant(0)
        m = f32[2,65] reduce(p0, low), dimensions={2}, to_apply=sum
        mb = f32[2,65,125] broadcast(m), dimensions={0,1}
        d = f32[2,65,125] subtract(p0, mb) e = f32[2,65,125] exponential(d)
        s = f32[2,65] reduce(e, zero), dimensions={2}, to_apply=sum
        sb = f32[2,65,125] broadcast(s), dimensions={0,1}
        ROOT r = f32[2,65,125] divide(e, sb) }""",
        (
            (
                "(d0, d1, d2) -> (d0, d1, d2), domain: d0 in [0, 1], d1 in [0, 64], d2 in [0, 124]",
                """(d0, d1, d2)[s0] -> (d0, d1, s0),
                domain: d0 in [0, 1], d1 in [0, 64], d2 in [0, 124], s0 in [0, 124]""",
            ),
        ),
    ),
    "reshapes that cancel": (
        """f { p0 = f32[10,10,10] parameter(0) a = f32[50,20] reshape(p0)
        ROOT b = f32[10,10,10] reshape(a) }""",
        (("(d0, d1, d2) -> (d0, d1, d2), domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]",),),
    ),
    "paths that meet again": (
        """f { p0 = f32[4] parameter(0) p1 = f32[4] parameter(1) sum = f32[4] add(p0, p1)
        l1 = f32[3] slice(sum), slice={[0:3]} r1 = f32[3] slice(sum), slice={[1:4]}
        next = f32[3] add(l1, r1)
        l2 = f32[2] slice(next), slice={[0:2]} r2 = f32[2] slice(next), slice={[1:3]}
        ROOT r = f32[2] add(l2, r2) }""",
        (
            (
                "(d0) -> (d0), domain: d0 in [0, 1]",
                "(d0) -> (d0 + 1), domain: d0 in [0, 1]",
                "(d0) -> (d0 + 2), domain: d0 in [0, 1]",
            ),
        )
        * 2,
    ),
    "dot of narrow numbers": (
        """f { p0 = bf16[16,4,768] parameter(0) p1 = s8[3,12288,6,128] parameter(1)
        p2 = bf16[] parameter(2) p3 = bf16[3,6,128] parameter(3)
        p4 = bf16[128] parameter(4) p5 = pred[16,4] parameter(5)
        wide = bf16[3,12288,6,128] convert(p1)
        offset = bf16[3,12288,6,128] broadcast(p2), dimensions={}
        moved = bf16[3,12288,6,128] subtract(wide, offset)
        blocks = bf16[3,16,768,6,128] reshape(moved)
        d = bf16[16,4,3,6,128] dot(p0, blocks), lhs_batch_dims={0}, rhs_batch_dims={1},
          lhs_contracting_dims={2}, rhs_contracting_dims={2}
        scale = bf16[16,4,3,6,128] broadcast(p3), dimensions={2,3,4}
        scaled = bf16[16,4,3,6,128] multiply(d, scale)
        bias = bf16[16,4,3,6,128] broadcast(p4), dimensions={4}
        shifted = bf16[16,4,3,6,128] add(scaled, bias)
        mask = pred[16,4,3,6,128] broadcast(p5), dimensions={0,1}
        ROOT r = bf16[16,4,3,6,128] select(mask, shifted, bias) }""",
        (
            (of_dot("[s0] -> (d0, d1, s0)", ", s0 in [0, 767]"),),
            (of_dot("[s0] -> (d2, d0 * 768 + s0, d3, d4)", ", s0 in [0, 767]"),),
            (of_dot(" -> ()"),),
            (of_dot(" -> (d2, d3, d4)"),),
            (of_dot(" -> (d4)"),),
            (of_dot(" -> (d0, d1)"),),
        ),
    ),
}


@pytest.mark.parametrize(("body", "expected"), FUSIONS.values(), ids=FUSIONS)
def test_a_fusion_has_each_map_once(body: str, expected: tuple[tuple[str, ...], ...]) -> None:
    module = hlo.parse(f"HloModule m {SUM} {body.replace('f {', 'ENTRY f {', 1)}")
    found = fusion_indexing(module.entry.root)
    for parameter, texts in zip(module.entry.parameters, expected, strict=True):
        answer = found[parameter]
        assert not isinstance(answer, Unknown)
        assert [way.map for way in answer] == [parse_map(text) for text in texts]
