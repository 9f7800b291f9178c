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

// Name and shape of a tensor in a safetensors file.
struct TensorName {
  std::string name;
  std::vector<std::int64_t> shape;
};

// Writes an F32 safetensors file in chunks, atomically and durably. Errors of all members: disk_full, file_unwritable.
class SafetensorsWriter {
 public:
  SafetensorsWriter(const std::filesystem::path&, std::span<const TensorName>,
                    const std::map<std::string, std::string>& metadata = {});

  // Writes the next values, in the order of the tensors.
  void write(std::span<const float>);
  // After the last value: flushes to disk (fsync), renames into place and closes.
  void commit();

 private:
  TemporaryFile file_;
  std::uint64_t left_;  // values still missing
};

// A safetensors file with a valid header: the offsets of each tensor match its shape, and together the tensors cover
// the data without gaps or overlaps.
class SafetensorsFile {
 public:
  // Errors: model_file_missing, model_file_truncated, model_file_invalid.
  explicit SafetensorsFile(std::filesystem::path);

  std::vector<std::string> tensor_names() const;
  // Checks that the tensor exists with this shape and a readable type. Call it for all tensors before reading any.
  // Errors: model_tensor_missing, model_tensor_shape, model_tensor_type (neither F32, BF16 nor F16).
  void check(const std::string& name, const std::vector<std::int64_t>& shape) const;
  // Reads elements [first, first + the span's size) of a tensor that passed check(). BF16 and F16 widen exactly to
  // fp32. Errors: model_file_truncated, model_weights_non_finite.
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
