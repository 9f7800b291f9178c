#include "golden.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "engine/cpu/decoder.h"
#include "engine/cpu/model.h"
#include "model/config.h"

namespace starpo {
namespace {

using nlohmann::json;

// Returns a uniform number in [-1, 1): splitmix64 of the indices of tensor and element, as in make.py.
double golden_value(std::uint64_t tensor, std::uint64_t element) {
  std::uint64_t z = (tensor << 40) + element + 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  z ^= z >> 31;
  return static_cast<double>(z >> 40) / 8388608 - 1;
}

// Returns weights: those of norm layers around 1, biases around 0, and matrices that keep the scale of their input.
// Embeddings, which are tied to the head, give a distribution far from uniform.
std::vector<float> golden_weights(const ParameterLayout& layout) {
  std::vector<float> weights(layout.size());
  for (std::size_t index = 0; index < layout.tensors().size(); ++index) {
    const TensorSlot& tensor = layout.tensors()[index];
    const bool vector = tensor.shape.size() == 1, norm = vector && !tensor.name.ends_with(".bias");
    const bool vocabulary = tensor.shape.front() == layout.config().vocab_size && !vector;
    const double spread =
        vector ? 0.25 : (vocabulary ? 2 : 1) * std::sqrt(3.0 / static_cast<double>(tensor.shape.back()));
    for (std::size_t i = 0; i < tensor.size; ++i)
      weights[tensor.offset + i] = static_cast<float>((norm ? 1 : 0) + spread * golden_value(index, i));
  }
  return weights;
}

// Returns the index of a tensor's element whose gradient and change the file contains.
std::size_t sampled_element(std::size_t sample, std::size_t size) {
  return static_cast<std::size_t>((sample * 2654435761ull + 12345) % size);
}

ModelConfig golden_model(const json& golden) {
  return parse_model_config(golden.at("config").dump(), "the golden's config");
}

// The difference to the reference over all numbers of a kind.
struct Difference {
  double error = 0, size = 0, largest = 0;

  void add(double computed, double reference) {
    largest = std::max(largest, std::abs(computed - reference));
    error += (computed - reference) * (computed - reference);
    size += reference * reference;
  }
  double relative() const { return std::sqrt(error / size); }
};

class GoldenRun {
 public:
  GoldenRun(const json& golden, Engine& engine)
      : golden_(golden), batch_{golden.at("tokens"), golden.at("sequence_starts"), golden.at("targets")} {
    EngineNeeds needs{.model = golden_model(golden)};
    needs.trains_policy = true;
    needs.pass_tokens = static_cast<int>(batch_.tokens.size());
    engine.reserve(needs);
    network_ = engine.make_network(needs.model, ModelHead::language, NetworkUse::trained);
    before_ = golden_weights(network_->layout());
    network_->write_weights(0, before_);
  }

  std::map<std::string, Difference> compare() {
    const json& o = golden_.at("optimizer");
    const AdamWSettings settings{o.at("learning_rate"), o.at("beta1"),        o.at("beta2"),
                                 o.at("epsilon"),       o.at("weight_decay"), o.at("gradient_clip")};
    Trainable& trained = network_->trained();
    for (std::size_t step = 0; step < golden_.at("losses").size(); ++step) {
      trained.clear_gradients();
      // The first AdamW step depends mainly on the sign of each gradient. Rounding errors of gradients near 0 can
      // change the sign, so later steps have separate differences.
      const std::string suffix = step == 0 ? "" : "_after_steps";
      differences_["loss" + suffix].add(forward_backward(step == 0), golden_["losses"][step]);
      const double norm = golden_.at("gradient_norms").at(step);
      differences_["gradient_norm" + suffix].add(take_step(trained, settings).gradient_norm, norm);
      if (step > 0) continue;
      // After the first step, the first moment is (1 - beta1) times the clipped gradient.
      compare_samples("gradients", "gradient", read_state(trained, StateVector::first_moment),
                      (1 - settings.beta1) * std::min(1.0, settings.gradient_clip / norm));
    }
    std::vector<float> state = read_state(trained, StateVector::weights);
    for (std::size_t i = 0; i < state.size(); ++i) state[i] -= before_[i];
    compare_samples("weight_changes", "change", state, 1);
    return differences_;
  }

 private:
  // Adds to the network's gradients and returns the loss.
  double forward_backward(bool compared) {
    const std::vector<float> rollout = golden_.at("rollout_logprobs");
    std::vector<double> advantages;
    BatchLoss loss{Objective::policy, {}, {}, {}};
    loss.policy.clip_low = golden_.at("loss").at("clip_low");
    loss.policy.clip_high = golden_.at("loss").at("clip_high");
    loss.policy.entropy_coefficient = golden_.at("loss").at("entropy_coefficient");
    const std::size_t targets = batch_.targets.size();
    advantages.reserve(targets);
    for (std::size_t s = 0; s + 1 < batch_.sequence_starts.size(); ++s) {
      const std::size_t first = advantages.size();
      const auto end = static_cast<std::size_t>(
          std::ranges::lower_bound(batch_.targets, batch_.sequence_starts[s + 1]) - batch_.targets.begin());
      advantages.resize(end, golden_.at("advantages").at(s));
      loss.sequences.push_back({std::span(rollout).subspan(first, end - first),
                                std::span(advantages).subspan(first, end - first),
                                {},
                                golden_.at("token_weights").at(s)});
    }
    std::vector<float> logprobs(targets), entropies(targets);
    PolicyLossSums sums;
    network_->make_pass()->forward_backward(batch_, golden_.at("temperature"), loss, logprobs, entropies, sums);
    for (std::size_t t = 0; compared && t < targets; ++t) {
      differences_["logprobs"].add(logprobs[t], golden_.at("logprobs").at(t));
      differences_["entropies"].add(entropies[t], golden_.at("entropies").at(t));
    }
    return sums.loss;
  }

  void compare_samples(const std::string& kind, const char* key, const std::vector<float>& values, double scale) {
    const auto& tensors = network_->layout().tensors();
    for (std::size_t index = 0; index < tensors.size(); ++index) {
      const json& reference = golden_.at("tensors").at(index);
      if (reference.at("name") != tensors[index].name)
        throw std::runtime_error("the golden file has another tensor instead of " + tensors[index].name);
      for (std::size_t i = 0; i < reference.at(key).size(); ++i)
        differences_[kind].add(values[tensors[index].offset + sampled_element(i, tensors[index].size)],
                               scale * reference[key][i].get<double>());
    }
  }

  const json& golden_;
  std::unique_ptr<Network> network_;
  std::vector<float> before_;
  PackedBatch batch_;
  std::map<std::string, Difference> differences_;
};

// Compares the logits after each sequence with the CPU's decoder, because the Engine interface doesn't return logits.
Difference compare_logits(const json& golden, ThreadPool& pool, Precision precision) {
  CpuModel model(golden_model(golden), pool, precision);
  std::ranges::copy(golden_weights(model.layout()), model.mutable_weights().begin());
  model.weights_changed();
  const std::vector<std::int32_t> tokens = golden.at("tokens"), starts = golden.at("sequence_starts");
  const int vocab = model.layout().config().vocab_size, sequences = static_cast<int>(starts.size()) - 1;
  CpuDecoder decoder(model, sequences, static_cast<int>(tokens.size()));
  std::vector<SlotTokens> entries;
  for (int s = 0; s < sequences; ++s)
    entries.push_back({s, std::span(tokens).subspan(starts[s], starts[s + 1] - starts[s])});
  std::vector<float> logits(static_cast<std::size_t>(sequences) * vocab);
  decoder.extend(entries, logits);
  Difference difference;
  const json &ids = golden.at("logit_ids"), &rows = golden.at("last_logits");
  for (int s = 0; s < sequences; ++s)
    for (std::size_t i = 0; i < ids.size(); ++i)
      difference.add(logits[static_cast<std::size_t>(s) * vocab + ids[i].get<std::size_t>()], rows.at(s).at(i));
  return difference;
}

}  // namespace

GoldenDifferences compare_with_golden(const std::filesystem::path& file, Engine& engine, ThreadPool& pool) {
  std::ifstream stream(file);
  const json golden = json::parse(stream, nullptr, false);
  if (!golden.is_object() || !golden.contains("made_by"))
    throw std::runtime_error(file.string() + " is not a golden file");
  auto differences = GoldenRun(golden, engine).compare();
  if (engine.device() == "cpu") differences["logits"] = compare_logits(golden, pool, Precision::fp32);
  GoldenDifferences result{{}, differences.at("logprobs").largest};
  for (const auto& [name, difference] : differences) result.relative[name] = difference.relative();
  return result;
}

}  // namespace starpo
