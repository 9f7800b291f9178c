#include <algorithm>
#include <stdexcept>

#include "engine/cuda/kernels/adamw.h"

namespace starpo::cuda {

std::vector<std::uint8_t> group_decay_flags(std::span<const std::uint8_t> decayed) {
  std::vector<std::uint8_t> flags;
  for (std::size_t first = 0; first < decayed.size(); first += 8) {
    const auto eight = decayed.subspan(first, std::min<std::size_t>(8, decayed.size() - first));
    if (std::count(eight.begin(), eight.end(), eight[0]) != static_cast<std::ptrdiff_t>(eight.size()))
      throw std::invalid_argument("weight decay differs within a group of eight weights");
    flags.push_back(eight[0]);
  }
  return flags;
}

}  // namespace starpo::cuda
