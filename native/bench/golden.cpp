#include "golden.h"

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "algorithm/policy_loss.h"
#include "model/config.h"
#include "model/decoder.h"
#include "model/model.h"
#include "model/training_pass.h"
#include "optimizer/adamw.h"

namespace starpo {
namespace {

using nlohmann::json;

// Uniform in [-1, 1), the same in make.py: splitmix64 of the tensor's number and the element's.
double golden_value(std::uint64_t tensor, std::uint64_t element) {
  std::uint64_t z = (tensor << 40) + element + 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  z ^= z >> 31;
  return static_cast<double>(z >> 40) / 8388608 - 1;
}

// Norms around 1, biases around 0, matrices that keep the size of what they multiply; embeddings, which are the head too, a distribution far from uniform.
std::vector<float> golden_weights(const ParameterLayout& layout) {
  std::vector<float> weights(layout.size());
  for (std::size_t index = 0; index < layout.tensors().size(); ++index) {
    const TensorSlot& tensor = layout.tensors()[index];
    const bool vector = tensor.shape.size() == 1, norm = vector && !tensor.name.ends_with(".bias");
    const bool vocabulary = tensor.shape.front() == layout.config().vocab_size && !vector;
    const double spread = vector ? 0.25 : (vocabulary ? 2 : 1) * std::sqrt(3.0 / static_cast<double>(tensor.shape.back()));
    for (std::size_t i = 0; i < tensor.size; ++i) weights[tensor.offset + i] = static_cast<float>((norm ? 1 : 0) + spread * golden_value(index, i));
  }
  return weights;
}

// The elements of a tensor whose gradient and change the file holds.
std::size_t sampled_element(std::size_t sample, std::size_t size) { return static_cast<std::size_t>((sample * 2654435761ull + 12345) % size); }

ModelConfig golden_model(const json& c) {
  ModelConfig config;
  config.vocab_size = c.at("vocab_size");
  config.hidden_size = c.at("hidden_size");
  config.intermediate_size = c.at("intermediate_size");
  config.num_hidden_layers = c.at("num_hidden_layers");
  config.num_attention_heads = c.at("num_attention_heads");
  config.num_key_value_heads = c.at("num_key_value_heads");
  config.head_dim = c.at("head_dim");
  config.max_position_embeddings = c.at("max_position_embeddings");
  config.rope_theta = c.at("rope_theta");
  config.rms_norm_eps = c.at("rms_norm_eps");
  config.tie_word_embeddings = c.at("tie_word_embeddings");
  return config;
}

// Sums of squares over all numbers of one kind.
struct Difference {
  double error = 0, size = 0;

  void add(double ours, double theirs) {
    error += (ours - theirs) * (ours - theirs);
    size += theirs * theirs;
  }
  double relative() const { return std::sqrt(error / size); }
};

class GoldenRun {
 public:
  GoldenRun(const json& golden, ThreadPool& pool, Precision precision) : golden_(golden), model_(golden_model(golden.at("config")), pool, precision), before_(golden_weights(model_.layout())) {
    std::copy(before_.begin(), before_.end(), model_.mutable_weights().begin());
    model_.weights_changed();
    batch_ = {golden.at("tokens"), golden.at("sequence_starts"), golden.at("targets")};
    const json& loss = golden.at("loss");
    loss_.clip_low = loss.at("clip_low");
    loss_.clip_high = loss.at("clip_high");
    loss_.entropy_coefficient = loss.at("entropy_coefficient");
  }

  std::map<std::string, double> compare() {
    logits();
    const auto decayed = decayed_weights(model_.layout());
    std::vector<float> gradients(model_.layout().size());
    AdamW optimizer(gradients.size());
    const json& o = golden_.at("optimizer");
    const AdamWSettings settings{o.at("learning_rate"), o.at("beta1"), o.at("beta2"), o.at("epsilon"), o.at("weight_decay"), o.at("gradient_clip")};
    for (std::size_t step = 0; step < golden_.at("losses").size(); ++step) {
      std::fill(gradients.begin(), gradients.end(), 0.0f);
      differences_["losses"].add(learn(gradients, step == 0), golden_["losses"][step]);
      if (step == 0) samples("gradients", "gradient", gradients);
      differences_["gradient_norms"].add(optimizer.step(model_.mutable_weights(), gradients, decayed, settings, model_.threads()), golden_.at("gradient_norms").at(step));
      model_.weights_changed();
    }
    std::vector<float> changes(before_.size());
    for (std::size_t i = 0; i < changes.size(); ++i) changes[i] = model_.weights()[i] - before_[i];
    samples("weight_changes", "change", changes);

    std::map<std::string, double> errors;
    for (const auto& [name, difference] : differences_) errors[name] = difference.relative();
    return errors;
  }

 private:
  void logits() {
    const int vocab = model_.layout().config().vocab_size, sequences = static_cast<int>(batch_.sequence_starts.size()) - 1;
    Decoder decoder(model_, sequences, static_cast<int>(batch_.tokens.size()));
    std::vector<SlotTokens> entries;
    for (int s = 0; s < sequences; ++s) {
      const auto first = batch_.sequence_starts[s];
      entries.push_back({s, std::span(batch_.tokens).subspan(first, batch_.sequence_starts[s + 1] - first)});
    }
    std::vector<float> logits(static_cast<std::size_t>(sequences) * vocab);
    decoder.extend(entries, logits);
    const json &ids = golden_.at("logit_ids"), &rows = golden_.at("last_logits");
    for (int s = 0; s < sequences; ++s)
      for (std::size_t i = 0; i < ids.size(); ++i) differences_["logits"].add(logits[static_cast<std::size_t>(s) * vocab + ids[i].get<std::size_t>()], rows.at(s).at(i));
  }

  // Adds to gradients; gives the loss.
  double learn(std::vector<float>& gradients, bool compared) {
    const std::size_t targets = batch_.targets.size();
    std::vector<float> logprobs(targets), entropies(targets), logprob_gradients(targets), entropy_gradients(targets);
    TrainingPass pass(model_);
    pass.forward(batch_, golden_.at("temperature"), logprobs, entropies);
    for (std::size_t t = 0; compared && t < targets; ++t) {
      differences_["logprobs"].add(logprobs[t], golden_.at("logprobs").at(t));
      differences_["entropies"].add(entropies[t], golden_.at("entropies").at(t));
    }
    const std::vector<float> rollout = golden_.at("rollout_logprobs");
    PolicyLossSums sums;
    std::size_t first = 0;
    for (std::size_t s = 0; s + 1 < batch_.sequence_starts.size(); ++s) {
      const auto end = std::lower_bound(batch_.targets.begin(), batch_.targets.end(), batch_.sequence_starts[s + 1]) - batch_.targets.begin();
      const std::size_t count = static_cast<std::size_t>(end) - first;
      const std::vector<double> advantages(count, golden_.at("advantages").at(s).get<double>());
      const auto part = [&](auto& values) { return std::span(values).subspan(first, count); };
      policy_loss(part(logprobs), part(entropies), part(rollout), advantages, golden_.at("token_weights").at(s), loss_, sums, part(logprob_gradients), part(entropy_gradients));
      first += count;
    }
    pass.backward(logprob_gradients, entropy_gradients, gradients);
    return sums.loss;
  }

  void samples(const std::string& kind, const char* key, const std::vector<float>& values) {
    const json& tensors = golden_.at("tensors");
    for (std::size_t index = 0; index < model_.layout().tensors().size(); ++index) {
      const TensorSlot& tensor = model_.layout().tensors()[index];
      const json& theirs = tensors.at(index);
      if (theirs.at("name") != tensor.name) throw std::runtime_error("the golden file has another tensor in the place of " + tensor.name);
      for (std::size_t i = 0; i < theirs.at(key).size(); ++i) differences_[kind].add(values[tensor.offset + sampled_element(i, tensor.size)], theirs[key][i]);
    }
  }

  const json& golden_;
  Model model_;
  std::vector<float> before_;
  PackedBatch batch_;
  PolicyLossConfig loss_;
  std::map<std::string, Difference> differences_;
};

}  // namespace

std::map<std::string, double> compare_with_golden(const std::filesystem::path& file, ThreadPool& pool, Precision precision) {
  std::ifstream stream(file);
  const json golden = json::parse(stream, nullptr, false);
  if (!golden.is_object() || !golden.contains("made_by")) throw std::runtime_error(file.string() + " is no golden file");
  return GoldenRun(golden, pool, precision).compare();
}

}  // namespace starpo
