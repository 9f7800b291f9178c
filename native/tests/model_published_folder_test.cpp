#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "error_code.h"
#include "files/float16.h"
#include "files/sha256.h"
#include "model/folder.h"
#include "model/published_files.h"
#include "model/safetensors.h"
#include "model_fixtures.h"
#include "temporary_folder.h"
#include "whole_files.h"

namespace starpo {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct RawTensor {
  std::string type;
  std::vector<std::int64_t> shape;
  std::string bytes;
};

void write_raw(const fs::path& path, const std::map<std::string, RawTensor>& tensors) {
  json header = {{"__metadata__", {{"format", "pt"}}}};
  std::string data;
  for (const auto& [name, tensor] : tensors) {
    header[name] = {{"dtype", tensor.type},
                    {"shape", tensor.shape},
                    {"data_offsets", {data.size(), data.size() + tensor.bytes.size()}}};
    data += tensor.bytes;
  }
  const std::string text = header.dump();
  const std::uint64_t size = text.size();
  write_text(path, std::string(reinterpret_cast<const char*>(&size), sizeof size) + text + data);
}

template <class Number>
std::string bytes_of(const std::vector<Number>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

// A parameter stored as `type`, and its values after reading.
struct Stored {
  RawTensor raw;
  std::vector<float> value;
};

Stored stored(const std::string& type, const TensorSlot& slot, const std::vector<float>& weights) {
  Stored result{{type, slot.shape, ""}, {}};
  const std::span<const float> values = std::span(weights).subspan(slot.offset, slot.size);
  if (type == "F32")
    return {{type, slot.shape, bytes_of(std::vector<float>(values.begin(), values.end()))},
            {values.begin(), values.end()}};
  std::vector<std::uint16_t> halves;
  for (const float value : values) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    halves.push_back(type == "F16" ? to_float16(value) : static_cast<std::uint16_t>(bits >> 16));
    result.value.push_back(type == "F16" ? from_float16(halves.back()) : std::bit_cast<float>(bits & 0xffff0000));
  }
  result.raw.bytes = bytes_of(halves);
  return result;
}

// A model folder whose tensors are distributed over shards of these types. A single type gives one model.safetensors.
struct PublishedFolder {
  PublishedFolder(bool tied, const std::vector<std::string>& types)
      : layout(small_config({4, 2, 6, tied})), expected(layout.size()) {
    write_model_config(layout.config(), folder.path() / "config.json");
    const std::vector<float> weights = large_weights(layout);
    shards.resize(types.size());
    json map;
    for (std::size_t i = 0; i < layout.tensors().size(); ++i) {
      const TensorSlot& slot = layout.tensors()[i];
      const Stored tensor = stored(types[i % types.size()], slot, weights);
      std::copy(tensor.value.begin(), tensor.value.end(), expected.begin() + static_cast<std::ptrdiff_t>(slot.offset));
      shards[i % types.size()][slot.name] = tensor.raw;
      map[slot.name] = shard_name(i % types.size());
    }
    index = {{"metadata", {{"total_size", 0}}}, {"weight_map", map}};
    write();
  }

  std::string shard_name(std::size_t i) const {
    return shards.size() == 1 ? "model.safetensors" : "model-0000" + std::to_string(i + 1) + ".safetensors";
  }
  fs::path path(const std::string& name) const { return folder.path() / name; }
  void write_index(const json& value) const { write_text(path("model.safetensors.index.json"), value.dump()); }
  void write() const {
    for (std::size_t i = 0; i < shards.size(); ++i) write_raw(path(shard_name(i)), shards[i]);
    if (shards.size() > 1) write_index(index);
  }
  std::vector<float> read() const { return read_model_folder_weights(folder.path(), layout); }
  std::string error() const {
    return error_code_of([&] { read(); });
  }

  TemporaryFolder folder;
  ParameterLayout layout;
  std::vector<float> expected;
  std::vector<std::map<std::string, RawTensor>> shards;
  json index;
};

std::vector<float> read_halves(const std::string& type, const std::vector<std::uint16_t>& halves) {
  const TemporaryFolder folder;
  const auto count = static_cast<std::int64_t>(halves.size());
  write_raw(folder.path() / "m.safetensors", {{"a", {type, {count}, bytes_of(halves)}}});
  std::vector<float> values(halves.size());
  const TensorDestination destination{"a", {count}, values};
  read_safetensors(folder.path() / "m.safetensors", {&destination, 1});
  return values;
}

}  // namespace

TEST_CASE("every half precision number is read exactly") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const int exponent = half >> 10 & 31, fraction = half & 1023;
    const double magnitude = exponent == 31  ? std::numeric_limits<double>::infinity()
                             : exponent == 0 ? std::ldexp(fraction, -24)
                                             : std::ldexp(1024 + fraction, exponent - 25);
    const float value = from_float16(half);
    const bool exact = exponent == 31 && fraction != 0
                           ? std::isnan(value)
                           : std::abs(static_cast<double>(value)) == magnitude && to_float16(value) == half;
    if (!exact || std::signbit(value) != (half >> 15 != 0)) FAIL("bits " << bits << " became " << value);
  }
}

TEST_CASE("F16 and BF16 tensors become fp32 exactly") {
  CHECK(same_bits(
      read_halves("F16", {0x0000, 0x8000, 0x3c00, 0xc000, 0x3555, 0x7bff, 0x0001, 0x83ff, 0x0400}),
      std::vector<float>{0.0f, -0.0f, 1.0f, -2.0f, 0x1.554p-2f, 65504.0f, 0x1p-24f, -0x1.ff8p-15f, 0x1p-14f}));
  CHECK(same_bits(read_halves("BF16", {0x0000, 0x8000, 0x3f80, 0xc000, 0x4049, 0x7f7f, 0x0001, 0x8080}),
                  std::vector<float>{0.0f, -0.0f, 1.0f, -2.0f, 3.140625f, 0x1.fep127f, 0x1p-133f, -0x1p-126f}));
  // More elements than are converted at a time.
  std::vector<std::uint16_t> many(40001);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<std::uint16_t>(i % 0x7c00);
  const auto values = read_halves("F16", many);
  bool same = true;
  for (std::size_t i = 0; i < many.size(); ++i) same = same && to_float16(values[i]) == many[i];
  CHECK(same);
  for (const std::uint16_t bad : {0x7c00, 0xfc00, 0x7e00, 0x7c01})
    CHECK(error_code_of([&] { read_halves("F16", {0, bad}); }) == "model_weights_non_finite");
  for (const std::uint16_t bad : {0x7f80, 0xff80, 0x7fc0, 0x7f81})
    CHECK(error_code_of([&] { read_halves("BF16", {bad, 0}); }) == "model_weights_non_finite");
}

TEST_CASE("folders of all types are read, with tied or untied embeddings, in one file or in shards") {
  for (const bool tied : {true, false})
    for (const std::vector<std::string>& types :
         {std::vector<std::string>{"F32"}, {"BF16"}, {"F16"}, {"BF16", "BF16"}, {"F32", "BF16", "F16"}}) {
      const PublishedFolder published(tied, types);
      CHECK(same_bits(published.read(), published.expected));
    }
}

TEST_CASE("lm_head must equal tied embeddings, and is required with untied ones") {
  const auto head_like = [](PublishedFolder& published, const std::string& data) {
    published.shards[0]["lm_head.weight"] = {"BF16", {37, 20}, data};
    published.index["weight_map"]["lm_head.weight"] = published.shard_name(0);
    published.write();
  };
  for (const std::size_t count : {1, 2}) {
    PublishedFolder tied(true, std::vector<std::string>(count, "BF16"));
    std::string data;
    for (const auto& shard : tied.shards)
      if (shard.contains("model.embed_tokens.weight")) data = shard.at("model.embed_tokens.weight").bytes;
    head_like(tied, data);
    CHECK(same_bits(tied.read(), tied.expected));
    data.back() ^= 1;
    head_like(tied, data);
    CHECK(tied.error() == "model_tied_head_differs");
    tied.shards[0]["lm_head.weight"] = {"BF16", {37, 10}, data.substr(0, data.size() / 2)};
    tied.write();
    CHECK(tied.error() == "model_tied_head_differs");

    PublishedFolder untied(false, std::vector<std::string>(count, "BF16"));
    for (auto& shard : untied.shards) shard.erase("lm_head.weight");
    untied.index["weight_map"].erase("lm_head.weight");
    untied.write();
    CHECK(untied.error() == "model_tensor_missing");
  }
}

TEST_CASE("tensors that the architecture doesn't have are rejected, except recomputed buffers") {
  const auto error_with = [](const std::string& name, std::size_t shards) {
    PublishedFolder published(true, std::vector<std::string>(shards, "F32"));
    published.shards[0][name] = {"F32", {2}, std::string(8, '\1')};
    published.index["weight_map"][name] = published.shard_name(0);
    published.write();
    return published.error();
  };
  for (const std::size_t shards : {1, 2}) {
    CHECK(error_with("model.layers.0.self_attn.rotary_emb.inv_freq", shards) == "none");
    for (const char* name : {"model.layers.0.self_attn.q_norm.weight", "model.layers.99.mlp.up_proj.weight",
                             "model.layers.0.self_attn.q_proj.lora_A.weight", "v_head.summary.weight"})
      CHECK(error_with(name, shards) == "model_tensor_unknown");
  }
}

TEST_CASE("a single file has priority over an index, and a folder with neither is rejected") {
  PublishedFolder published(true, {"F32", "F32"});
  const auto other = initial_weights(published.layout, 1);
  write_model_folder(published.folder.path(), published.layout, other, {3});
  CHECK(same_bits(published.read(), other));
  fs::remove(published.path("model.safetensors"));
  CHECK(same_bits(published.read(), published.expected));
  fs::remove(published.path("model.safetensors.index.json"));
  CHECK(published.error() == "model_file_missing");
}

TEST_CASE("shards may be links or in subfolders") {
  PublishedFolder published(true, {"F32", "F32"});
  const TemporaryFolder cache;
  fs::rename(published.path(published.shard_name(0)), cache.path() / "blob");
  fs::create_symlink(cache.path() / "blob", published.path(published.shard_name(0)));
  fs::create_directory(published.path("weights"));
  fs::rename(published.path(published.shard_name(1)), published.path("weights/second"));
  for (auto& shard : published.index["weight_map"])
    if (shard == published.shard_name(1)) shard = "weights/second";
  published.write_index(published.index);
  CHECK(same_bits(published.read(), published.expected));
}

TEST_CASE("an invalid index is rejected") {
  PublishedFolder published(true, {"F32", "BF16"});
  const std::string name = "model.norm.weight";
  const auto with_shard = [&](const json& shard) {
    json changed = published.index;
    changed["weight_map"][name] = shard;
    published.write_index(changed);
    return published.error();
  };
  CHECK(with_shard(published.index["weight_map"][name]) == "none");
  CHECK(with_shard("model-00009.safetensors") == "model_shard_missing");
  CHECK(with_shard("weights") == "model_shard_missing");
  fs::create_directory(published.path("weights"));
  CHECK(with_shard("weights") == "model_file_missing");
  // A valid file outside the folder is rejected too.
  const TemporaryFolder outside;
  fs::copy_file(published.path(published.shard_name(0)), outside.path() / "m");
  const std::string absolute = outside.path() / "m", relative = "../" + outside.path().filename().string() + "/m";
  for (const std::string& shard :
       {absolute, relative, "weights/../" + relative, std::string(".."), std::string(), std::string("weights/")})
    CHECK(with_shard(shard) == "model_index_invalid");
  CHECK(with_shard(3) == "model_index_invalid");
  CHECK(with_shard(nullptr) == "model_index_invalid");

  json without = published.index;
  without["weight_map"].erase(name);
  published.write_index(without);
  CHECK(published.error() == "model_tensor_missing");
  for (const json& wrong : {json::array(), json::object(), json{{"weight_map", 3}}, json(nullptr)}) {
    published.write_index(wrong);
    CHECK(published.error() == "model_index_invalid");
  }
  write_text(published.path("model.safetensors.index.json"), "{\"weight_map\": {");
  CHECK(published.error() == "model_index_invalid");
}

TEST_CASE("an invalid shard is rejected like a single file") {
  PublishedFolder published(true, {"F32", "BF16"});
  const std::string name = published.shards[1].begin()->first;
  const auto with_tensor = [&](const RawTensor& tensor) {
    PublishedFolder changed(true, {"F32", "BF16"});
    changed.shards[1][name] = tensor;
    changed.write();
    return changed.error();
  };
  CHECK(with_tensor({"BF16", {1, 2}, std::string(4, '\0')}) == "model_tensor_shape");
  CHECK(with_tensor({"F64", {1}, std::string(8, '\0')}) == "model_tensor_type");
  CHECK(with_tensor({"F8_E4M3", {1}, std::string(1, '\0')}) == "model_tensor_type");
  const fs::path second = published.path(published.shard_name(1));
  fs::resize_file(second, fs::file_size(second) - 1);
  CHECK(published.error() == "model_file_truncated");
  published.shards[1].erase(name);
  published.write();
  CHECK(published.error() == "model_tensor_missing");
}

// The fields of config.json of Qwen2.5-0.5B-Instruct, with the sizes of a tiny model.
const json published_config = json::parse(R"({
  "architectures": ["Qwen2ForCausalLM"], "attention_dropout": 0.0, "bos_token_id": 151643, "eos_token_id": 151645, "hidden_act": "silu", "hidden_size": 28,
  "initializer_range": 0.02, "intermediate_size": 40, "max_position_embeddings": 32768, "max_window_layers": 21, "model_type": "qwen2", "num_attention_heads": 14,
  "num_hidden_layers": 2, "num_key_value_heads": 2, "rms_norm_eps": 1e-06, "rope_theta": 1000000.0, "sliding_window": 32768, "tie_word_embeddings": true,
  "torch_dtype": "bfloat16", "transformers_version": "4.43.1", "use_cache": true, "use_sliding_window": false, "vocab_size": 151936})");

TEST_CASE("a published Qwen2.5 config.json is accepted") {
  const TemporaryFolder folder;
  write_text(folder.path() / "config.json", published_config.dump());
  const ModelConfig config = read_model_folder_config(folder.path());
  CHECK(config.head_dim == 2);
  CHECK(config.num_key_value_heads == 2);
  CHECK(config.rope_theta == 1e6f);
  CHECK(config.rms_norm_eps == 1e-6f);
  CHECK(config.tie_word_embeddings);
}

TEST_CASE("a config.json with unsupported arithmetic is rejected with the field") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "config.json";
  const auto code_after_change = [&](const char* key, const json& value) {
    json config = published_config;
    config[key] = value;
    write_text(path, config.dump());
    try {
      read_model_config(path);
    } catch (const Error& error) {
      const std::string message = error.what();
      return message.find(key) == std::string::npos ? "unnamed: " + message : error.code();
    }
    return std::string("none");
  };
  for (const auto& [key, value] :
       std::map<std::string, json>{{"model_type", "qwen2_moe"},
                                   {"architectures", json::array({"Qwen2ForSequenceClassification"})},
                                   {"hidden_act", "gelu"},
                                   {"attention_dropout", 0.1},
                                   {"use_sliding_window", true},
                                   {"use_mrope", true},
                                   {"quantization_config", {{"bits", 4}}},
                                   {"auto_map", {{"AutoModel", "modeling.Other"}}},
                                   {"layer_types", {"full_attention", "sliding_attention"}},
                                   {"rope_scaling", {{"type", "yarn"}, {"factor", 4.0}}}}) {
    CAPTURE(key);
    CHECK(code_after_change(key.c_str(), value) == "model_unsupported");
  }
  for (const char* key :
       {"hidden_size", "num_hidden_layers", "vocab_size", "rms_norm_eps", "rope_theta", "intermediate_size"})
    for (const json& value : {json("12"), json(-1), json(1e300), json(json::array())})
      CHECK(code_after_change(key, value) == "model_config_invalid");
  CHECK(code_after_change("rope_scaling", {{"rope_type", "default"}}) == "none");
  CHECK(code_after_change("layer_types", json::array({"full_attention", "full_attention"})) == "none");
  write_text(path, "{\"hidden_act\": " + std::string(1'000'000, '[') + std::string(1'000'000, ']') +
                       ", \"model_type\": \"qwen2\"}");
  CHECK(error_code_of([&] { read_model_config(path); }) == "model_unsupported");
}

TEST_CASE("stop ids are a number, a list, or those of config.json") {
  const TemporaryFolder folder;
  const auto stop_ids = [&](const json& generation) {
    write_text(folder.path() / "generation_config.json", generation.dump());
    return read_stop_ids(folder.path());
  };
  using Ids = std::vector<std::int32_t>;
  CHECK(read_stop_ids(folder.path()).empty());
  write_text(folder.path() / "config.json", published_config.dump());
  CHECK(read_stop_ids(folder.path()) == Ids{151645});
  CHECK(stop_ids({{"eos_token_id", {151645, 151643}}, {"temperature", 0.7}}) == Ids{151645, 151643});
  CHECK(stop_ids({{"eos_token_id", 151643}}) == Ids{151643});
  CHECK(stop_ids({{"temperature", 0.7}}) == Ids{151645});
  for (const json& bad : {json("x"), json(-1), json(1.5), json(std::int64_t{1} << 40), json::array({"x"}),
                          json::array({json::array({1})})})
    CHECK(error_code_of([&] { stop_ids({{"eos_token_id", bad}}); }) == "model_config_invalid");
  CHECK(error_code_of([&] { stop_ids(json::array()); }) == "model_config_invalid");
  write_text(folder.path() / "generation_config.json", std::string(1'000'000, '['));
  CHECK(error_code_of([&] { read_stop_ids(folder.path()); }) == "model_config_invalid");
  write_text(folder.path() / "generation_config.json",
             "{\"eos_token_id\": " + std::string(100'000, '[') + std::string(100'000, ']') + "}");
  CHECK(error_code_of([&] { read_stop_ids(folder.path()); }) == "model_config_invalid");
}

TEST_CASE(
    "the other files of a model folder are copied unchanged, except that the dtype in config.json becomes float32") {
  const TemporaryFolder folder;
  write_text(folder.path() / "config.json", published_config.dump());
  write_text(folder.path() / "generation_config.json", "{ \"eos_token_id\":[2,1],\"top_k\": 20 }\n");
  write_text(folder.path() / "merges.txt", "#version: 0.2\na b\n");
  write_text(folder.path() / "README.md", "not the model's");
  const auto files = read_published_files(folder.path());
  CHECK(files.size() == 3);
  CHECK(files.at("generation_config.json") == "{ \"eos_token_id\":[2,1],\"top_k\": 20 }\n");
  CHECK(files.at("merges.txt") == "#version: 0.2\na b\n");
  json expected = published_config;
  expected["torch_dtype"] = "float32";
  CHECK(json::parse(files.at("config.json")) == expected);
}

TEST_CASE("the digest of a folder is that of its file or of the digests and names of its shards") {
  const PublishedFolder whole(true, {"F32"}), sharded(true, {"F32", "BF16"});
  CHECK(model_folder_digest(whole.folder.path()) == sha256_of_file(whole.path("model.safetensors")));
  std::string lines;
  for (std::size_t i = 0; i < 2; ++i)
    lines += sha256_of_file(sharded.path(sharded.shard_name(i))) + "  " + sharded.shard_name(i) + "\n";
  CHECK(model_folder_digest(sharded.folder.path()) == sha256(lines));
  fs::remove(sharded.path(sharded.shard_name(1)));
  CHECK(error_code_of([&] { model_folder_digest(sharded.folder.path()); }) == "model_shard_missing");
  sharded.write_index({{"weight_map", {{"a", "../b"}}}});
  CHECK(error_code_of([&] { model_folder_digest(sharded.folder.path()); }) == "model_index_invalid");
}

}  // namespace starpo
