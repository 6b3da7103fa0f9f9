// Fusions of real modules as a good engineer writes them in C: what benchmarks/code.py compares with.
//
// The comment above each function names the module in tests/data/hlo and the fusion. Operands come
// first, in the order of the parameters, then the result. Loops follow the result; what a row shares
// stands before its loop.

#include <math.h>
#include <string.h>

#define IN const float *restrict
#define OUT float *restrict
#define EACH(i, count) for (int i = 0; i < (count); ++i)

// Elementwise, with broadcasts.

// cpu/softmax: broadcast_multiply_fusion
void scale_rows(IN x, IN scale, OUT y) {
  EACH(row, 128) EACH(i, 128) y[row * 128 + i] = x[row * 128 + i] * scale[row];
}

// cpu/mlp_adam_step: broadcast_divide_fusion.2
void divide_all(IN x, IN by, OUT y) {
  EACH(i, 4096) y[i] = x[i] / by[0];
}

// cpu/mlp_adam_step: broadcast_multiply_fusion.8
void first_moment(IN yes, IN no, IN norm, OUT y) {
  IN x = norm[0] < 1.0f ? yes : no;
  EACH(i, 4096) y[i] = x[i] * 0.1f;
}

// cpu/mlp_adam_step: broadcast_multiply_fusion.2
void second_moment(IN yes, IN no, IN norm, OUT y) {
  IN x = norm[0] < 1.0f ? yes : no;
  EACH(i, 4096) y[i] = x[i] * x[i] * 0.001f;
}

// cpu/mlp_adam_step: multiply_add_fusion.2
void adam(IN weight, IN yes, IN no, IN norm, OUT y) {
  IN x = norm[0] < 1.0f ? yes : no;
  EACH(i, 4096) {
    float root = sqrtf(x[i] * x[i] * 1.00001287f) + 1e-08f;
    float step = x[i] * 0.1f / (0.100000024f * root) + weight[i] * 0.0001f;
    y[i] = weight[i] + step * -0.001f;
  }
}

// cpu/mlp_adam_step: wrapped_multiply.2
void square(IN x, OUT y) {
  EACH(i, 2048) y[i] = x[i] * x[i];
}

// gpu/mlp_adam_step: loop_multiply_fusion
void clipped_square(IN x, IN norm, OUT y) {
  float by = norm[0] < 1.0f ? 1.0f : norm[0];
  EACH(i, 4096) {
    float clipped = x[i] / by;
    y[i] = clipped * clipped * 0.001f;
  }
}

// cpu/layernorm: broadcast_subtract_fusion
void center(IN x, IN sum, OUT y) {
  EACH(row, 64) {
    float mean = sum[row] * 0.015625f;
    EACH(i, 64) y[row * 64 + i] = x[row * 64 + i] - mean;
  }
}

// cpu/layernorm: broadcast_add_fusion
void normalize(IN shift, IN gain, IN scale, IN x, IN sum, OUT y) {
  EACH(row, 64) {
    float mean = sum[row] * 0.015625f;
    EACH(i, 64) y[row * 64 + i] = (x[row * 64 + i] - mean) * scale[row] * gain[i] + shift[i];
  }
}

// cpu/layernorm_grad: broadcast_multiply_fusion.1
void standardize(IN scale, IN x, IN sum, OUT y) {
  EACH(row, 64) {
    float mean = sum[row] * 0.015625f;
    EACH(i, 64) y[row * 64 + i] = (x[row * 64 + i] - mean) * scale[row];
  }
}

// cpu/layernorm_grad: broadcast_multiply_fusion
void gradient_of_variance(IN a, IN b, IN x, IN sum, OUT y) {
  EACH(row, 64) {
    float mean = sum[row] * 0.015625f;
    float scale = a[row] * (b[row] * -0.5f) * 0.03125f;
    EACH(i, 64) y[row * 64 + i] = (x[row * 64 + i] - mean) * scale;
  }
}

// cpu/layernorm_grad: broadcast_add_fusion
void gradient(IN c, IN d, IN a, IN b, IN shift, IN gain, IN scale, IN x, IN sum, OUT y) {
  EACH(row, 64) {
    float mean = sum[row] * 0.015625f;
    float variance = a[row] * (b[row] * -0.5f) * 0.03125f;
    float rest = (-d[row] + -c[row]) * 0.015625f;
    EACH(i, 64) {
      float centered = x[row * 64 + i] - mean;
      float slope = cosf(centered * scale[row] * gain[i] + shift[i]) * gain[i] * scale[row];
      y[row * 64 + i] = slope + centered * variance + rest;
    }
  }
}

// cpu/layernorm_grad: add_cosine_fusion
void cosine(IN shift, IN gain, IN scale, IN x, IN sum, OUT y) {
  EACH(row, 64) {
    float mean = sum[row] * 0.015625f;
    EACH(i, 64) y[row * 64 + i] = cosf((x[row * 64 + i] - mean) * scale[row] * gain[i] + shift[i]);
  }
}

// cpu/transformer_block_fwd: multiply_bitcast_fusion
void gelu(IN bias, IN x, OUT y) {
  EACH(row, 32) EACH(i, 128) {
    float v = x[row * 128 + i] + bias[i];
    float t = tanhf((v + v * v * v * 0.044715f) * 0.797884583f);
    y[row * 128 + i] = v * ((t + 1.0f) * 0.5f);
  }
}

// cpu/transformer_block_fwd: subtract_multiply_fusion.1
void squared_distance(IN x, IN sum, OUT y) {
  EACH(row, 32) {
    float mean = sum[row] * 0.015625f;
    EACH(i, 64) {
      float distance = x[row * 64 + i] - mean;
      y[row * 64 + i] = distance * distance;
    }
  }
}

// cpu/transformer_block_fwd: broadcast_add_fusion
void residual_with_bias(IN bias, IN x, IN z, OUT y) {
  EACH(row, 32) EACH(i, 64) y[row * 64 + i] = x[row * 64 + i] + z[row * 64 + i] + bias[i];
}

// cpu/transformer_block_fwd: bitcast_add_fusion
void residual(IN x, IN z, OUT y) {
  EACH(i, 2048) y[i] = x[i] + z[i];
}

// cpu/transformer_block_fwd: add_bitcast_fusion.1
void normalize_flat(IN shift, IN gain, IN scale, IN x, IN sum, OUT y) {
  EACH(row, 32) {
    float mean = sum[row] * 0.015625f;
    EACH(i, 64) y[row * 64 + i] = (x[row * 64 + i] - mean) * scale[row] * gain[i] + shift[i];
  }
}

// cpu/resnet_block_fwd: broadcast_maximum_fusion.1
void batch_norm(IN shift, IN gain, IN scale, IN x, IN sum, OUT y) {
  float mean[8], by[8];
  EACH(c, 8) {
    mean[c] = sum[c] * 0.001953125f;
    by[c] = gain[c] * scale[c];
  }
  EACH(pixel, 512) EACH(c, 8) {
    float v = (x[pixel * 8 + c] - mean[c]) * by[c] + shift[c];
    y[pixel * 8 + c] = v < 0.0f ? 0.0f : v;
  }
}

// Transposes.

// gpu/layout_shuffle: wrapped_transpose.1
void channels_first(IN x, OUT y) {
  EACH(n, 2) EACH(c, 27) EACH(i, 256) y[(n * 27 + c) * 256 + i] = x[(n * 256 + i) * 27 + c];
}

// cpu/conv_zoo: transpose_copy_fusion.3
void channels_last(IN x, OUT y) {
  EACH(n, 2) EACH(i, 1080) EACH(c, 3) y[(n * 1080 + i) * 3 + c] = x[(n * 3 + c) * 1080 + i];
}

// cpu/conv_zoo: transpose_copy_fusion.1
void batch_inside(IN x, OUT y) {
  EACH(i, 256) EACH(n, 2) memcpy(y + (i * 2 + n) * 8, x + (n * 256 + i) * 8, 8 * sizeof(float));
}

// gpu/gqa_rope: input_transpose_fusion
void heads_of_values(IN x, OUT y) {
  EACH(n, 2) EACH(head, 4) EACH(i, 8) EACH(t, 16)
    y[((n * 4 + head) * 8 + i) * 16 + t] = x[(n * 16 + t) * 128 + 96 + head * 8 + i];
}

// gpu/mha_causal: loop_transpose_fusion.3
void heads_of_queries(IN x, OUT y) {
  EACH(n, 2) EACH(head, 4) EACH(t, 16) EACH(i, 16)
    y[((n * 4 + head) * 16 + t) * 16 + i] = x[(n * 16 + t) * 192 + head * 16 + i];
}

// gpu/mha_causal: loop_transpose_fusion
void merge_heads(IN x, OUT y) {
  EACH(n, 2) EACH(t, 16) EACH(head, 4) EACH(i, 16)
    y[((n * 16 + t) * 4 + head) * 16 + i] = x[((n * 4 + head) * 16 + t) * 16 + i];
}

// gpu/gqa_rope: loop_transpose_fusion
void merge_groups(IN x, OUT y) {
  EACH(n, 2) EACH(t, 16) EACH(head, 4) EACH(g, 2) EACH(i, 8)
    y[(((n * 16 + t) * 4 + head) * 2 + g) * 8 + i] = x[((n * 4 + head) * 8 + i) * 32 + g * 16 + t];
}

// gpu/resnet_block_fwd: wrapped_transpose.3
void kernel_outputs_first(IN x, OUT y) {
  EACH(o, 16) EACH(i, 144) y[o * 144 + i] = x[i * 16 + o];
}

// cpu/gqa_rope: copy_bitcast_fusion.1
void scale_and_regroup(IN x, IN scale, OUT y) {
  EACH(m, 8) EACH(i, 16) EACH(g, 2) EACH(t, 16)
    y[(m * 16 + i) * 32 + g * 16 + t] =
        x[((m * 2 + g) * 16 + t) * 16 + i] * scale[(m * 2 + g) * 16 + t];
}

// cpu/mha_causal: transpose_copy_fusion.2
void split_heads(IN x, OUT y) {
  EACH(n, 2) EACH(head, 4) EACH(t, 16) EACH(i, 16)
    y[((n * 4 + head) * 16 + t) * 16 + i] = x[(n * 16 + t) * 64 + head * 16 + i];
}

// Pads and slices.

// gpu/conv_zoo: loop_pad_fusion
void pad_volume(IN x, OUT y) {
  EACH(m, 6) EACH(i, 13) EACH(j, 11) {
    float *restrict row = y + ((m * 13 + i) * 11 + j) * 11;
    if (i < 12 && j < 10) {
      row[0] = row[10] = 0.0f;
      EACH(k, 9) row[k + 1] = x[((m * 12 + i) * 10 + j) * 9 + k];
    } else {
      EACH(k, 11) row[k] = 0.0f;
    }
  }
}

// gpu/conv_zoo: loop_slice_fusion
void dilate(IN x, OUT y) {
  memset(y, 0, 2 * 34 * 33 * 8 * sizeof(float));
  EACH(n, 2) EACH(i, 16) for (int j = 1; j < 16; ++j)
    memcpy(y + ((n * 34 + 2 * i + 1) * 33 + 2 * j - 1) * 8, x + ((n * 16 + i) * 16 + j) * 8,
           8 * sizeof(float));
}

// gpu/conv_zoo: loop_slice_fusion.1
void shift_right(IN x, OUT y) {
  EACH(n, 2) EACH(i, 17) {
    float *restrict row = y + (n * 17 + i) * 136;
    if (i < 16) {
      memset(row, 0, 16 * sizeof(float));
      memcpy(row + 16, x + (n * 16 + i) * 128, 120 * sizeof(float));
    } else {
      memset(row, 0, 136 * sizeof(float));
    }
  }
}

// cpu/conv_zoo: slice_bitcast_fusion.1
void first_rows(IN x, OUT y) {
  EACH(n, 2) memcpy(y + n * 128, x + n * 2048, 128 * sizeof(float));
}

// Reductions and windows.

// cpu/softmax: ynn_fusion
void sum_rows(IN x, OUT y) {
  EACH(row, 128) {
    float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
    EACH(i, 128) sum += x[row * 128 + i];
    y[row] = sum;
  }
}

// cpu/layernorm: ynn_fusion.1
void sum_short_rows(IN x, IN start, OUT y) {
  EACH(row, 64) {
    float sum = start[0];
#pragma omp simd reduction(+ : sum)
    EACH(i, 64) sum += x[row * 64 + i];
    y[row] = sum;
  }
}

// cpu/layernorm_grad: ynn_fusion
void sum_columns(IN x, IN start, OUT y) {
  EACH(i, 64) y[i] = start[0];
  EACH(row, 64) EACH(i, 64) y[i] += x[row * 64 + i];
}

// cpu/layernorm_grad: ynn_fusion.1
void sum_products(IN start, IN a, IN b, OUT y) {
  EACH(i, 64) y[i] = start[0];
  EACH(row, 64) EACH(i, 64) y[i] += a[row * 64 + i] * b[row * 64 + i];
}

// cpu/resnet_block_fwd: ynn_fusion.2
void sum_channels(IN x, IN start, OUT y) {
  float sum[8];
  EACH(c, 8) sum[c] = start[0];
  EACH(pixel, 512) EACH(c, 8) sum[c] += x[pixel * 8 + c];
  EACH(c, 8) y[c] = sum[c];
}

// cpu/resnet_block_fwd: wrapped_reduce-window
void max_pool(IN x, IN start, OUT y) {
  EACH(n, 2) EACH(i, 8) EACH(j, 8) {
    float top[8];
    int rows = i < 7 ? 3 : 2, columns = j < 7 ? 3 : 2;
    EACH(c, 8) top[c] = start[0];
    EACH(di, rows) EACH(dj, columns) {
#pragma omp simd
      EACH(c, 8) {
        float v = x[((n * 16 + 2 * i + di) * 16 + 2 * j + dj) * 8 + c];
        top[c] = (v > top[c]) | (v != v) ? v : top[c];
      }
    }
    EACH(c, 8) y[((n * 8 + i) * 8 + j) * 8 + c] = top[c];
  }
}

// cpu/softmax: ynn_fusion.1
void powers(IN x, OUT y) {
  EACH(row, 128) {
    float tops[16], top = -INFINITY;
    EACH(k, 16) tops[k] = -INFINITY;
    for (int i = 0; i < 128; i += 16) {
#pragma omp simd
      EACH(k, 16) {
        float v = x[row * 128 + i + k];
        tops[k] = (v > tops[k]) | (v != v) ? v : tops[k];
      }
    }
    EACH(k, 16) top = (tops[k] > top) | (tops[k] != tops[k]) ? tops[k] : top;
    EACH(i, 128) y[row * 128 + i] = expf(x[row * 128 + i] - top);
  }
}
