#include <doctest/doctest.h>

#include <limits>

#include "base/error.h"
#include "model/folder.h"
#include "tiny_run.h"
#include "whole_files.h"

using namespace starpo;
using namespace starpo::test;

namespace {

struct Start : TinyRun {
  json model_config() const { return json::parse(read_text(model.path() / "config.json")); }
  void change_model_config(const json& changes) const {
    json changed = model_config();
    changed.update(changes);
    write_text(model.path() / "config.json", changed.dump());
  }

  // Checks the error of a run with an invalid model folder on both devices.
  void check_rejected(const std::string& code, const std::string& named) {
    for (const std::string device : {"cpu", "cuda"}) {
      CAPTURE(device);
      CAPTURE(named);
      config["device"] = device;
      std::filesystem::remove(run.path() / "events.jsonl");
      CHECK(train() == 1);
      CHECK(events("started").empty());
      REQUIRE(events("failed").size() == 1);
      const json failed = events("failed")[0];
      CHECK(failed.at("code") == code);
      CHECK(failed.at("message").get<std::string>().find(named) != std::string::npos);
      CHECK_FALSE(failed.at("hint").get<std::string>().empty());
    }
  }
};

}  // namespace

TEST_CASE_FIXTURE(Start, "a run rejects a model that is not Qwen2 and reports the field") {
  const json good = model_config();
  const json changes{
      {"model_type", "llama"},      {"architectures", {"Qwen2MoeForCausalLM"}}, {"hidden_act", "gelu"},
      {"use_sliding_window", true}, {"quantization_config", {{"bits", 4}}},     {"rope_scaling", {{"type", "yarn"}}}};
  for (const auto& [field, value] : changes.items()) {
    write_text(model.path() / "config.json", good.dump());
    change_model_config({{field, value}});
    check_rejected("model_unsupported", field);
  }
}

TEST_CASE_FIXTURE(Start, "a run rejects weights that are not finite or do not match config.json") {
  const ParameterLayout layout(read_model_folder_config(model.path()));
  auto weights = read_model_folder_weights(model.path(), layout);
  weights[layout.find("model.layers.0.mlp.up_proj.weight").offset + 3] = std::numeric_limits<float>::quiet_NaN();
  write_model_folder(model.path(), layout, weights, {507});
  check_rejected("model_weights_non_finite", "model.layers.0.mlp.up_proj.weight");

  make_tiny_model_folder(model.path());
  change_model_config({{"intermediate_size", 104}});
  check_rejected("model_tensor_shape", "model.layers.0.mlp");
  make_tiny_model_folder(model.path());
  change_model_config({{"num_hidden_layers", 2}});
  check_rejected("model_tensor_missing", "model.layers.1");
}

TEST_CASE_FIXTURE(Start, "a run rejects a model without a tokenizer or with another model's tokenizer") {
  change_model_config({{"vocab_size", 504}});
  check_rejected("model_tokenizer_mismatch", "504");
  std::filesystem::remove(model.path() / "tokenizer.json");
  check_rejected("tokenizer_missing", "tokenizer.json");
}

TEST_CASE_FIXTURE(Start, "a GPU rejects a shape without kernels and suggests the CPU") {
  config["start"]["weights"] = "random";
  const json good = model_config();
  for (const auto& [changes, named] :
       {std::pair{json{{"head_dim", 48}}, "head_dim of 48"}, {json{{"intermediate_size", 100}}, "intermediate_size"}}) {
    write_text(model.path() / "config.json", good.dump());
    change_model_config(changes);
    config["device"] = "cuda";
    CHECK(train() == 1);
    const json failed = events("failed").back();
    CHECK(failed.at("code") == "model_unsupported");
    CHECK(failed.at("message").get<std::string>().find(named) != std::string::npos);
    CHECK(failed.at("hint").get<std::string>().find("device cpu") != std::string::npos);
  }
}

TEST_CASE_FIXTURE(Start, "an unavailable device is rejected by name, with the available devices") {
  for (const char* device : {"cuda:1", "cuda:77"}) {
    config["device"] = device;
    CHECK(train() == 1);
    const json failed = events("failed").back();
    CHECK(failed.at("code") == "device_unavailable");
    CHECK(failed.at("message").get<std::string>().find("the last GPU is cuda:0") != std::string::npos);
  }
  for (const char* device : {"gpu", "cuda:", "cuda:-1", "cuda:x", ""}) {
    config["device"] = device;
    CHECK_THROWS_AS(train(), Error);  // an invalid configuration starts nothing
  }
  CHECK(events("started").empty());
}
