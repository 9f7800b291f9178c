#include "model/safetensors.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/error.h"
#include "files/temporary_file.h"

namespace starpo {

static_assert(std::endian::native == std::endian::little, "safetensors is little-endian");

namespace {

using nlohmann::json;

struct StoredTensor {
  std::string name, type;
  std::vector<std::int64_t> shape;
  std::uint64_t begin, end;
};

[[noreturn]] void fail(const char* code, const std::filesystem::path& path, const std::string& what, const char* hint) {
  throw Error(code, path.string() + ": " + what, hint);
}
[[noreturn]] void truncated(const std::filesystem::path& path) {
  fail("model_file_truncated", path, "the file ends before its content does", "copy or download the file again, or use an earlier checkpoint");
}
[[noreturn]] void invalid(const std::filesystem::path& path, const std::string& what) {
  fail("model_file_invalid", path, what, "the file is not an intact safetensors file; copy or download it again, or use an earlier checkpoint");
}

// Bytes of an element; 0 for a type that isn't known, whose size can't be checked.
std::uint64_t element_size(const std::string& type) {
  if (type == "F64" || type == "I64" || type == "U64") return 8;
  if (type == "F32" || type == "I32" || type == "U32") return 4;
  if (type == "F16" || type == "BF16" || type == "I16" || type == "U16") return 2;
  return type == "I8" || type == "U8" || type == "BOOL" ? 1 : 0;
}

std::string text(const std::vector<std::int64_t>& shape) { return json(shape).dump(); }

StoredTensor parse_tensor(const std::filesystem::path& path, const std::string& name, const json& entry) {
  const auto is_size = [](const json& value) { return value.is_number_unsigned(); };
  const auto is_sizes = [&](const json& list) { return list.is_array() && std::all_of(list.begin(), list.end(), is_size); };
  if (!entry.is_object() || !entry.contains("dtype") || !entry["dtype"].is_string() || !entry.contains("shape") || !is_sizes(entry["shape"]) ||
      !entry.contains("data_offsets") || !is_sizes(entry["data_offsets"]) || entry["data_offsets"].size() != 2)
    invalid(path, "the header's entry for " + name + " is malformed");
  StoredTensor tensor{name, entry["dtype"], {}, entry["data_offsets"][0], entry["data_offsets"][1]};
  if (tensor.begin > tensor.end) invalid(path, name + " ends before it begins");
  constexpr std::uint64_t most = std::uint64_t{1} << 48;
  std::uint64_t size = element_size(tensor.type);
  for (const json& extent : entry["shape"]) {
    const std::uint64_t count = extent;
    if (count != 0 && size > most / count) invalid(path, name + " is impossibly large");
    size *= count;
    tensor.shape.push_back(static_cast<std::int64_t>(count));
  }
  if (element_size(tensor.type) != 0 && size != tensor.end - tensor.begin) invalid(path, name + "'s offsets don't fit its shape " + text(tensor.shape));
  return tensor;
}

std::vector<StoredTensor> parse_header(const std::filesystem::path& path, const std::string& header, std::uint64_t data_size) {
  const json object = json::parse(header, nullptr, false);
  if (!object.is_object()) invalid(path, "the header is not a JSON object");
  std::vector<StoredTensor> tensors;
  for (const auto& [name, entry] : object.items())
    if (name != "__metadata__") tensors.push_back(parse_tensor(path, name, entry));
  std::sort(tensors.begin(), tensors.end(),
            [](const StoredTensor& a, const StoredTensor& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  std::uint64_t position = 0;
  for (const StoredTensor& tensor : tensors) {
    if (tensor.begin < position) invalid(path, tensor.name + " overlaps another tensor");
    if (tensor.begin > position) invalid(path, "there is a gap before " + tensor.name);
    position = tensor.end;
  }
  if (position > data_size) truncated(path);
  if (position < data_size) invalid(path, "there are bytes after the last tensor");
  return tensors;
}

}  // namespace

void read_safetensors(const std::filesystem::path& path, std::span<const TensorDestination> required) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file || std::filesystem::is_directory(path))
    fail("model_file_missing", path, "the file can't be read", "name a Hugging Face model folder with config.json and model.safetensors");
  const std::uint64_t file_size = static_cast<std::uint64_t>(file.tellg());
  std::uint64_t header_size = 0;
  if (file_size < sizeof header_size) truncated(path);
  file.seekg(0);
  file.read(reinterpret_cast<char*>(&header_size), sizeof header_size);
  constexpr std::uint64_t largest_header = 100'000'000;  // the format's own limit
  if (header_size > largest_header) invalid(path, "the header's length is impossible");
  if (header_size > file_size - sizeof header_size) truncated(path);
  std::string header(header_size, '\0');
  file.read(header.data(), static_cast<std::streamsize>(header_size));
  if (!file) truncated(path);
  const std::uint64_t data_start = sizeof header_size + header_size;
  const std::vector<StoredTensor> tensors = parse_header(path, header, file_size - data_start);

  for (const TensorDestination& wanted : required) {
    const auto found = std::find_if(tensors.begin(), tensors.end(), [&](const StoredTensor& tensor) { return tensor.name == wanted.name; });
    if (found == tensors.end())
      fail("model_tensor_missing", path, wanted.name + " is missing", "use weights that belong to the folder's config.json");
    if (found->type != "F32")
      fail("model_tensor_type", path, wanted.name + " is " + found->type + ", not F32", "save the model in float32 (torch_dtype=torch.float32)");
    if (found->shape != wanted.shape)
      fail("model_tensor_shape", path, wanted.name + " has shape " + text(found->shape) + " instead of " + text(wanted.shape),
           "use weights that belong to the folder's config.json");
    if (wanted.data.size_bytes() != found->end - found->begin) throw std::invalid_argument("a destination's size isn't its shape's");
  }
  for (const TensorDestination& wanted : required) {
    const auto found = std::find_if(tensors.begin(), tensors.end(), [&](const StoredTensor& tensor) { return tensor.name == wanted.name; });
    file.seekg(static_cast<std::streamoff>(data_start + found->begin));
    file.read(reinterpret_cast<char*>(wanted.data.data()), static_cast<std::streamsize>(wanted.data.size_bytes()));
    if (!file) truncated(path);
    if (!std::all_of(wanted.data.begin(), wanted.data.end(), [](float value) { return std::isfinite(value); }))
      fail("model_weights_non_finite", path, wanted.name + " holds values that are not finite numbers", "use an earlier checkpoint");
  }
}

void write_safetensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors, const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::uint64_t position = 0;
  for (const NamedTensor& tensor : tensors) {
    std::uint64_t size = sizeof(float);
    for (const std::int64_t extent : tensor.shape) size *= static_cast<std::uint64_t>(extent);
    if (size != tensor.data.size_bytes()) throw std::invalid_argument("the size of " + tensor.name + " isn't its shape's");
    header[tensor.name] = {{"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {position, position + size}}};
    position += size;
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');  // the data begins at a multiple of 8
  const std::uint64_t header_size = text.size();
  TemporaryFile file(path);
  file.write({reinterpret_cast<const char*>(&header_size), sizeof header_size});
  file.write(text);
  for (const NamedTensor& tensor : tensors) file.write({reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size_bytes()});
  file.commit();
}

}  // namespace starpo
