#pragma once

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tiny_policy.h"
#include "train/run/train.h"

namespace starpo::test {

using nlohmann::json;

// A run of the tiny policy with evaluations and checkpoints only at start and end.
struct TinyRun {
  TemporaryFolder model, run;
  json config = json::parse(read_text(repository() / "docs/formats/examples/run.json"));

  TinyRun() {
    make_tiny_model_folder(model.path());
    config["start"]["model"] = model.path().string();
    config["iterations"] = 2;
    config["threads"] = 1;
    config["rollout"].update({{"groups", 3}, {"group_size", 4}, {"max_response_tokens", 12}, {"context", 300}});
    config["filter"]["strategy"] = "none";
    config["policy_loss"]["mini_batch"] = 4;
    config["evaluation"].update({{"every", 0}, {"levels", 3}});
    config["checkpoint"]["every"] = 0;
  }

  int train() {
    write_text(run.path() / "run.json", config.dump());
    return run_training(run.path());
  }

  std::vector<json> events(const std::string& type) const {
    std::vector<json> found;
    std::istringstream lines(read_text(run.path() / "events.jsonl"));
    // A line without an end is still being written.
    for (std::string line; std::getline(lines, line) && !lines.eof();)
      if (auto event = json::parse(line); event.at("type") == type) found.push_back(std::move(event));
    return found;
  }

  // Returns iteration and another field of all events of a type: "0 frozen-lake, 2 frozen-lake".
  std::string listed(const std::string& type, const std::string& field) const {
    std::string text;
    for (const auto& event : events(type))
      text += (text.empty() ? "" : ", ") + event.at("iteration").dump() + " " + event.at(field).get<std::string>();
    return text;
  }

  std::string weights(const std::string& checkpoint) const {
    return read_text(run.path() / "checkpoints" / checkpoint / "model.safetensors");
  }
};

}  // namespace starpo::test
