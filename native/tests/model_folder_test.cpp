#include <doctest/doctest.h>
#include <sys/resource.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "error_code.h"
#include "files/descriptor.h"
#include "model/folder.h"
#include "model/safetensors.h"
#include "model_fixtures.h"
#include "temporary_folder.h"
#include "whole_files.h"

namespace starpo {

namespace {

namespace fs = std::filesystem;

// Writes a safetensors file with this header and `bytes` bytes of data.
void write_raw(const fs::path& path, const std::string& header, std::size_t bytes) {
  const std::uint64_t size = header.size();
  std::string text(reinterpret_cast<const char*>(&size), sizeof size);
  write_text(path, text + header + std::string(bytes, '\0'));
}

// Limits the size of files until it is destroyed, as a full disk does.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : on_signal_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limited{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limited);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, on_signal_);
  }

 private:
  void (*on_signal_)(int);
  rlimit before_{};
};

}  // namespace

TEST_CASE("a model folder is read as it was written") {
  for (const bool tied : {true, false}) {
    const TemporaryFolder folder;
    const ParameterLayout layout(small_config({4, 2, 6, tied}));
    const std::vector<float> weights = large_weights(layout);
    write_model_folder(folder.path(), layout, weights, {3});
    CHECK(read_model_folder_config(folder.path()) == layout.config());
    CHECK(same_bits(read_model_folder_weights(folder.path(), layout), weights));
    CHECK(fs::exists(folder.path() / "generation_config.json"));
    // Overwrites the folder.
    write_model_folder(folder.path(), layout, initial_weights(layout, 1), {3});
    CHECK(same_bits(read_model_folder_weights(folder.path(), layout), initial_weights(layout, 1)));
  }
}

TEST_CASE("a damaged safetensors file is rejected") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "model.safetensors";
  std::vector<float> values(6);
  const TensorDestination destinations[] = {{"a", {2, 3}, values}};
  const auto read = [&] { read_safetensors(path, destinations); };
  const auto with_header = [&](const std::string& header, std::size_t bytes = 24) {
    write_raw(path, header, bytes);
    return error_code_of(read);
  };
  const auto entry = [](const std::string& name, const std::string& type, const std::string& shape,
                        const std::string& offsets) {
    return "\"" + name + "\":{\"dtype\":\"" + type + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
  };
  const std::string good = entry("a", "F32", "[2,3]", "[0,24]");

  CHECK(with_header("{" + good + "}") == "none");
  CHECK(with_header("{\"__metadata__\":{\"format\":\"pt\"}," + good + "}   ") == "none");

  fs::remove(path);
  CHECK(error_code_of(read) == "model_file_missing");
  write_text(path, "");
  CHECK(error_code_of(read) == "model_file_truncated");
  write_text(path, "1234567");
  CHECK(error_code_of(read) == "model_file_truncated");
  write_text(path, std::string("\x40\0\0\0\0\0\0\0{}", 10));  // a header of 64 bytes in a file of 10
  CHECK(error_code_of(read) == "model_file_truncated");
  write_text(path, std::string(8, '\xff') + "{}");
  CHECK(error_code_of(read) == "model_file_invalid");
  CHECK(with_header("{" + good + "}", 23) == "model_file_truncated");
  CHECK(with_header("{" + good + "}", 25) == "model_file_invalid");
  CHECK(with_header("{" + good) == "model_file_invalid");
  CHECK(with_header("[]") == "model_file_invalid");
  CHECK(with_header("{\"a\":3}") == "model_file_invalid");
  CHECK(with_header("{" + entry("a", "F32", "[2,-3]", "[0,24]") + "}") == "model_file_invalid");
  CHECK(with_header("{" + entry("a", "F32", "[2,3]", "[24,0]") + "}") == "model_file_invalid");
  CHECK(with_header("{" + entry("a", "F32", "[2,3]", "[0,20]") + "}") == "model_file_invalid");
  CHECK(with_header("{" + entry("a", "F32", "[4294967296,4294967296]", "[0,24]") + "}") == "model_file_invalid");
  CHECK(with_header("{" + good + "," + entry("b", "F32", "[2,3]", "[12,36]") + "}", 36) == "model_file_invalid");
  CHECK(with_header("{" + good + "," + entry("b", "F32", "[1]", "[28,32]") + "}", 32) == "model_file_invalid");
  CHECK(with_header("{" + entry("a", "F32", "[2,3]", "[1000000,1000024]") + "}") == "model_file_invalid");
  CHECK(with_header("{" + good + "," + entry("b", "F32", "[6]", "[24,48]") + "}", 24) == "model_file_truncated");
  CHECK(with_header("{" + entry("b", "F32", "[2,3]", "[0,24]") + "}") == "model_tensor_missing");
  CHECK(with_header("{" + entry("a", "BF16", "[2,3]", "[0,12]") + "}", 12) == "none");
  CHECK(with_header("{" + entry("a", "BF16", "[2,3]", "[0,24]") + "}") == "model_file_invalid");
  CHECK(with_header("{" + entry("a", "I16", "[2,3]", "[0,12]") + "}", 12) == "model_tensor_type");
  CHECK(with_header("{" + entry("a", "F32", "[3,2]", "[0,24]") + "}") == "model_tensor_shape");

  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    const std::vector<float> data = {1, 2, 3, bad, 5, 6};
    const NamedTensor tensor{"a", {2, 3}, data};
    write_safetensors(path, {&tensor, 1});
    CHECK(error_code_of(read) == "model_weights_non_finite");
  }
}

TEST_CASE("a full disk or a missing folder is reported, and existing files are kept") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "model.safetensors";
  const std::vector<float> data = {1, 2, 3};
  const NamedTensor tensor{"a", {3}, data};
  write_safetensors(path, {&tensor, 1});
  const std::vector<float> other = {4, 5, 6};
  const NamedTensor next{"a", {3}, other};
  {
    const FileSizeLimit limit(16);
    CHECK(error_code_of([&] { write_safetensors(path, {&next, 1}); }) == "disk_full");
  }
  CHECK(write_error(path, ENOSPC).code() == "disk_full");
  std::vector<float> values(3);
  const TensorDestination destinations[] = {{"a", {3}, values}};
  read_safetensors(path, destinations);
  CHECK(values == data);
  CHECK(error_code_of([&] { write_safetensors(folder.path() / "absent" / "model.safetensors", {&next, 1}); }) ==
        "file_unwritable");
}

TEST_CASE("an unsupported config.json is rejected") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "config.json";
  CHECK(error_code_of([&] { read_model_config(path); }) == "model_file_missing");
  const ModelConfig config = small_config({4, 2, 6, true});
  const auto changed = [&](const std::string& from, const std::string& to) {
    write_model_config(config, path);
    std::ifstream file(path);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    write_text(path, text.replace(at, from.size(), to));
    return error_code_of([&] { read_model_config(path); });
  };
  CHECK(changed("\"qwen2\"", "\"llama\"") == "model_unsupported");
  CHECK(changed("\"silu\"", "\"gelu\"") == "model_unsupported");
  CHECK(changed("\"use_sliding_window\": false", "\"use_sliding_window\": true") == "model_unsupported");
  CHECK(changed("\"rope_scaling\": null", "\"rope_scaling\": {\"type\": \"yarn\"}") == "model_unsupported");
  CHECK(changed("\"vocab_size\": 37", "\"vocab_size\": 0") == "model_config_invalid");
  CHECK(changed("\"vocab_size\": 37", "\"vocab_size\": \"37\"") == "model_config_invalid");
  CHECK(changed("\"num_hidden_layers\": ", "\"num_hidden_layers\": 1000000") == "model_config_invalid");
  CHECK(changed("\"vocab_size\"", "\"vocabulary\"") == "model_config_invalid");
  CHECK(changed("\"num_key_value_heads\": 2", "\"num_key_value_heads\": 3") == "model_config_invalid");
  CHECK(changed("\"head_dim\": 6", "\"head_dim\": 7") == "model_config_invalid");
  CHECK(changed("\"head_dim\": 6", "\"head_dim\": null") == "model_config_invalid");  // 20 / 4 heads = 5 is odd
  CHECK(changed("\"rope_theta\": 1000.0",
                "\"rope_parameters\": {\"rope_type\": \"default\", \"rope_theta\": 1000.0}") == "none");
  CHECK(read_model_config(path) == config);
}

}  // namespace starpo
