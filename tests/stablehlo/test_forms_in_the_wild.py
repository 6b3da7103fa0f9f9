"""Forms that public programs have, and the HLO that they are read as."""

from typing import Final

from ops import stablehlo

RAW: Final = """#stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3,
 input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 2,
 kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1],
 output_batch_dimension = 0, output_feature_dimension = 1, output_spatial_dimensions = [2, 3]>"""

READ_AS: Final = [
    (
        'stablehlo.einsum %a, %b, config = "ab,cbd->cad"',
        "2x3xf32 4x3x5xf32 4x2x5xf32",
        "transpose(%r.dot), dimensions={1,0,2}",
    ),
    (
        '"stablehlo.einsum"(%a, %b) {einsum_config = "zab,zbd->zad"}',
        "7x2x3xf32 7x3x5xf32 7x2x5xf32",
        "rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}",
    ),
    (
        'stablehlo.einsum %a, %b, config = "a...b,b...->...a"',
        "2x8x9x3xf32 3x8x9xf32 8x9x2xf32",
        "transpose(%r.dot), dimensions={0,1,2}",
    ),
    (
        '"stablehlo.torch_index_select"(%a, %b) {dim = 1, batch_dims = 1}',
        "2x3x4xf32 2x5xi32 2x5x4xf32",
        "collapsed_slice_dims={1}, start_index_map={1}, index_vector_dim=2, slice_sizes={1,1,4}",
    ),
    (
        '"stablehlo.torch_index_select"(%a, %b) {dim = 2, batch_dims = 0}',
        "2x3x4xf32 i32 2x3xf32",
        "offset_dims={0,1}, collapsed_slice_dims={2}, start_index_map={2}, index_vector_dim=0",
    ),
    (
        'stablehlo.einsum %a, %b, config = "aa,ab->b"',
        "3x3xf32 3x5xf32 5xf32",
        'custom_call_target="stablehlo.einsum"',
    ),
    (
        f'"stablehlo.convolution"(%a, %b) {{dimension_numbers = {RAW}}}',
        "2x4x5x2xf32 2x2x2x6xf32 2x6x3x4xf32",
        "window={size=2x2}, dim_labels=b01f_01io->bf01",
    ),
    ("stablehlo.dynamic_reshape %a, %b", "4xf32 2xi64 1x4xf32", "f32[1,4]{1,0} reshape(%a)"),
    (
        "stablehlo.dynamic_broadcast_in_dim %a, %b, dims = [2]",
        "1xf32 3xi64 7x8x9xf32",
        "broadcast(%r.thin), dimensions={}",
    ),
    (
        "stablehlo.real_dynamic_slice %a, %b, %b, %b",
        "4xf32 1xi64 1xf32",
        'custom_call_target="stablehlo.real_dynamic_slice"',
    ),
    (
        "stablehlo.custom_call @f(%a, %b) {api_version = 0 : i32}",
        "4xf32 2xi64 1x4xf32",
        'custom-call(%a, %b), custom_call_target="f"\n',
    ),
    ("stablehlo.add {mhlo.frontend_attributes = {}} %a, %b", "4xf32 4xf32 4xf32", "add(%a, %b)"),
    (
        "chlo.broadcast_compare %a, %b {comparison_direction = #chlo<comparison_direction EQ>}",
        "4xf32 4xf32 4xi1",
        "compare(%r.side0, %r.side1), direction=EQ",
    ),
]
"""Operations of two operands, the types of both and of the result, and a part of the HLO."""


def test_forms_are_read_as_hlo() -> None:
    wrong = list[str]()
    for operation, shapes, expected in READ_AS:
        a, b, result = (f"tensor<{each}>" for each in shapes.split())
        text = f"""func.func @main(%a: {a}, %b: {b}) -> {result} {{
            %r = {operation} : ({a}, {b}) -> {result}
            return %r : {result}
        }}"""
        written = str(stablehlo.parse(text))
        if expected not in written:
            wrong.append(f"{operation} is\n{written}")
    assert not wrong, "\n".join(wrong)


def test_a_barrier_of_shardings_copies() -> None:
    module = stablehlo.parse("""func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
        %0 = sdy.propagation_barrier %a allowed_direction=BACKWARD : tensor<4xf32>
        return %0 : tensor<4xf32>
    }""")
    assert module.entry.root.opcode == "copy"
