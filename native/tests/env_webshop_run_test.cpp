#include <doctest/doctest.h>

#include "env/webshop/synthetic_catalogue.h"
#include "error_code.h"
#include "tiny_run.h"
#include "train/context/playground.h"

using namespace starpo;
using namespace starpo::test;
using nlohmann::json;

TEST_CASE_FIXTURE(TinyRun, "a run refuses files of an environment that have changed since it was created") {
  TemporaryFolder catalogue;
  SyntheticCatalogue(20, 3).write(catalogue.path());
  RunConfig run = small_run_config();
  EnvironmentConfig& environment = run.environments.front();
  environment.type = "webshop";
  environment.config = json{{"catalogue", catalogue.path().string()},
                            {"observation_mode", "text"},
                            {"human_goals", false},
                            {"show_attrs", false},
                            {"price_seed", 0},
                            {"wrapper", "none"},
                            {"split", "train"}}
                           .dump();
  run.environments.resize(1);
  const auto digest = [&] { return Playground(run, model.path()).prototypes.front()->files_digest(); };
  environment.files_sha256 = digest();
  CHECK(environment.files_sha256.size() == 64);
  CHECK(digest() == environment.files_sha256);
  SyntheticCatalogue(20, 4).write(catalogue.path());
  CHECK(error_code_of(digest) == "environment_changed");
  environment.files_sha256.clear();  // not checked
  CHECK(digest().size() == 64);
  environment.type = "frozen-lake";
  environment.config = small_run_config().environments.front().config;
  CHECK(digest().empty());
}

TEST_CASE_FIXTURE(TinyRun, "a run on WebShop resumes identically, with the same episodes") {
  json& environment = config["environments"][0];
  environment["type"] = environment["label"] = "webshop";
  environment["config"] = {{"catalogue", "synthetic:1000:1"},
                           {"observation_mode", "text"},
                           {"human_goals", false},
                           {"show_attrs", false},
                           {"price_seed", 0},
                           {"wrapper", "compact"},
                           {"split", "auto"}};
  config["environments"] = json::array({environment});
  config["rollout"]["context"] = 700;
  config["checkpoint"]["every"] = 1;
  REQUIRE(train() == 0);
  const auto episodes = [&] { return read_text(run.path() / "rollouts/000002-train.jsonl.zst"); };
  const auto whole = weights("000002"), played = episodes();
  std::filesystem::remove_all(run.path() / "checkpoints/000002");
  REQUIRE(train() == 0);
  CHECK(events("started").back().at("resume").at("iteration") == 1);
  CHECK(weights("000002") == whole);
  CHECK(episodes() == played);
  CHECK(events("evaluation").back().at("metrics").contains("evaluation/webshop/success_rate"));
}
