#include "model/safetensors.h"

#include <array>

#include "targets.h"
#include "temporary_folder.h"
#include "whole_files.h"

namespace starpo::fuzz {

// The input is a whole file; a reader wants a vector and a matrix of it.
void safetensors(std::string_view input) {
  static const TemporaryFolder folder;
  const auto path = folder.path() / "model.safetensors";
  write_text(path, std::string(input));
  std::array<float, 2> vector{};
  std::array<float, 6> matrix{};
  const std::array<TensorDestination, 2> wanted{TensorDestination{"vector", {2}, vector},
                                                TensorDestination{"matrix", {2, 3}, matrix}};
  succeeds([&] { read_safetensors(path, wanted); });
  succeeds([&] { read_safetensors(path, std::span(wanted).first(1)); });
}

}  // namespace starpo::fuzz
