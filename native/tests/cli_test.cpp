#include <doctest/doctest.h>
#include <sys/wait.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "journal/journal.h"
#include "model/folder.h"
#include "model_fixtures.h"
#include "repository.h"
#include "temporary_folder.h"
#include "tiny_policy.h"
#include "whole_files.h"

using namespace starpo;
using nlohmann::json;

namespace {

struct Result {
  int status;
  std::string out, err;
};

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

Result run_trainer(const std::vector<std::string>& arguments, const std::string& input = "") {
  TemporaryFolder folder;
  write_text(folder.path() / "in", input);
  std::string command = quoted(test::trainer_program().string());
  for (const auto& argument : arguments) command += " " + quoted(argument);
  for (const char* redirection : {"< in", "> out", "2> err"}) {
    const std::string text = redirection;
    const auto space = text.rfind(' ');
    command += " " + text.substr(0, space) + " " + quoted((folder.path() / text.substr(space + 1)).string());
  }
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_text(folder.path() / "out"),
          read_text(folder.path() / "err")};
}

const std::string example_path = (test::repository() / "docs/formats/examples/run.json").string();
const std::string lake_config =
    R"({"size":4,"p":0.8,"is_slippery":false,"success_rate":0.8,"observation_format":"grid"})";

}  // namespace

TEST_CASE("validate accepts the example, prints warnings, and rejects invalid files with code, hint and status 2") {
  CHECK(run_trainer({"validate", example_path}).status == 0);
  TemporaryFolder folder;
  auto config = json::parse(read_text(example_path));
  config["filter"]["keep"] = 0;
  write_text(folder.path() / "run.json", config.dump());
  const auto warned = run_trainer({"validate", (folder.path() / "run.json").string(), "--json"});
  CHECK(warned.status == 0);
  CHECK(json::parse(warned.out).at("warnings").size() == 1);
  CHECK(json::parse(warned.out).at("idle").at(0) ==
        json{{"path", "filter.count"}, {"reason", "filter.strategy is not top_k"}});
  const auto as_text = run_trainer({"validate", (folder.path() / "run.json").string()});
  CHECK(as_text.out.find("no effect: critic.learning_rate, critic.value_clip, critic.gradient_clip, critic.warmup "
                         "(critic.model is none)\n") != std::string::npos);

  config["rollout"]["groups"] = "many";
  write_text(folder.path() / "run.json", config.dump());
  const auto rejected = run_trainer({"validate", (folder.path() / "run.json").string()});
  CHECK(rejected.status == 2);
  CHECK(rejected.err.starts_with("error: rollout.groups: "));
  CHECK(rejected.err.find("\n  code: config_invalid\n  hint: ") != std::string::npos);
  const auto as_json = run_trainer({"validate", "--json", (folder.path() / "run.json").string()});
  CHECK(as_json.status == 2);
  CHECK(json::parse(as_json.out).at("error").at("code") == "config_invalid");
}

TEST_CASE("invalid arguments exit with status 2, a code and a hint") {
  TemporaryFolder folder;
  const std::vector<std::pair<std::vector<std::string>, std::string>> calls{
      {{}, "usage"},
      {{"fly"}, "usage"},
      {{"validate"}, "usage"},
      {{"validate", "--fast", example_path}, "usage"},
      {{"validate", (folder.path() / "none.json").string()}, "config_missing"},
      {{"validate", folder.path().string()}, "config_unreadable"},
      {{"status", (folder.path() / "none").string()}, "run_missing"},
      {{"env", "chess", "--config", "{}"}, "config_invalid"},
      {{"env", "frozen-lake", "--config", "{"}, "config_invalid"},
      {{"env", "frozen-lake"}, "usage"},
      {{"play", folder.path().string(), "--checkpoint", "0"}, "usage"},
      {{"play", folder.path().string(), "--checkpoint", "0", "--on", "lake"}, "config_missing"},
      {{"tokenize"}, "usage"},
      {{"tokenize", folder.path().string()}, "tokenizer_missing"},
      {{"score"}, "usage"},
      {{"score", (folder.path() / "none").string()}, "model_file_missing"},
  };
  for (const auto& [arguments, code] : calls) {
    const auto result = run_trainer(arguments);
    CAPTURE(result.err);
    CHECK(result.status == 2);
    CHECK(result.err.find("\n  code: " + code + "\n  hint: ") != std::string::npos);
    CHECK(result.out.empty());
  }
}

TEST_CASE("help exits with status 0") {
  const auto help = run_trainer({"--help"});
  CHECK(help.status == 0);
  CHECK(help.out.find("warm-start") != std::string::npos);
}

TEST_CASE("schema prints JSON") { CHECK(json::parse(run_trainer({"schema"}).out).at("fields").size() > 60); }

namespace {

// Hides the GPUs of this machine.
struct NoGpu {
  NoGpu() { ::setenv("CUDA_VISIBLE_DEVICES", "-1", 1); }
  ~NoGpu() { ::unsetenv("CUDA_VISIBLE_DEVICES"); }
};

std::set<std::string> keys(const json& object) {
  std::set<std::string> names;
  for (const auto& [name, value] : object.items()) names.insert(name);
  return names;
}

}  // namespace

TEST_CASE("devices lists the CPU and the reason why no GPU is available, in the format of the example") {
  const NoGpu no_gpu;
  const auto described = json::parse(read_text(test::repository() / "docs/formats/examples/devices.json"));
  const auto devices = json::parse(run_trainer({"devices", "--json"}).out);
  CHECK(keys(devices) == keys(described));
  CHECK(keys(devices.at("cuda")) == keys(described.at("cuda")));
  const auto& cpu = devices.at("devices").at(0);
  CHECK(keys(cpu) == keys(described.at("devices").at(0)));
  CHECK(cpu.at("id") == "cpu");
  CHECK(cpu.at("available") == true);
  CHECK(cpu.at("threads").get<int>() >= 1);
  CHECK(cpu.at("memory_bytes").get<std::int64_t>() > 0);
  CHECK_FALSE(cpu.at("isa").get<std::string>().empty());

  CHECK(devices.at("devices").size() == 1);
  const auto& problem = devices.at("cuda").at("problem");
  const std::set<std::string> codes{"built_without_cuda", "driver_missing", "driver_too_old", "no_gpu", "gpu_failed"};
  CHECK(codes.contains(problem.at("code").get<std::string>()));
  const std::string text = run_trainer({"devices"}).out;
  CHECK(text.starts_with("cpu     "));
  CHECK(text.find("\ncuda    not available: " + problem.at("message").get<std::string>() + "; " +
                  problem.at("hint").get<std::string>() + "\n") != std::string::npos);
}

TEST_CASE("selftest checks the CPU and rejects a missing GPU") {
  const NoGpu no_gpu;
  const auto passed = run_trainer({"selftest", "--device", "cpu"});
  CHECK(passed.status == 0);
  CHECK(passed.out.find("\nok      cpu scalar product ") != std::string::npos);
  CHECK(passed.out.find(" passed, 0 failed\n") != std::string::npos);

  const auto filtered = run_trainer({"selftest", "--json", "--filter", "scalar product"});
  CHECK(filtered.status == 0);
  std::istringstream lines(filtered.out);
  std::string result, summary;
  std::getline(lines, result);
  std::getline(lines, summary);
  CHECK(json::parse(result).at("ok") == true);
  CHECK(json::parse(result).at("error").get<double>() < 1e-7);
  CHECK(json::parse(summary) == json{{"device", "cpu"}, {"passed", 1}, {"failed", 0}});

  for (const char* device : {"cuda:0", "cuda", "cuda:7", "cuda:", "cuda:-1", "gpu"}) {
    const auto rejected = run_trainer({"selftest", "--device", device});
    CAPTURE(device);
    CHECK(rejected.status == 2);
    CHECK(rejected.err.find("\n  code: device_unavailable\n  hint: ") != std::string::npos);
  }
  CHECK(run_trainer({"selftest", "--device", "cpu", "--filter", "nothing"}).err.find("code: check_unknown") !=
        std::string::npos);
}

TEST_CASE("status reports the lock holder and the progress of the run") {
  TemporaryFolder run;
  const auto status = [&] { return json::parse(run_trainer({"status", run.path().string(), "--json"}).out); };
  CHECK(status() == json{{"locked", false},
                         {"pid", nullptr},
                         {"host", nullptr},
                         {"started", nullptr},
                         {"last_seq", nullptr},
                         {"iteration", 0}});
  {
    Journal journal(run.path());
    journal.started({.resume = std::nullopt,
                     .isa = "",
                     .device = "",
                     .device_name = "",
                     .device_uuid = "",
                     .threads = 1,
                     .iterations = 1,
                     .parameters = 1});
    journal.iteration(5, {}, {});
    const auto held = status();
    CHECK(held.at("locked") == true);
    CHECK(held.at("host") == host_name());
    CHECK(held.at("last_seq") == 1);
    CHECK(held.at("iteration") == 5);
  }
  CHECK(status().at("locked") == false);
  CHECK(run_trainer({"status", run.path().string()}).out == "trainer: none\niteration: 5\nlast event: 1\n");
}

TEST_CASE("env follows the protocol, continues after invalid lines, and exits with 0 at the end of input or on close") {
  const auto result = run_trainer({"env", "frozen-lake", "--config", lake_config},
                                  "{\"step\":\"Left\"}\nnonsense\n{\"reset\":-1}\n{\"reset\":1.5}\n{\"reset\":"
                                  "9223372036854775808}\n{\"reset\":0,\"step\":\"Left\"}\n[]\n"
                                  "{\"reset\":0}\n{\"step\":3}\n{\"step\":\"Fly\"}\n{\"step\":\"left\"}\n{\"step\":"
                                  "\"left\"}\n{\"fly\":1}\n{\"close\":true}\n{\"reset\":0}\n");
  CHECK(result.status == 0);
  std::vector<json> answers;
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) answers.push_back(json::parse(line));
  REQUIRE(answers.size() == 13);
  const auto code = [&](int i) { return answers[i].at("error").at("code").get<std::string>(); };
  CHECK(code(0) == "no_episode");
  for (const int i : {1, 2, 3, 4, 5, 6, 8, 12}) CHECK(code(i) == "malformed_line");
  CHECK(answers[7] == json{{"observation", "__GP\nOO__\n_OO_\nO___"},
                           {"board", "__GP\nOO__\n_OO_\nO___"},
                           {"actions", {"Left", "Down", "Right", "Up"}},
                           {"info", json::object()}});
  CHECK(answers[9].at("info") == json{{"effective", false}, {"valid", false}, {"success", false}, {"slipped", false}});
  CHECK(answers[10].at("reward") == 1);
  CHECK(answers[10].at("done") == true);
  CHECK(code(11) == "no_episode");
  CHECK(run_trainer({"env", "frozen-lake", "--config", lake_config}).status == 0);
}

TEST_CASE("score needs no tokenizer, continues after invalid lines, and exits with 0 at the end of input") {
  TemporaryFolder folder;
  const ParameterLayout layout(small_config({4, 2, 6, false}));
  write_model_folder(folder.path(), layout, std::vector<float>(layout.size()), {3});
  const auto result = run_trainer({"score", folder.path().string()},
                                  "{\"ids\": [1, 2]}\nnonsense\n{\"ids\": [1, 37]}\n{\"ids\": [1, 2, 3]}");
  CHECK(result.status == 0);
  CHECK(result.err.empty());
  std::vector<json> answers;
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) answers.push_back(json::parse(line));
  REQUIRE(answers.size() == 4);
  CHECK(answers[0].at("logprobs").at(0).get<double>() == doctest::Approx(-std::log(37.0)).epsilon(1e-6));
  CHECK(answers[1].at("error").at("code") == "malformed_line");
  CHECK(answers[2].at("error").at("code") == "token_out_of_vocabulary");
  CHECK(answers[3].at("entropies").size() == 2);
  CHECK(run_trainer({"score", folder.path().string()}).status == 0);

  std::filesystem::resize_file(folder.path() / "model.safetensors", 100);
  const auto rejected = run_trainer({"score", folder.path().string()}, "{\"ids\": [1, 2]}\n");
  CHECK(rejected.status == 2);
  CHECK(rejected.out.empty());
  CHECK(rejected.err.find("\n  code: model_file_truncated\n  hint: ") != std::string::npos);
}

TEST_CASE("env reproduces the example session of the environment protocol") {
  std::istringstream lines(read_text(test::repository() / "docs/formats/examples/env-protocol.jsonl"));
  std::string requests, answers;
  for (std::string request, answer;
       std::getline(lines, request) && (json::parse(request).contains("close") || std::getline(lines, answer));) {
    requests += request + "\n";
    if (!json::parse(request).contains("close")) answers += answer + "\n";
  }
  CHECK(requests.find("close") != std::string::npos);
  const auto result =
      run_trainer({"env", "frozen-lake", "--config",
                   R"({"size":4,"p":0.8,"is_slippery":true,"success_rate":0.8,"observation_format":"grid"})"},
                  requests);
  CHECK(result.out == answers);
}

TEST_CASE("play renders prompts, parses responses and applies the limits of a run's episodes") {
  TemporaryFolder run;
  const auto checkpoint = run.path() / "checkpoints/000000";
  test::make_tiny_model_folder(checkpoint);
  auto config = json::parse(read_text(example_path));
  config["start"]["model"] = checkpoint.string();
  config["environments"][0]["max_turns"] = 2;
  write_text(run.path() / "run.json", config.dump());
  const std::string label = config["environments"][0]["label"];
  const auto play = [&](const std::vector<json>& requests) {
    std::string input;
    for (const auto& request : requests) input += request.dump() + "\n";
    const auto result = run_trainer({"play", run.path().string(), "--checkpoint", "0", "--on", label}, input);
    CHECK(result.status == 0);
    CHECK(result.err.empty());
    std::vector<json> answers;
    std::istringstream lines(result.out);
    for (std::string line; std::getline(lines, line);) answers.push_back(json::parse(line));
    REQUIRE(answers.size() == requests.size());
    return answers;
  };
  const auto tokenizer = Tokenizer::load(checkpoint);
  const auto response = [&](const std::string& text) {
    auto ids = tokenizer.encode(text);
    ids.push_back(tokenizer.token_id("<|im_end|>"));
    return ids;
  };

  const auto right = response("right it is</think><answer>Right || fly</answer>");
  const auto answers = play({json{{"level", 1}}, json{{"text", tokenizer.encode("right")}}, json{{"response", right}},
                             json{{"response", response("no answer")}}, json{{"level", 1}}});
  CHECK(answers[0].at("initial").get<std::string>().find('P') != std::string::npos);
  CHECK(answers[0].at("actions").size() == 4);
  const auto prompt = tokenizer.decode(answers[0].at("prompt").get<std::vector<std::int32_t>>());
  CHECK(prompt.ends_with("<|im_start|>assistant\n<think>"));
  CHECK(answers[1] == json{{"text", "<think>right"}});
  const json& turn = answers[2].at("turn");
  CHECK(turn.at("think") == "right it is");
  CHECK(turn.at("actions") == json{"Right", "fly"});
  CHECK(turn.at("executed").size() == 1);
  CHECK(turn.at("penalty") == config["reward"]["format_penalty"]);
  CHECK(answers[2].at("ended") == nullptr);
  CHECK_FALSE(answers[2].at("context").empty());
  CHECK(answers[3].at("turn").at("format_valid") == false);
  CHECK(answers[3].at("ended") == "max_turns");
  CHECK(answers[3].at("context").empty());
  CHECK(answers[4] == answers[0]);
  CHECK(answers[2].at("begins_context") == false);
  config["rollout"]["context_turns"] = 1;
  write_text(run.path() / "run.json", config.dump());
  const auto alone = play({json{{"level", 1}}, json{{"response", response("no answer")}}});
  CHECK(alone[1].at("begins_context") == true);
  CHECK(alone[1].at("context") == alone[0].at("prompt"));  // the prompts show the state alone, which is the same

  auto overlong = right;
  overlong.push_back(0);
  const auto errors = play({json{{"response", right}}, json{{"level", 0}}, json{{"level", 1}, {"text", right}},
                            json{{"level", 1}}, json{{"response", json::array()}}, json{{"response", overlong}},
                            json{{"response", json::array({1000000})}}, json{{"response", json::array({1.5})}}});
  const auto code = [&](int i) { return errors[i].at("error").at("code").get<std::string>(); };
  CHECK(code(0) == "no_episode");
  for (const int i : {1, 2, 4, 5, 7}) CHECK(code(i) == "malformed_line");
  CHECK(code(6) == "token_out_of_vocabulary");
  const auto unknown = run_trainer({"play", run.path().string(), "--checkpoint", "0", "--on", "chess"});
  CHECK(unknown.err.find("code: environment_unknown") != std::string::npos);
}

TEST_CASE("inspect reports the shape of a model, and rejects models that can't be trained") {
  TemporaryFolder folder;
  test::make_tiny_model_folder(folder.path());
  const auto inspect = [&] { return run_trainer({"inspect", folder.path().string(), "--json"}); };
  const auto code = [&] { return json::parse(inspect().out).at("error").at("code").get<std::string>(); };
  const auto facts = json::parse(inspect().out);
  CHECK(facts.at("parameters") == ParameterLayout(read_model_folder_config(folder.path())).size());
  CHECK(facts.at("num_hidden_layers") == 1);
  CHECK(facts.at("stop_ids") == json{507});
  CHECK(run_trainer({"inspect", folder.path().string()}).out.find("parameters") != std::string::npos);

  auto config = json::parse(read_text(folder.path() / "config.json"));
  const auto change = [&](const char* key, const json& value) {
    auto changed = config;
    changed[key] = value;
    write_text(folder.path() / "config.json", changed.dump());
  };
  change("architectures", {"LlamaForCausalLM"});
  CHECK(code() == "model_unsupported");
  change("vocab_size", 448);
  CHECK(code() == "model_tokenizer_mismatch");
  change("hidden_size", 128);
  CHECK(code() == "model_tensor_shape");
  write_text(folder.path() / "config.json", config.dump());
  std::filesystem::remove(folder.path() / "tokenizer.json");
  CHECK(code() == "tokenizer_missing");
  std::filesystem::remove(folder.path() / "model.safetensors");
  std::filesystem::copy_file(test::repository() / "resources/starter/tokenizer.json", folder.path() / "tokenizer.json");
  CHECK(code() == "model_file_missing");
}
