#include "model/safetensors.h"

#include <array>

#include "targets.h"
#include "temporary_folder.h"
#include "whole_files.h"

namespace starpo::fuzz {

// The input is a whole file, from which a vector and a matrix are read.
void safetensors(std::string_view input) {
  static const TemporaryFolder folder;
  const auto path = folder.path() / "model.safetensors";
  write_text(path, std::string(input));
  std::array<float, 2> vector{};
  std::array<float, 6> matrix{};
  const std::array<TensorDestination, 2> destinations{TensorDestination{"vector", {2}, vector},
                                                      TensorDestination{"matrix", {2, 3}, matrix}};
  succeeds([&] { read_safetensors(path, destinations); });
  succeeds([&] { read_safetensors(path, std::span(destinations).first(1)); });
}

}  // namespace starpo::fuzz
