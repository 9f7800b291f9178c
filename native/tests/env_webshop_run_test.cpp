#include <doctest/doctest.h>

#include "env/webshop/synthetic_catalogue.h"
#include "error_code.h"
#include "tiny_run.h"
#include "train/context/playground.h"

using namespace starpo;
using namespace starpo::test;
using nlohmann::json;

TEST_CASE_FIXTURE(TinyRun, "a run refuses files of an environment that have changed since it was created") {
  const auto digest_of = [&](const std::string& type, const std::string& environment_config,
                             const std::string& expected) {
    RunConfig run = small_run_config();
    run.environments.resize(1);
    run.environments.front().type = type;
    run.environments.front().config = environment_config;
    run.environments.front().files_sha256 = expected;
    return Playground(run, model.path()).prototypes.front()->files_digest();
  };
  const auto shop = [&](const std::string& catalogue, const std::string& expected) {
    const json keys{
        {"catalogue", catalogue}, {"observation_mode", "text"}, {"human_goals", false}, {"show_attrs", false},
        {"price_seed", 0},        {"wrapper", "none"},          {"split", "train"}};
    return digest_of("webshop", keys.dump(), expected);
  };
  TemporaryFolder folder, copy, changed;
  SyntheticCatalogue(20, 3).write(folder.path());
  SyntheticCatalogue(20, 3).write(copy.path());
  SyntheticCatalogue(20, 4).write(changed.path());
  const std::string digest = shop(folder.path().string(), "");
  CHECK(digest.size() == 64);
  CHECK(shop(copy.path().string(), digest) == digest);
  CHECK(error_code_of([&] { shop(changed.path().string(), digest); }) == "environment_changed");
  CHECK(shop(changed.path().string(), "") != digest);
  CHECK(shop("synthetic:20:3", "").empty());  // the name determines the products
  CHECK(digest_of("frozen-lake", small_run_config().environments.front().config, "").empty());
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
