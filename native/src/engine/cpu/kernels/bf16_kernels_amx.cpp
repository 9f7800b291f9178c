#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/cpu/kernels/bf16_kernels.h"

namespace starpo::amx {
namespace {

// All eight tiles have 16 rows of 64 bytes: 16 floats, or 16 pairs of bfloat16 numbers.
struct alignas(64) TileConfig {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

// c = start + a b for 32 rows and 32 columns. Tiles 0 to 3 contain c, 4 and 5 a, 6 and 7 b.
void multiply_block(int depth, const Bf16* a, const Bf16* b, const float* start, std::ptrdiff_t start_stride, float* c,
                    std::ptrdiff_t c_stride) {
  const std::ptrdiff_t a_bytes = depth * static_cast<std::ptrdiff_t>(sizeof(Bf16)), start_bytes = start_stride * 4,
                       c_bytes = c_stride * 4;
  if (start == nullptr) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  } else {
    _tile_loadd(0, start, start_bytes);
    _tile_loadd(1, start + 16, start_bytes);
    _tile_loadd(2, start + 16 * start_stride, start_bytes);
    _tile_loadd(3, start + 16 * start_stride + 16, start_bytes);
  }
  constexpr std::ptrdiff_t b_bytes = 2 * kPanel * sizeof(Bf16);
  for (int k = 0; k < depth; k += kBf16Depth) {
    _tile_loadd(4, a + k, a_bytes);
    _tile_loadd(6, b + k * kPanel, b_bytes);
    _tile_loadd(7, b + k * kPanel + 32, b_bytes);
    _tile_loadd(5, a + 16 * depth + k, a_bytes);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, c, c_bytes);
  _tile_stored(1, c + 16, c_bytes);
  _tile_stored(2, c + 16 * c_stride, c_bytes);
  _tile_stored(3, c + 16 * c_stride + 16, c_bytes);
}

void multiply(int rows, int columns, int depth, const Bf16* a, const Bf16* packed_b, const float* start,
              std::ptrdiff_t start_stride, float* c, std::ptrdiff_t c_stride) {
  const TileConfig config;
  _tile_loadconfig(&config);
  const int padded = padded_depth(depth);
  alignas(64) float block[kBf16Rows * kPanel];
  for (int j = 0; j < columns; j += kPanel, packed_b += static_cast<std::ptrdiff_t>(padded) * kPanel)
    for (int i = 0; i < rows; i += kBf16Rows) {
      const Bf16* const a_rows = a + static_cast<std::ptrdiff_t>(i) * padded;
      const float* const first = start == nullptr ? nullptr : start + i * start_stride + j;
      float* const result = c + i * c_stride + j;
      const int height = rows - i < kBf16Rows ? rows - i : kBf16Rows,
                width = columns - j < kPanel ? columns - j : kPanel;
      if (height == kBf16Rows && width == kPanel) {
        multiply_block(padded, a_rows, packed_b, first, start_stride, result, c_stride);
        continue;
      }
      const __mmask16 low = width >= 16 ? 0xffff : (1u << width) - 1u,
                      high = width >= 16 ? (1u << (width - 16)) - 1u : 0;
      if (first != nullptr)
        for (int r = 0; r < height; ++r) {
          _mm512_store_ps(block + r * kPanel, _mm512_maskz_loadu_ps(low, first + r * start_stride));
          _mm512_store_ps(block + r * kPanel + 16, _mm512_maskz_loadu_ps(high, first + r * start_stride + 16));
        }
      multiply_block(padded, a_rows, packed_b, first == nullptr ? nullptr : block, kPanel, block, kPanel);
      for (int r = 0; r < height; ++r) {
        _mm512_mask_storeu_ps(result + r * c_stride, low, _mm512_load_ps(block + r * kPanel));
        _mm512_mask_storeu_ps(result + r * c_stride + 16, high, _mm512_load_ps(block + r * kPanel + 16));
      }
    }
  _tile_release();
}

bool tiles_permitted() {
  unsigned a, b, c, d;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  constexpr unsigned amx_bf16 = 1u << 22, amx_tile = 1u << 24;
  if ((d & amx_bf16) == 0 || (d & amx_tile) == 0) return false;
  // A process must request the 8 KB of tile state from Linux (arch_prctl, since 5.16).
  constexpr int request_permission = 0x1023, tile_data = 18;
  return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

}  // namespace

bool supported() {
  static const bool permitted = avx512bf16::supported() && tiles_permitted();
  return permitted;
}

const Bf16Kernels& kernels() {
  static const Bf16Kernels table{.round_rows = avx512bf16::kernels().round_rows, .multiply = multiply};
  return table;
}

}  // namespace starpo::amx
