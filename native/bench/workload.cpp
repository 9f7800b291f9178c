#include "workload.h"

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/philox.h"
#include "model/folder.h"

namespace starpo {

namespace {

std::uint32_t random_bits(std::uint32_t purpose, std::size_t index) {
  return Philox{1, RandomStream::environment_noise}(purpose, static_cast<std::uint32_t>(index), 0, 0)[0];
}

std::vector<std::int32_t> random_tokens(std::uint32_t purpose, std::size_t count, int vocab) {
  std::vector<std::int32_t> tokens(count);
  for (std::size_t i = 0; i < count; ++i) tokens[i] = static_cast<std::int32_t>(random_bits(purpose, i) % vocab);
  return tokens;
}

}  // namespace

ModelConfig workload_model() {
  ModelConfig config;
  config.vocab_size = 512;
  config.hidden_size = 128;
  config.num_hidden_layers = 5;
  config.num_attention_heads = 2;
  config.num_key_value_heads = 1;
  config.intermediate_size = 352;
  config.head_dim = 64;
  config.max_position_embeddings = 512;
  config.rope_theta = 10000;
  config.rms_norm_eps = 1e-6f;
  config.tie_word_embeddings = true;
  return config;
}

Workload make_workload(int vocab, const WorkloadSize& size) {
  Workload w{};
  w.sequences = size.sequences;
  w.length = size.length;
  w.first_target = size.first_target;
  w.steps = size.steps;
  w.tokens = random_tokens(1, static_cast<std::size_t>(w.sequences) * w.length, vocab);
  w.rollout_logprobs.resize(static_cast<std::size_t>(w.sequences) * (w.length - w.first_target));
  for (std::size_t i = 0; i < w.rollout_logprobs.size(); ++i)
    w.rollout_logprobs[i] = -std::log(static_cast<float>(vocab)) + uniform_open(random_bits(2, i)) - 0.5f;
  for (int i = 0; i < w.sequences; ++i) w.advantages.push_back(2 * uniform_open(random_bits(3, i)) - 1);
  w.loss.clip_low = 0.2;
  w.loss.clip_high = 0.28;
  w.loss.entropy_coefficient = 0.003;
  w.groups = size.groups;
  w.group_size = size.group_size;
  w.prompt = size.prompt;
  w.sampled = size.sampled;
  w.repeats = size.repeats;
  w.prompts = random_tokens(4, static_cast<std::size_t>(w.groups) * w.prompt, vocab);
  return w;
}

void write_workload(const Workload& w, Network& network, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  write_model_folder(folder, network.layout(),
                     [&](std::size_t first, std::span<float> weights) { network.read_weights(first, weights); }, {0});
  const nlohmann::json json{{"training",
                             {{"sequences", w.sequences},
                              {"first_target", w.first_target},
                              {"steps", w.steps},
                              {"tokens", w.tokens},
                              {"rollout_logprobs", w.rollout_logprobs},
                              {"advantages", w.advantages},
                              {"clip_low", w.loss.clip_low},
                              {"clip_high", w.loss.clip_high},
                              {"entropy_coefficient", w.loss.entropy_coefficient}}},
                            {"generation",
                             {{"groups", w.groups},
                              {"group_size", w.group_size},
                              {"sampled", w.sampled},
                              {"repeats", w.repeats},
                              {"prompts", w.prompts}}}};
  std::ofstream file(folder / "workload.json");
  file.exceptions(std::ios::failbit | std::ios::badbit);
  file << json << "\n";
}

PackedBatch training_batch(const Workload& w, int first, int count) {
  PackedBatch batch;
  batch.tokens.assign(w.tokens.begin() + static_cast<std::ptrdiff_t>(first) * w.length,
                      w.tokens.begin() + static_cast<std::ptrdiff_t>(first + count) * w.length);
  batch.sequence_starts.push_back(0);
  for (int sequence = 0; sequence < count; ++sequence) {
    for (int i = w.first_target; i < w.length; ++i) batch.targets.push_back(sequence * w.length + i);
    batch.sequence_starts.push_back((sequence + 1) * w.length);
  }
  return batch;
}

}  // namespace starpo
