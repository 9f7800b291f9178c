#pragma once

#include <cstddef>

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
inline constexpr GemmTile kGemmTiles[] = {GemmTile::large, GemmTile::medium, GemmTile::narrow, GemmTile::small, GemmTile::row};

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

// The k that each block of a split sums: a multiple of 64, so that no block's part starts within a step. The last may get less.
int split_length(int k, int split);

// The tile and split with the least estimated time; exact, or partials floats too few for a split's sums, mean no split.
GemmPlan plan_gemm(GemmLayout layout, int m, int n, int k, bool exact, std::size_t partials, int multiprocessors);

}  // namespace starpo::cuda
