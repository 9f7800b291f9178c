#include "webshop.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <vector>

#include "env/webshop/goals.h"
#include "env/webshop/webshop.h"

namespace starpo {
namespace {

using Json = nlohmann::ordered_json;

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

double index_megabytes(const std::string& catalogue) {
  double bytes = 0;
  if (!std::filesystem::is_directory(catalogue)) return bytes;
  for (const auto& entry : std::filesystem::directory_iterator(catalogue))
    if (entry.path().filename().string().starts_with("starpo-")) bytes += static_cast<double>(entry.file_size());
  return bytes / 1e6;
}

Json search_all(const GoalList& goals, int queries) {
  std::vector<double> seconds;
  std::size_t found = 0;
  for (int i = 0; i < queries; ++i) {
    const std::string instruction = goals.goal(static_cast<std::size_t>(i) * 7919 % goals.size()).instruction;
    const double start = processor_seconds();
    found += goals.catalogue().search(instruction).size();
    seconds.push_back(processor_seconds() - start);
  }
  double sum = 0;
  for (const double each : seconds) sum += each;
  std::ranges::sort(seconds);
  return {{"queries", queries},
          {"found", found},
          {"per_second", queries / sum},
          {"milliseconds_median", 1000 * seconds[seconds.size() / 2]},
          {"milliseconds_p95", 1000 * seconds[seconds.size() * 95 / 100]}};
}

Json play_all(const std::string& catalogue, const std::string& wrapper, int episodes) {
  WebShopConfig config{.catalogue = catalogue, .split = WebShopConfig::Split::train};
  if (wrapper == "ragen_v1") config.wrapper = WebShopConfig::Wrapper::ragen_v1;
  if (wrapper == "compact") config.wrapper = WebShopConfig::Wrapper::compact;
  WebShop shop(config);
  std::int64_t steps = 0, characters = 0;
  const double start = processor_seconds();
  for (int episode = 0; episode < episodes; ++episode) {
    DemonstrationDraws draws(7, static_cast<std::uint64_t>(episode));
    shop.reset(static_cast<std::uint64_t>(episode), nullptr);
    bool done = false;
    for (int turn = 0; turn < 9 && !done; ++turn) {
      const auto customer = shop.demonstrate({DemonstrationStyle::careful, false, 1, draws});
      done = shop.step(customer.value().actions.at(0)).done;
      characters += static_cast<std::int64_t>(shop.observation().size());
      ++steps;
    }
  }
  const double seconds = processor_seconds() - start;
  return {{"wrapper", wrapper},
          {"episodes", episodes},
          {"steps", steps},
          {"steps_per_second", static_cast<double>(steps) / seconds},
          {"microseconds_per_episode", 1e6 * seconds / episodes},
          {"characters_per_observation", characters / steps}};
}

}  // namespace

Json measure_webshop(const std::string& catalogue, const std::string& wrapper, int queries, int episodes) {
  const auto wall = std::chrono::steady_clock::now();
  const double start = processor_seconds();
  const auto opened = Catalogue::open(catalogue, false);
  const double catalogue_seconds = processor_seconds() - start;
  const auto goals = GoalList::open(opened, false, 0);
  const double goals_seconds = processor_seconds() - start - catalogue_seconds;
  const std::chrono::duration<double> wall_seconds = std::chrono::steady_clock::now() - wall;
  Json result{{"catalogue", std::filesystem::path(catalogue).filename().string()},
              {"products", opened->size()},
              {"goals", goals->size()},
              {"open_seconds", catalogue_seconds},
              {"goals_seconds", goals_seconds},
              {"wall_seconds", wall_seconds.count()},
              {"index_files_megabytes", index_megabytes(catalogue)},
              {"peak_megabytes_open", peak_megabytes()}};
  result["search"] = search_all(*goals, queries);
  if (episodes > 0) result["play"] = play_all(catalogue, wrapper, episodes);
  result["peak_megabytes"] = peak_megabytes();
  return result;
}

}  // namespace starpo
