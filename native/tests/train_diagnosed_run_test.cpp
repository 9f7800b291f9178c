#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "journal/metric_names.h"
#include "rollout/rollout.h"
#include "tiny_run.h"
#include "train/context/levels.h"
#include "train/diagnostics/diagnostics.h"
#include "train/diagnostics/gradient_norms.h"
#include "train/diagnostics/mutual_information.h"

using namespace starpo;
using namespace starpo::test;

namespace {

// The tiny policy and its rollout of three levels with four episodes each.
struct Rollout {
  TemporaryFolder folder;
  RunConfig config = small_run_config();
  std::unique_ptr<TrainerState> state;
  std::unique_ptr<NetworkPass> pass;
  std::vector<Episode> episodes;

  void play() {
    make_tiny_model_folder(folder.path());
    state = tiny_state(config, folder.path());
    pass = state->replica.policy->make_pass();
    const auto generator = state->replica.policy->make_generator(7, config.rollout.context);
    const auto specs = training_episodes(config, 1);
    episodes = run_rollout(*generator, {specs,
                                        state->playground.rules,
                                        state->playground.prototypes,
                                        {},
                                        {config.seed, RandomStream::train_sampling},
                                        1,
                                        {}});
  }
};

struct DiagnosedRun : TinyRun {
  DiagnosedRun() {
    config["iterations"] = 3;
    config["diagnostics"].update({{"every", 1}, {"samples", 12}, {"probe", false}});
    config["checkpoint"]["every"] = 1;
  }

  // Returns diagnostics/* per iteration with diagnostics.
  std::vector<json> diagnosed() const {
    std::vector<json> found;
    for (const json& event : events("iteration")) {
      json own = json::object();
      for (const auto& [name, value] : event.at("metrics").items())
        if (name.starts_with("diagnostics/")) own[name] = value;
      if (!own.empty()) found.push_back(own);
    }
    return found;
  }

  // Returns the iterations with a diagnose phase.
  std::ptrdiff_t phases_diagnosed() const {
    return std::ranges::count_if(events("phase"), [](const json& event) { return event.at("name") == "diagnose"; });
  }

  bool plans(const std::string& part) const {
    const json plan = events("memory_plan").back();
    return std::ranges::any_of(plan.at("parts"), [&](const json& each) { return each.at("name") == part; });
  }
};

}  // namespace

TEST_CASE_FIXTURE(Rollout,
                  "the likelihood of reasoning given its own prompt equals the rollout's, for any micro-batches") {
  play();
  const auto whole =
      reasoning_likelihoods(*pass, episodes, 12, static_cast<float>(config.rollout.temperature), 4096, [] {});
  REQUIRE(whole.prompts == 3);
  REQUIRE(whole.own_prompts.size() == 12);
  REQUIRE(whole.values.size() == 36);
  for (std::size_t i = 0; i < 12; ++i) {
    const Turn& turn = episodes[i].turns.front();
    const auto length = std::min<std::ptrdiff_t>(turn.think_tokens + 1, std::ssize(turn.ids));
    CHECK(whole.own_prompts[i] == static_cast<int>(i) / 4);
    CHECK(whole.tokens[i] == length);
    CHECK(whole.values[i * 3 + i / 4] == std::accumulate(turn.logprobs.begin(), turn.logprobs.begin() + length, 0.0));
  }
  int passes = 0;
  const auto cut = reasoning_likelihoods(*pass, episodes, 12, static_cast<float>(config.rollout.temperature), 150,
                                         [&] { ++passes; });
  CHECK(passes > 5);
  CHECK(cut.values == whole.values);
  CHECK(reasoning_likelihoods(*pass, episodes, 6, 1, 4096, [] {}).own_prompts == std::vector<int>{0, 0, 1, 1, 2, 2});
}

TEST_CASE_FIXTURE(Rollout, "repeated reasoning is scored once and counted each time") {
  play();
  for (Episode& episode : episodes) {
    Turn& turn = episode.turns.front();
    turn.ids = episodes[0].turns.front().ids;
    turn.think_tokens = episodes[0].turns.front().think_tokens;
  }
  int passes = 0;
  const auto likelihoods = reasoning_likelihoods(*pass, episodes, 12, 1, 1, [&] { ++passes; });
  CHECK(passes == 3);  // one sequence each: one reasoning text given three prompts
  REQUIRE(likelihoods.values.size() == 36);
  for (std::size_t i = 3; i < 36; ++i) CHECK(likelihoods.values[i] == likelihoods.values[i - 3]);
}

TEST_CASE("small iterations use fewer diagnostic samples, but enough to compare") {
  RunConfig config;
  config.diagnostics.samples = 24;
  const auto samples = [&](int groups, int group_size) {
    config.rollout.groups = groups;
    config.rollout.group_size = group_size;
    return diagnostic_samples(config);
  };
  CHECK(samples(16, 16) == 24);
  CHECK(samples(8, 16) == 16);
  CHECK(samples(2, 4) == 8);
  config.diagnostics.samples = 4;
  CHECK(samples(16, 16) == 4);
}

TEST_CASE_FIXTURE(Rollout, "groups on one level have a single prompt, so mutual information is undefined") {
  config.levels.pool = 1;
  play();
  const auto likelihoods =
      reasoning_likelihoods(*pass, episodes, 12, 1, 4096, [] { FAIL("nothing need be computed"); });
  CHECK(likelihoods.prompts == 1);
  CHECK(likelihoods.own_prompts.empty());
}

TEST_CASE_FIXTURE(Rollout, "gradient norms are measured per third of the groups, and gradients are cleared") {
  play();
  std::vector<Sequence> sequences;
  for (std::size_t i = 0; i < episodes.size(); ++i) {
    // The second group has zero reward std, the third the highest.
    const double advantage = i / 4 == 1 ? 0 : i % 2 == 0 ? 1 : -1;
    episodes[i].score = advantage * static_cast<double>(i / 4 + 1);
  }
  for (const Episode& episode : episodes) {
    Sequence& sequence = sequences.emplace_back(make_sequences(episode).front());
    sequence.advantages.assign(sequence.targets.size(), episode.score);
  }
  const auto before = state_of(state->replica.policy->trained());
  const auto measure = [&](std::span<const Sequence> own, int micro_batch_tokens) {
    Metrics metrics;
    add_gradient_norms_by_reward_std(*state->replica.policy, *pass, own, {config.policy_loss, 1, 4, micro_batch_tokens},
                                     metrics, [] {});
    return metrics;
  };
  const auto metrics = measure(sequences, 4096);
  CHECK(metrics.at(std::string(metric::kDiagnosticsGradNormLowStd)) == 0);
  CHECK(metrics.at(std::string(metric::kDiagnosticsGradNormMiddleStd)) > 0);
  CHECK(metrics.at(std::string(metric::kDiagnosticsGradNormHighStd)) > 0);
  CHECK(measure(sequences, 100) == metrics);
  CHECK(measure(std::span(sequences).first(8), 4096).empty());
  CHECK(state->replica.policy->trained().squared_norm() == 0);
  CHECK(state_of(state->replica.policy->trained()) == before);
}

TEST_CASE_FIXTURE(DiagnosedRun, "diagnostics do not change any bit of a run and run at the configured interval") {
  config["advantage"].update({{"estimator", "gae"}, {"whiten", true}});
  config["critic"]["model"] = "head";
  CHECK(train() == 0);
  const auto weights_with = weights("000003");
  const auto all = diagnosed();
  REQUIRE(all.size() == 3);
  for (const json& each : all) {
    CHECK(each.at("diagnostics/mutual_information_ceiling") == doctest::Approx(std::log(3)));
    CHECK(each.at("diagnostics/mutual_information") < each.at("diagnostics/mutual_information_ceiling"));
    for (const char* name :
         {"diagnostics/marginal_entropy", "diagnostics/retrieval_accuracy_at_k", "diagnostics/grad_norm_high_std"})
      CHECK(each.contains(name));
  }
  CHECK(events("iteration").back().at("metrics").contains("time/diagnostics"));
  CHECK(plans("start"));
  CHECK(phases_diagnosed() == 3);

  std::filesystem::remove_all(run.path() / "checkpoints");
  std::filesystem::remove(run.path() / "events.jsonl");
  config["diagnostics"]["every"] = 2;
  CHECK(train() == 0);
  REQUIRE(diagnosed().size() == 1);
  CHECK(diagnosed()[0] == all[1]);
  CHECK(weights("000003") == weights_with);

  std::filesystem::remove_all(run.path() / "checkpoints");
  std::filesystem::remove(run.path() / "events.jsonl");
  config["diagnostics"]["every"] = 0;
  CHECK(train() == 0);
  CHECK(diagnosed().empty());
  CHECK(phases_diagnosed() == 0);
  CHECK_FALSE(plans("start"));
  CHECK(weights("000003") == weights_with);
}

TEST_CASE_FIXTURE(Rollout, "a probe plays one turn on the same levels in every iteration, with its own draws") {
  play();
  config.diagnostics.samples = 24;
  config.rollout.group_size = 64;  // large enough for this sample size
  const auto generator = state->replica.policy->make_generator(7, config.rollout.context);
  const auto probe = [&](int iteration) {
    return play_probe(config, state->playground, *generator, iteration, [](int) {});
  };
  const auto first = probe(1), again = probe(1), later = probe(2);
  REQUIRE(first.size() == 24);
  REQUIRE(later.size() == 24);
  std::set<std::uint64_t> levels;
  bool same_draws = true;
  for (std::size_t i = 0; i < first.size(); ++i) {
    CHECK(first[i].turns.size() == 1);
    CHECK(first[i].spec.group == static_cast<int>(i) / 3);
    CHECK(first[i].spec.seed == later[i].spec.seed);
    CHECK(first[i].turns[0].context_ids == later[i].turns[0].context_ids);
    CHECK(first[i].turns[0].ids == again[i].turns[0].ids);
    same_draws = same_draws && first[i].turns[0].ids == later[i].turns[0].ids;
    levels.insert(first[i].spec.seed);
  }
  CHECK(levels.size() == 8);
  CHECK_FALSE(same_draws);
  CHECK(first[0].turns[0].ids != first[1].turns[0].ids);
}

TEST_CASE_FIXTURE(
    DiagnosedRun,
    "a probe does not change any bit of a run, and mutual information is measured on the probe's levels") {
  config["diagnostics"]["every"] = 2;
  CHECK(train() == 0);
  const auto weights_without = weights("000003");
  CHECK(diagnosed().at(0).at("diagnostics/mutual_information_ceiling") == doctest::Approx(std::log(3)));

  std::filesystem::remove_all(run.path() / "checkpoints");
  std::filesystem::remove(run.path() / "events.jsonl");
  config["diagnostics"]["probe"] = true;
  CHECK(train() == 0);
  CHECK(diagnosed().at(0).at("diagnostics/mutual_information_ceiling") == doctest::Approx(std::log(8)));
  CHECK(weights("000003") == weights_without);
}

TEST_CASE_FIXTURE(DiagnosedRun, "drift is measured from the start weights of the run, also after a resume") {
  CHECK(train() == 0);
  const auto whole = diagnosed();
  CHECK(whole[0].at("diagnostics/kl_from_start") == 0);
  CHECK(whole[1].at("diagnostics/kl_from_start") > 0);
  std::filesystem::remove_all(model.path());
  std::filesystem::remove_all(run.path() / "checkpoints/000003");
  CHECK(train() == 0);
  CHECK(events("started").back().at("resume").at("iteration") == 2);
  CHECK(diagnosed().back() == whole[2]);
}

TEST_CASE_FIXTURE(DiagnosedRun, "a run without its start weights continues and warns that drift is not measured") {
  CHECK(train() == 0);
  const auto weights_with = weights("000003");
  json without_drift = diagnosed().back();
  without_drift.erase("diagnostics/kl_from_start");
  std::filesystem::remove_all(model.path());
  std::filesystem::remove(run.path() / "checkpoints/000000/model.safetensors");
  std::filesystem::remove_all(run.path() / "checkpoints/000003");
  CHECK(train() == 0);
  CHECK(events("log").back().at("message").get<std::string>().find("diagnostics/kl_from_start") != std::string::npos);
  CHECK(diagnosed().back() == without_drift);
  CHECK(weights("000003") == weights_with);
}

TEST_CASE_FIXTURE(DiagnosedRun, "a reference that equals the start weights is used for drift without another copy") {
  config["kl"].update({{"coefficient", 0.1}, {"estimator", "k3"}, {"placement", "loss"}});
  CHECK(train() == 0);
  CHECK(plans("reference"));
  CHECK_FALSE(plans("start"));
  for (const json& event : events("iteration"))
    CHECK(event.at("metrics").at("diagnostics/kl_from_start") ==
          doctest::Approx(event.at("metrics").at("actor/kl_to_reference").get<double>()));

  TemporaryFolder other;
  make_tiny_model_folder(other.path(), 4);
  std::filesystem::remove_all(run.path() / "checkpoints");
  std::filesystem::remove(run.path() / "events.jsonl");
  config["kl"]["reference"] = other.path().string();
  CHECK(train() == 0);
  CHECK(plans("start"));
  CHECK(diagnosed()[0].at("diagnostics/kl_from_start") == 0);
}
