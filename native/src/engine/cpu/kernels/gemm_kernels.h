// Included by kernel_table.h. The kernels_<isa>.cpp defines STARPO_ISA and includes its vec16 header first.

namespace starpo::STARPO_ISA {

// Depths after which partial sums are stored to c and reloaded, so that a panel stays in the nearest caches. Changes no
// bit.
inline constexpr int kDepthBlock = 512;
inline constexpr int kTokenBlock = 64;

inline int smaller(int a, int b) { return a < b ? a : b; }

struct TileArguments {
  int depth;
  const float* a;
  std::ptrdiff_t a_stride;
  const float* b;
  std::ptrdiff_t b_stride;
  const float* start;
  std::ptrdiff_t start_stride;
  float* c;
  std::ptrdiff_t c_stride;
  int columns;                         // read only by masked tiles
  std::ptrdiff_t prefetch_offset = 0;  // floats from b to the data to prefetch
};

// c = start + a b for Rows x (16 * Vecs) elements, which stay in registers. a is [Rows, depth], or [depth, Rows] if
// Transposed.
template <int Rows, int Vecs, bool Transposed, bool Masked>
inline void tile(const TileArguments& t) {
  int width[Vecs];
  for (int v = 0; v < Vecs; ++v) {
    const int remaining = t.columns - 16 * v;
    width[v] = remaining < 0 ? 0 : smaller(remaining, 16);
  }
  Vec sum[Rows][Vecs];
#pragma GCC unroll 16
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < Vecs; ++v) {
      const float* const start = t.start + r * t.start_stride + 16 * v;
      sum[r][v] = t.start == nullptr ? zero() : Masked ? load_n(start, width[v]) : load(start);
    }
  const float* b = t.b;
  // Four base pointers and one stride address twelve rows without spilling.
  const float* a0 = t.a;
  const float* a1 = a0 + 3 * t.a_stride;
  const float* a2 = a1 + 3 * t.a_stride;
  const float* a3 = a2 + 3 * t.a_stride;
  const std::ptrdiff_t step = t.a_stride;
  for (int k = 0; k < t.depth; ++k) {
    Vec column[Vecs];
#pragma GCC unroll 4
    for (int v = 0; v < Vecs; ++v) column[v] = Masked ? load_n(b + 16 * v, width[v]) : load(b + 16 * v);
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r) {
      const float* const base = r < 3 ? a0 : r < 6 ? a1 : r < 9 ? a2 : a3;
      const Vec x = broadcast(Transposed ? a0[r] : base[(r % 3) * step]);
#pragma GCC unroll 4
      for (int v = 0; v < Vecs; ++v) sum[r][v] = fma(x, column[v], sum[r][v]);
    }
    // Tall tiles have spare load slots. Weights come from beyond the second-level cache, and the hardware prefetcher
    // stops at the end of a page.
    if constexpr (!Transposed && !Masked && Rows >= 6) {
      __builtin_prefetch(b + t.prefetch_offset, 0, 2);
      __builtin_prefetch(b + t.prefetch_offset + 16, 0, 2);
    }
    if (Transposed) {
      // The rows of the next block are too far apart for the hardware prefetcher.
      __builtin_prefetch(a0 + kTokenBlock * step);
      __builtin_prefetch(b + kTokenBlock * t.b_stride);
      __builtin_prefetch(b + kTokenBlock * t.b_stride + 16);
      a0 += step;
    } else {
      ++a0, ++a1, ++a2, ++a3;
    }
    b += t.b_stride;
  }
#pragma GCC unroll 16
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < Vecs; ++v) {
      float* const c = t.c + r * t.c_stride + 16 * v;
      if (Masked)
        store_n(c, sum[r][v], width[v]);
      else
        store(c, sum[r][v]);
    }
}

template <bool Transposed, bool Masked>
inline void tile_of(int rows, const TileArguments& t) {
  switch (rows) {
    case 1: return tile<1, kTileVecs, Transposed, Masked>(t);
    case 2: return tile<2, kTileVecs, Transposed, Masked>(t);
    case 3: return tile<3, kTileVecs, Transposed, Masked>(t);
    case 4: return tile<4, kTileVecs, Transposed, Masked>(t);
  }
  if constexpr (kTileRows > 4) switch (rows) {
      case 5: return tile<5, kTileVecs, Transposed, Masked>(t);
      case 6: return tile<6, kTileVecs, Transposed, Masked>(t);
    }
  if constexpr (kTileRows > 6) switch (rows) {
      case 7: return tile<7, kTileVecs, Transposed, Masked>(t);
      case 8: return tile<8, kTileVecs, Transposed, Masked>(t);
      case 9: return tile<9, kTileVecs, Transposed, Masked>(t);
      case 10: return tile<10, kTileVecs, Transposed, Masked>(t);
      case 11: return tile<11, kTileVecs, Transposed, Masked>(t);
      case 12: return tile<12, kTileVecs, Transposed, Masked>(t);
    }
}

// Multiplies all rows by up to 32 columns of b, in tiles of nearly equal height. The arguments are not a struct: a
// modified copy would be read back with wider loads than its stores, which stalls.
template <bool Transposed>
inline void multiply_panel(int rows, int columns, int depth, const float* a, std::ptrdiff_t a_stride, const float* b,
                           std::ptrdiff_t b_stride, const float* start, std::ptrdiff_t start_stride, float* c,
                           std::ptrdiff_t c_stride, std::ptrdiff_t prefetch_offset = 0) {
  constexpr int kWidth = 16 * kTileVecs;
  for (int done = 0, tiles = (rows + kTileRows - 1) / kTileRows; tiles > 0; --tiles) {
    const int height = (rows - done + tiles - 1) / tiles;
    for (int j = 0; j < columns; j += kWidth) {
      const TileArguments part{
          depth,        a,     a_stride, b + j,       b_stride,       start == nullptr ? nullptr : start + j,
          start_stride, c + j, c_stride, columns - j, prefetch_offset};
      if (columns - j >= kWidth)
        tile_of<Transposed, false>(height, part);
      else
        tile_of<Transposed, true>(height, part);
    }
    done += height;
    a += Transposed ? height : height * a_stride;
    c += height * c_stride;
    if (start != nullptr) start += height * start_stride;
  }
}

// Like multiply(), with panels of b panel_stride apart and rows b_stride apart, for packed weights, transposed keys and
// rows of values.
inline void multiply_by(int rows, int columns, int depth, const float* a, std::ptrdiff_t a_stride, const float* b,
                        std::ptrdiff_t b_stride, std::ptrdiff_t panel_stride, const float* start,
                        std::ptrdiff_t start_stride, float* c, std::ptrdiff_t c_stride) {
  int k = 0;
  do {
    const int part = smaller(depth - k, kDepthBlock);
    for (int j = 0; j < columns; j += kPanel)
      multiply_panel<false>(rows, smaller(columns - j, kPanel), part, a + k, a_stride,
                            b + (j / kPanel) * panel_stride + k * b_stride, b_stride,
                            start == nullptr ? nullptr : start + j, start_stride, c + j, c_stride, panel_stride);
    start = c;
    start_stride = c_stride;
    k += part;
  } while (k < depth);
}

inline void multiply(int rows, int columns, int depth, const float* a, std::ptrdiff_t a_stride, const float* packed_b,
                     const float* start, std::ptrdiff_t start_stride, float* c, std::ptrdiff_t c_stride) {
  multiply_by(rows, columns, depth, a, a_stride, packed_b, kPanel, static_cast<std::ptrdiff_t>(depth) * kPanel, start,
              start_stride, c, c_stride);
}

inline void accumulate_transposed(int rows, int columns, int depth, const float* a, std::ptrdiff_t a_stride,
                                  const float* b, std::ptrdiff_t b_stride, float* c, std::ptrdiff_t c_stride) {
  for (int t = 0; t < depth; t += kTokenBlock)
    for (int j = 0; j < columns; j += kPanel)
      multiply_panel<true>(rows, smaller(columns - j, kPanel), smaller(depth - t, kTokenBlock), a + t * a_stride,
                           a_stride, b + t * b_stride + j, b_stride, c + j, c_stride, c + j, c_stride);
}

}  // namespace starpo::STARPO_ISA
