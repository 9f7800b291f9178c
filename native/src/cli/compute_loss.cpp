#include <algorithm>
#include <numeric>

#include "algorithm/sample_loss.h"
#include "cli/compute_request.h"

namespace starpo {
namespace {

struct ComputedSample {
  LossSample sample;
  int episode = 0;
};

std::vector<bool> flags_per_token(const Json& object, const std::string& key, const std::string& path,
                                  std::size_t tokens) {
  if (!object.contains(key)) throw invalid(path + "." + key, "is missing");
  const Json& list = object[key];
  const bool valid = list.is_array() && list.size() == tokens &&
                     std::ranges::all_of(list, [](const Json& flag) { return flag.is_boolean(); });
  if (!valid)
    throw invalid(path + "." + key, "must have true or false for each of " + std::to_string(tokens) + " tokens");
  return list.get<std::vector<bool>>();
}

std::vector<int> turn_lengths_of(const Json& json, const std::string& path, std::size_t tokens) {
  if (!json.contains("turn_lengths")) return {static_cast<int>(tokens)};
  if (!json["turn_lengths"].is_array()) throw invalid(path + ".turn_lengths", "must be a list of integers");
  std::vector<int> lengths;
  for (const Json& length : json["turn_lengths"])
    lengths.push_back(integer_of(length, path + ".turn_lengths[" + std::to_string(lengths.size()) + "]", 0));
  if (std::accumulate(lengths.begin(), lengths.end(), std::size_t{0}) != tokens)
    throw invalid(path + ".turn_lengths", "must add up to the number of tokens, " + std::to_string(tokens));
  return lengths;
}

LossSample sample_of(const Json& json, const std::string& path, const LossConfig& config) {
  if (!json.is_object()) throw invalid(path, "must be an object");
  LossSample sample;
  if (!json.contains("logprobs")) throw invalid(path + ".logprobs", "is missing");
  sample.logprobs = numbers_of(json["logprobs"], path + ".logprobs");
  const std::size_t tokens = sample.logprobs.size();
  const PolicyLossConfig& policy = config.policy;
  const auto numbers = [&](const char* key) { return per_token(json, key, path, tokens); };
  sample.rollout_logprobs = numbers("rollout_logprobs");
  sample.old_logprobs = json.contains("old_logprobs") ? numbers("old_logprobs") : sample.rollout_logprobs;
  sample.advantages = numbers("advantages");
  sample.entropies = policy.entropy_coefficient != 0 ? numbers("entropies") : std::vector<double>(tokens);
  if (config.kl.coefficient > 0) sample.reference_logprobs = numbers("reference_logprobs");
  if (policy.entropy_tokens == EntropyTokens::reasoning)
    sample.reasoning = flags_per_token(json, "reasoning", path, tokens);
  if (policy.cross_entropy_coefficient > 0 && json.contains("imitation")) {
    sample.imitation = numbers("imitation");
    if (std::ranges::any_of(sample.imitation, [](double weight) { return weight < 0; }))
      throw invalid(path + ".imitation", "must have no negative weight");
  }
  sample.turn_lengths = turn_lengths_of(json, path, tokens);
  return sample;
}

double sum_of_log_ratios(const LossSample& sample) {
  return std::transform_reduce(sample.logprobs.begin(), sample.logprobs.end(), sample.old_logprobs.begin(), 0.0,
                               std::plus{}, std::minus{});
}

// Sets what depends on the other samples of an episode, which come in the order of its turns.
void connect(std::vector<ComputedSample>& samples) {
  std::map<int, double> log_ratios;
  std::map<int, int> turns;
  for (const auto& [sample, episode] : samples) log_ratios[episode] += sum_of_log_ratios(sample);
  for (auto& [sample, episode] : samples) {
    sample.other_log_ratios = log_ratios[episode] - sum_of_log_ratios(sample);
    sample.first_turn = turns[episode];
    turns[episode] += static_cast<int>(sample.turn_lengths.size());
  }
}

Json corrections(const std::vector<ComputedSample>& samples, const CorrectionConfig& config,
                 const PolicyLossSums& sums) {
  Json weights = Json::array();
  for (const auto& [sample, episode] : samples) {
    PolicyLossSums ignored;
    weights.push_back(
        correction_weights(sample.old_logprobs, sample.rollout_logprobs, sample.advantages, config, ignored));
  }
  return {{"weights", weights},
          {"truncated", {{"positive", sums.truncated.positive}, {"negative", sums.truncated.negative}}},
          {"masked", {{"positive", sums.masked.positive}, {"negative", sums.masked.negative}}}};
}

}  // namespace

Json compute_policy_loss(const Json& request) {
  LossConfig config{section_of<PolicyLossConfig>(request, "policy_loss"),
                    section_of<CorrectionConfig>(request, "correction"), section_of<KlConfig>(request, "kl")};
  if (!request.contains("kl"))
    config.kl.coefficient = 0;
  else if (config.kl.placement != KlPlacement::loss)
    throw RequestError{"config_invalid", "kl.placement: must be loss: rewards are not part of this request"};
  std::vector<ComputedSample> samples;
  std::vector<SampleTokens> tokens;
  Numbering episodes;
  int longest_sample = 1;
  for (const Json& json : list_in(request, "sequences", "")) {
    const std::string index = std::to_string(samples.size());
    LossSample sample = sample_of(json, "sequences[" + index + "]", config);
    const int episode = episodes.number_of(json.contains("episode") ? json["episode"].dump() : "sequence " + index);
    tokens.push_back({episode, static_cast<int>(sample.logprobs.size()),
                      static_cast<int>(std::ranges::count(sample.reasoning, true)),
                      std::accumulate(sample.imitation.begin(), sample.imitation.end(), 0.0)});
    longest_sample = std::max(longest_sample, tokens.back().trained);
    samples.push_back({std::move(sample), episode});
  }
  connect(samples);
  int longest = 1;
  if (config.policy.average == LossAverage::fixed_length) {
    if (!request.contains("longest")) throw invalid("longest", "is missing: policy_loss.average is fixed_length");
    longest = integer_of(request["longest"], "longest", longest_sample);
  }
  const auto weights = sample_weights(tokens, config.policy, longest);
  PolicyLossSums sums;
  std::vector<std::vector<double>> gradients;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    auto& gradient = gradients.emplace_back(samples[i].sample.logprobs.size());
    std::vector<double> entropy_gradient(gradient.size());
    sample_loss(samples[i].sample, weights[i], config, sums, gradient, entropy_gradient);
  }
  const auto share = [&](double count) { return sums.tokens > 0 ? count / static_cast<double>(sums.tokens) : 0; };
  Json answer{{"loss", sums.loss},
              {"terms",
               {{"policy", sums.policy},
                {"entropy", sums.entropy_bonus},
                {"kl", sums.kl},
                {"log_ratio", sums.log_ratio_penalty},
                {"likelihood", sums.likelihood},
                {"cross_entropy", sums.cross_entropy}}},
              {"gradient", gradients},
              {"clip_fraction_low", share(sums.clipped_low)},
              {"clip_fraction_high", share(sums.clipped_high)},
              {"approximate_kl", share(sums.log_ratio)}};
  if (config.correction.is_active()) answer["correction"] = corrections(samples, config.correction, sums);
  return answer;
}

}  // namespace starpo
