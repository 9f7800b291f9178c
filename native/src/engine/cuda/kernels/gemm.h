#pragma once

#include <cstddef>
#include <vector>

#include "engine/cuda/portable/bf16.h"
#include "engine/cuda/runtime/stream.h"

namespace starpo::cuda {

enum class GemmLayout { nt, nn, tn };

// The part of the result that a thread block computes. All tiles sum in the same order, so the choice changes no bit.
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
  int split = 1;  // number of blocks that share an element's sum over k

  bool operator==(const GemmPlan&) const = default;
};

struct TileSize {
  int m, n;
};
TileSize tile_size(GemmTile tile);
const char* tile_name(GemmTile tile);

// Returns whether a kernel exists. nn and tn have only the large and medium tiles, because their products are large.
bool has_tile(GemmLayout layout, GemmTile tile);

// Returns the length along k that each block of a split sums. It is a multiple of 64, so that no block starts within a
// step. The last block may sum less.
int split_length(int k, int split);

// Returns the plans of a product: without split if `exact`, or if `partials` (floats) is too small for the partial
// sums.
std::vector<GemmPlan> possible_plans(GemmLayout layout, int m, int n, int k, bool exact, std::size_t partials);

// Returns the measured plan (gemm_plans.h), or the possible plan with the shortest estimated time.
GemmPlan plan_gemm(GemmLayout layout, int m, int n, int k, bool exact, std::size_t partials, int multiprocessors);

// c [m, n] (+)= op(a) op(b) + bias, with row-major matrices and fp32 sums. gemm_nt, gemm_nn and gemm_tn define op.
//
// Sizes must be positive. T = Bf16 has three requirements: a and b are 16-byte aligned; lda and ldb are multiples of 8;
// and k is a multiple of 8 in nt. A row may be read up to its size rounded up to 8. The values there are ignored, but
// those of a in nn must be finite.
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
  // An element's bits depend only on its row of a, its column of b and k, not on m, n, its position or the GPU.
  // Otherwise a product with few tiles may be split along k, in a fixed order: each shape is bit-identical in every
  // run.
  bool exact = false;
};

// Memory for the partial sums of split products. Without it, products are not split.
struct GemmWorkspace {
  float* partials = nullptr;
  std::size_t size = 0;  // floats
  int multiprocessors = 132;
};

// c = a b^T with a [m, k] and b [n, k], as in y = x W^T.
template <typename T, typename Out>
void gemm_nt(Stream& stream, const Gemm<T, Out>& gemm, const GemmWorkspace& workspace = {});

// c = a b with a [m, k] and b [k, n], as in dx = dy W.
template <typename T, typename Out>
void gemm_nn(Stream& stream, const Gemm<T, Out>& gemm, const GemmWorkspace& workspace = {});

// c = a^T b with a [k, m] and b [k, n], as in dW += dy^T x.
template <typename T, typename Out>
void gemm_tn(Stream& stream, const Gemm<T, Out>& gemm, const GemmWorkspace& workspace = {});

// c [m, n] = silu(a Wg^T) * (a Wu^T), with Wg above Wu in b [2n, k]. In exact mode, bit-identical to gemm_nt
// followed by swiglu.
template <typename T>
void gemm_swiglu(Stream& stream, const Gemm<T>& gemm, const GemmWorkspace& workspace = {});

// Run a product with a given plan, for tests and timings. T = float has only one plan and ignores it.
void gemm_planned(Stream& stream, GemmLayout layout, const Gemm<Bf16>& gemm, const GemmPlan& plan,
                  const GemmWorkspace& workspace = {});
void gemm_planned(Stream& stream, GemmLayout layout, const Gemm<Bf16, float>& gemm, const GemmPlan& plan,
                  const GemmWorkspace& workspace = {});
void gemm_planned(Stream& stream, GemmLayout layout, const Gemm<float>& gemm, const GemmPlan& plan,
                  const GemmWorkspace& workspace = {});
void gemm_swiglu_planned(Stream& stream, const Gemm<Bf16>& gemm, const GemmPlan& plan);
void gemm_swiglu_planned(Stream& stream, const Gemm<float>& gemm, const GemmPlan& plan);

}  // namespace starpo::cuda
