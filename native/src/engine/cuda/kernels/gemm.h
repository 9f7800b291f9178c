#pragma once

#include <cstddef>

#include "engine/cuda/portable/bf16.h"
#include "engine/cuda/runtime/stream.h"

namespace starpo::cuda {

enum class GemmLayout { nt, nn, tn };

// The part of the result that a block of threads computes. All sum in the same order, so that a choice changes no bit.
enum class GemmTile {
  large,   // 128 x 128: the update's products
  medium,  // 64 x 64
  narrow,  // 64 x 32
  small,   // 32 x 32: decode without a split
  row,     // 16 x 64: decode of at most 16 sequences
};
inline constexpr GemmTile kGemmTiles[] = {GemmTile::large, GemmTile::medium, GemmTile::narrow, GemmTile::small,
                                          GemmTile::row};

struct GemmPlan {
  GemmTile tile;
  int split = 1;  // how many blocks share an element's sum over k
};

struct TileSize {
  int m, n;
};
TileSize tile_size(GemmTile tile);

// nn and tn, whose products are large, have the large and the medium tile only.
bool has_tile(GemmLayout layout, GemmTile tile);

// The k that each block of a split sums: a multiple of 64, so that no block's part starts within a step. The last may
// get less.
int split_length(int k, int split);

// The tile and split with the least estimated time; exact, or partials floats too few for a split's sums, mean no
// split.
GemmPlan plan_gemm(GemmLayout layout, int m, int n, int k, bool exact, std::size_t partials, int multiprocessors);

// c [m, n] (+)= a b + bias, every matrix row-major, products of T summed in fp32. What a and b are is the launcher's
// name.
//
// Sizes are any above 0, with three demands of T = Bf16: a and b are 16-byte aligned, lda and ldb are multiples of 8,
// and where the inner index is a row's (a in nt and nn, b in nt) k is a multiple of 8. A row may be read up to its size
// rounded up to 8; the values there are ignored.
template <typename T, typename Out = T>
struct Gemm {
  int m, n, k;
  const T* a;
  int lda;
  const T* b;
  int ldb;
  Out* c;
  int ldc;
  const float* bias = nullptr;  // [n]
  bool accumulate = false;      // c += instead of c =; fp32 results only
  // An element's bits depend on its row of a, its column of b and k alone: not on m, n, its position or the GPU's size.
  // Without it a product with few tiles may be split along k, in a fixed order: the same bits in every run of one
  // shape.
  bool exact = false;
};

// Where split products keep their partial sums. Without it nothing is split.
struct GemmWorkspace {
  float* partials = nullptr;
  std::size_t size = 0;  // floats
  int multiprocessors = 132;
};

// a [m, k], b [n, k]: y = x W^T.
template <typename T, typename Out>
void gemm_nt(Stream& stream, const Gemm<T, Out>& gemm, const GemmWorkspace& workspace = {});

// a [m, k], b [k, n]: dx = dy W.
template <typename T, typename Out>
void gemm_nn(Stream& stream, const Gemm<T, Out>& gemm, const GemmWorkspace& workspace = {});

// a [k, m], b [k, n]: dW += dy^T x.
template <typename T, typename Out>
void gemm_tn(Stream& stream, const Gemm<T, Out>& gemm, const GemmWorkspace& workspace = {});

// c [m, n] = silu(a Wg^T) * (a Wu^T) with b = Wg over Wu [2n, k]: what gemm_nt and then swiglu would give, to the bit
// in exact mode.
template <typename T>
void gemm_swiglu(Stream& stream, const Gemm<T>& gemm, const GemmWorkspace& workspace = {});

// The same with tiles and split given: for tests and timings. T = float has but one plan and ignores it.
void gemm_planned(Stream& stream, GemmLayout layout, const Gemm<Bf16>& gemm, const GemmPlan& plan,
                  const GemmWorkspace& workspace = {});
void gemm_planned(Stream& stream, GemmLayout layout, const Gemm<Bf16, float>& gemm, const GemmPlan& plan,
                  const GemmWorkspace& workspace = {});
void gemm_planned(Stream& stream, GemmLayout layout, const Gemm<float>& gemm, const GemmPlan& plan,
                  const GemmWorkspace& workspace = {});
void gemm_swiglu_planned(Stream& stream, const Gemm<Bf16>& gemm, const GemmPlan& plan);
void gemm_swiglu_planned(Stream& stream, const Gemm<float>& gemm, const GemmPlan& plan);

}  // namespace starpo::cuda
