#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "files/temporary_file.h"

namespace starpo {

// What a safetensors file calls a tensor.
struct TensorName {
  std::string name;
  std::vector<std::int64_t> shape;
};

// Writes a safetensors file (F32) from numbers that come in pieces, durably. One that isn't committed leaves no file.
// Errors of all members: disk_full, file_unwritable.
class SafetensorsWriter {
 public:
  SafetensorsWriter(const std::filesystem::path&, std::span<const TensorName>,
                    const std::map<std::string, std::string>& metadata = {});

  // The next numbers of the tensors, in their order.
  void write(std::span<const float>);
  // After the last number: flushed to disk (fsync), renamed into place, closed.
  void commit();

 private:
  TemporaryFile file_;
  std::uint64_t left_;  // numbers to come
};

// A safetensors file whose header has been checked: every tensor's offsets fit its shape, and together they cover the
// data without gap or overlap.
class SafetensorsFile {
 public:
  // Errors: model_file_missing, model_file_truncated, model_file_invalid.
  explicit SafetensorsFile(std::filesystem::path);

  // Whether the tensor is there as wanted, so that a whole model is checked before its first weight is read.
  // Errors: model_tensor_missing, model_tensor_shape, model_tensor_type (neither F32, BF16 nor F16).
  void check(const std::string& name, const std::vector<std::int64_t>& shape) const;
  // Reads numbers [first, first + the span's size) of a tensor that check() accepts; BF16 and F16 become fp32 exactly.
  // Errors: model_file_truncated, model_weights_non_finite.
  void read(const std::string& name, std::size_t first, std::span<float>);

 private:
  struct StoredTensor {
    std::string type;
    std::vector<std::int64_t> shape;
    std::uint64_t begin, end;  // in bytes, from data_start_
  };
  void parse_header(const std::string& header, std::uint64_t data_size);
  StoredTensor parse_tensor(const std::string& name, const nlohmann::json& entry) const;
  [[noreturn]] void truncated() const;
  [[noreturn]] void invalid(const std::string& what) const;

  std::filesystem::path path_;
  std::ifstream file_;
  std::uint64_t data_start_ = 0;
  std::map<std::string, StoredTensor> tensors_;
};

}  // namespace starpo
