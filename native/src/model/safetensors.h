#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "files/temporary_file.h"

namespace starpo {

// Name and shape of a tensor in a safetensors file.
struct TensorName {
  std::string name;
  std::vector<std::int64_t> shape;
};

// Writes an F32 safetensors file in chunks, atomically and durably, with a CRC-32 of each tensor in its metadata.
// Errors of all members: disk_full, file_unwritable.
class SafetensorsWriter {
 public:
  SafetensorsWriter(const std::filesystem::path&, std::span<const TensorName>,
                    std::map<std::string, std::string> metadata = {});

  // Writes the next values, in the order of the tensors.
  void write(std::span<const float>);
  // After the last value: flushes to disk (fsync), renames into place and closes.
  void commit();

 private:
  std::string header() const;
  void begin_tensor();

  TemporaryFile file_;
  std::vector<TensorName> tensors_;
  std::map<std::string, std::string> metadata_;
  std::size_t tensor_ = 0;  // being written
  std::uint64_t left_ = 0;  // values of it still missing
  std::uint32_t checksum_ = 0;
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
  // fp32. Checks the CRC-32 of a tensor that is read from its first element to its last, if the file has one. Errors:
  // model_file_truncated, model_file_invalid, model_weights_non_finite.
  void read(const std::string& name, std::size_t first, std::span<float>);

 private:
  struct StoredTensor {
    std::string type;
    std::vector<std::int64_t> shape;
    std::uint64_t begin, end;   // in bytes, from data_start_
    std::string checksum = {};  // hex, or empty
    // The part from the first element that was read in order.
    std::uint64_t checked = 0;
    std::uint32_t checksum_so_far = 0;
  };
  void add_to_checksum(const std::string& name, StoredTensor&, std::uint64_t offset, std::string_view bytes);
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
