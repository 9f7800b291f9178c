#include <doctest/doctest.h>

#include <algorithm>

#include "error_code.h"
#include "rollout/rollout.h"
#include "tiny_run.h"
#include "train/context/levels.h"
#include "train/first_step/first_step_check.h"
#include "train/metrics/rollout_metrics.h"
#include "train/update/estimate_advantages.h"
#include "train/update/policy_update.h"

using namespace starpo;
using namespace starpo::test;

namespace {

// A short run of a starter preset: the starter policy, 8 episodes, one iteration.
struct FirstStep : TinyRun {
  FirstStep() {
    config["start"]["model"] = (repository() / "resources/starter").string();
    config["environments"][0]["validate"] = false;
    config["iterations"] = 1;
    config["device"] = "cpu";
    config["rollout"].update({{"groups", 2}, {"group_size", 4}, {"max_response_tokens", 96}, {"context", 768}});
    config["policy_loss"]["mini_batch"] = 4;
    config["optimizer"]["learning_rate"] = 1e-4;
  }

  // Trains and returns the findings: "valid_responses wrong -> environments.0.prompt.first; ...".
  std::string findings() {
    REQUIRE(train() == 0);
    const auto checks = events("first_step_check");
    REQUIRE(checks.size() == 1);
    std::string text;
    for (const json& check : checks[0].at("checks")) {
      if (check.at("verdict") == "ok") continue;
      text += (text.empty() ? "" : "; ") + check.at("name").get<std::string>() + " " +
              check.at("verdict").get<std::string>() + " -> " + check.at("setting").get<std::string>();
    }
    return text;
  }

  // Returns code and message of the refusal.
  std::pair<std::string, std::string> refusal() {
    CHECK(train() == 1);
    const json failed = events("failed").at(0);
    return {failed.at("code"), failed.at("message")};
  }
};

}  // namespace

TEST_CASE_FIXTURE(FirstStep, "the first-step check of a sound run lists every check with its value and finds nothing") {
  config["iterations"] = 2;
  CHECK(findings() == "");
  const json event = events("first_step_check")[0];
  CHECK(event.at("iteration") == 1);
  CHECK(event.at("seq") == events("iteration")[0].at("seq").get<int>() + 1);
  std::string names;
  for (const json& check : event.at("checks")) {
    names += check.at("name").get<std::string>() + " ";
    CHECK(check.at("value").is_number());
    CHECK_FALSE(check.at("message").get<std::string>().empty());
  }
  CHECK(names ==
        "gradient_norm logprob_gap trained_tokens equal_rewards truncated_responses valid_responses sampling_entropy "
        "step_kl update_ratio ");
}

TEST_CASE_FIXTURE(FirstStep, "the first-step check names a missing prompt") {
  config["environments"][0]["prompt"] = {{"system", ""}, {"first", ""}, {"next", ""}};
  CHECK(findings().find("valid_responses suspicious -> environments.0.prompt.first") != std::string::npos);
}

TEST_CASE_FIXTURE(FirstStep, "a run refuses a tokenizer without the chat template's tokens") {
  std::filesystem::copy(repository() / "resources/starter", model.path(),
                        std::filesystem::copy_options::overwrite_existing);
  config["start"]["model"] = model.path().string();
  std::string tokenizer = read_text(model.path() / "tokenizer.json");
  for (std::size_t at; (at = tokenizer.find("<|im_start|>")) != std::string::npos;)
    tokenizer.replace(at, 12, "<|other|>");
  write_text(model.path() / "tokenizer.json", tokenizer);
  CHECK(refusal() ==
        std::pair<std::string, std::string>("tokenizer_token_missing", "the tokenizer has no token <|im_start|>"));
}

TEST_CASE_FIXTURE(FirstStep, "the first-step check names a learning rate that is 100 times too high") {
  config["optimizer"]["learning_rate"] = 1e-2;
  CHECK(findings() == "step_kl wrong -> optimizer.learning_rate; update_ratio wrong -> optimizer.learning_rate");
}

TEST_CASE_FIXTURE(FirstStep, "the first-step check names frozen weights") {
  config["optimizer"]["learning_rate"] = 1e-13;
  config["optimizer"]["weight_decay"] = 0;
  CHECK(findings() == "step_kl suspicious -> optimizer.learning_rate; update_ratio wrong -> optimizer.learning_rate");
}

TEST_CASE_FIXTURE(FirstStep, "the first-step check accepts the small step of a warm-up") {
  config["optimizer"]["warmup"] = 1000;
  CHECK(findings() == "");
}

TEST_CASE_FIXTURE(FirstStep, "the first-step check names truncated responses as the cause of equal rewards") {
  config["rollout"]["max_response_tokens"] = 4;
  const std::string found = findings();
  CHECK(found.find("equal_rewards wrong -> rollout.max_response_tokens") != std::string::npos);
  CHECK(found.find("truncated_responses wrong -> rollout.max_response_tokens") != std::string::npos);
}

TEST_CASE_FIXTURE(FirstStep, "a temperature of 0 is refused, and one near 0 is named as the cause of equal rewards") {
  config["rollout"]["temperature"] = 0.01;
  config["environments"][0]["max_turns"] = 1;
  const std::string found = findings();
  CHECK(found.find("equal_rewards wrong -> rollout.temperature") != std::string::npos);
  CHECK(found.find("sampling_entropy wrong -> rollout.temperature") != std::string::npos);
  config["rollout"]["temperature"] = 0;
  CHECK(error_code_of([&] { parse_run_config(config.dump()); }) == "config_invalid");
}

TEST_CASE_FIXTURE(FirstStep, "a run refuses a LoRA adapter") {
  std::filesystem::copy(repository() / "resources/starter", model.path(),
                        std::filesystem::copy_options::overwrite_existing);
  config["start"]["model"] = model.path().string();
  write_text(model.path() / "adapter_config.json", R"({"peft_type": "LORA"})");
  CHECK(refusal().first == "model_is_adapter");
}

TEST_CASE("the first-step check names labels that are shifted by one token, and a constant reward") {
  TemporaryFolder folder;
  make_tiny_model_folder(folder.path());
  RunConfig config = small_run_config();
  config.optimizer.learning_rate = 1e-4;
  config.policy_loss.entropy_coefficient = 0;
  config.optimizer.weight_decay = 0;
  // Returns the findings of an update on the tiny policy's rollout, with scores and label positions changed.
  const auto findings = [&](double score_step, int label_shift) {
    auto state = tiny_state(config, folder.path());
    const auto generator = state->replica.policy->make_generator(7, config.rollout.context);
    const auto specs = training_episodes(config, 1);
    auto episodes = run_rollout(*generator, {specs,
                                             state->playground.rules,
                                             state->playground.prototypes,
                                             {},
                                             {config.seed, RandomStream::train_sampling},
                                             1,
                                             {}});
    for (std::size_t i = 0; i < episodes.size(); ++i) {
      episodes[i].score = score_step * static_cast<double>(i);
      for (auto& turn : episodes[i].turns) turn.score = 0;
      episodes[i].turns.back().score = episodes[i].score;
    }
    Metrics metrics = rollout_metrics(episodes, true);
    auto kept = estimate_advantages(config, state->replica, episodes, {true, true, true}, metrics, [] {});
    for (Sequence& sequence : kept)
      for (auto& target : sequence.targets) target -= label_shift;
    FirstStepProbe probe(config, state->replica, kept, [] {});
    metrics.merge(update_policy(config, state->replica, 1, kept, [](int, int) {}).metrics);
    std::string text;
    for (const FirstStepCheck& check : first_step_check(config, metrics, probe.measure()))
      if (check.verdict == Verdict::wrong) text += check.name + " ";
    return text;
  };
  // The tiny policy's weights are random, so its responses are never valid.
  CHECK(findings(1, 0) == "truncated_responses valid_responses ");
  CHECK(findings(1, 1) == "logprob_gap truncated_responses valid_responses ");
  CHECK(findings(0, 0) == "gradient_norm equal_rewards truncated_responses valid_responses update_ratio ");
}

TEST_CASE("the first-step check names contexts of many turns as the cause of few trained tokens") {
  for (const int turns : {0, 1, 5}) {
    RunConfig config;
    config.rollout.context_turns = turns;
    const auto checks = first_step_check(config, {}, {0.005, {}, {}});
    const auto check = std::ranges::find(checks, std::string("trained_tokens"), &FirstStepCheck::name);
    REQUIRE(check != checks.end());
    CHECK(check->verdict == Verdict::suspicious);
    CHECK(check->setting == (turns > 1 ? "rollout.context_turns" : "environments.0.prompt.first"));
  }
}

TEST_CASE_FIXTURE(TinyRun, "the first-step check is repeated when a critic's warm-up ends") {
  config["iterations"] = 3;
  config["advantage"].update({{"estimator", "gae"}, {"lambda", 0.95}, {"whiten", true}});
  config["critic"].update({{"model", "head"}, {"warmup", 1}});
  REQUIRE(train() == 0);
  CHECK(listed("first_step_check", "type") == "1 first_step_check, 2 first_step_check");
  const auto names = [&](std::size_t i) {
    std::string text;
    const json event = events("first_step_check")[i];
    for (const json& check : event.at("checks")) text += check.at("name").get<std::string>() + " ";
    return text;
  };
  CHECK(names(0).find("step_kl") == std::string::npos);
  CHECK(names(1).find("gradient_norm") == 0);
  CHECK(names(1).find("step_kl") != std::string::npos);
}
