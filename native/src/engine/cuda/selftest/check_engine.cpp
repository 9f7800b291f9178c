#include <algorithm>

#include "engine/cuda/selftest/check.h"
#include "engine/cuda/selftest/engine_case.h"

// Checks of the whole engine: a training step compared with the CPU's, and results that must be equal to the bit.
namespace starpo::cuda {
namespace {

// The rounding errors of a bf16 step pass through the whole network, and the clipped loss has kinks.
constexpr double kBf16StepTolerance = 1e-2;

double larger_error(double a, double b) { return a > b || a != a ? a : b; }

// Compares first moments, because after one step they are a tenth of the clipped gradient.
double training_error(const EngineSettings& settings, const EngineNeeds& needs) {
  EngineCase cpu({"cpu"}, needs), gpu(settings, needs);
  const TrainingStep expected = training_step(cpu.network()), result = training_step(gpu.network());
  double error = normalized_mean_square_error(result.logprobs, expected.logprobs);
  error = larger_error(normalized_mean_square_error(result.entropies, expected.entropies), error);
  error = larger_error(
      normalized_mean_square_error(gpu.state(StateVector::first_moment), cpu.state(StateVector::first_moment)), error);
  if (settings.precision == Precision::bf16) return error;
  return larger_error(normalized_mean_square_error(gpu.state(StateVector::weights), cpu.state(StateVector::weights)),
                      error);
}

double critic_error(const EngineSettings& settings, const EngineNeeds& policy_needs) {
  EngineNeeds needs = policy_needs;
  needs.trains_critic = true;
  const PackedBatch batch = case_batch(std::vector{50, 30});
  std::vector<float> value_gradients(batch.targets.size());
  for (std::size_t i = 0; i < value_gradients.size(); ++i) value_gradients[i] = case_value(4, i);
  const auto train_step = [&](EngineCase& engine) {
    const auto pass = engine.network().make_pass();
    std::vector<float> values(batch.targets.size());
    engine.network().trained().clear_gradients();
    pass->forward_values(batch, values);
    pass->backward_values(value_gradients);
    take_step(engine.network().trained(), {1e-3f, 0.9f, 0.999f, 1e-8f, 0.01f, 0.0f});
    return values;
  };
  EngineCase cpu({"cpu"}, needs, ModelHead::value), gpu(settings, needs, ModelHead::value);
  const double error = normalized_mean_square_error(train_step(gpu), train_step(cpu));
  return larger_error(
      normalized_mean_square_error(gpu.state(StateVector::first_moment), cpu.state(StateVector::first_moment)), error);
}

// Repeated steps, with activations kept or recomputed, give the same weights.
double repeated(const EngineSettings& settings, const EngineNeeds& needs) {
  EngineCase first(settings, needs);
  training_step(first.network());
  for (const Recompute recompute : {Recompute::none, Recompute::elementwise, Recompute::block}) {
    EngineNeeds same = needs;
    same.recompute = recompute;
    EngineCase again(settings, same);
    training_step(again.network());
    if (again.state(StateVector::weights) != first.state(StateVector::weights)) return 1;
  }
  return 0;
}

double decoded_as_trained(const EngineSettings& settings, const EngineNeeds& needs) {
  EngineCase gpu(settings, needs);
  const FirstTurns turns = first_turns(play_turns(gpu.network(), true));
  std::vector<float> logprobs(turns.chosen.size()), entropies(logprobs.size());
  gpu.network().make_pass()->forward(turns.batch, kCaseTemperature, logprobs, entropies);
  if (settings.exactness == Exactness::exact) return logprobs == turns.chosen ? 0 : 1;
  return normalized_mean_square_error(logprobs, turns.chosen);
}

double shared_prompt_as_alone(const EngineSettings& settings, const EngineNeeds& needs) {
  EngineCase gpu(settings, needs);
  const auto same = [](const Choice& a, const Choice& b) {
    return a.id == b.id && a.logprob == b.logprob && a.entropy == b.entropy;
  };
  const auto shared = play_turns(gpu.network(), true), alone = play_turns(gpu.network(), false);
  for (std::size_t slot = 0; slot < shared.size(); ++slot)
    if (!std::ranges::equal(shared[slot], alone[slot], same)) return 1;
  return 0;
}

// Two steps with one network give the same weights as one step each with two networks, where the second network starts
// from the state of the first.
double resumed(const EngineSettings& settings, const EngineNeeds& needs) {
  EngineCase first(settings, needs), second(settings, needs);
  training_step(first.network());
  for (const StateVector which : {StateVector::weights, StateVector::first_moment, StateVector::second_moment})
    write_state(second.network().trained(), which, first.state(which));
  second.network().trained().set_steps(first.network().trained().steps());
  for (EngineCase* engine : {&first, &second}) training_step(engine->network());
  return first.state(StateVector::weights) == second.state(StateVector::weights) ? 0 : 1;
}

using EngineError = double (*)(const EngineSettings&, const EngineNeeds&);

Check check(const std::string& name, double tolerance, EngineError error, Precision precision,
            Exactness exactness = Exactness::exact, const ModelConfig& model = EngineCase::needs().model) {
  return {"engine " + name, tolerance, [=](Stream& stream) {
            EngineNeeds needs = EngineCase::needs();
            needs.model = model;
            return error({"cuda:" + std::to_string(stream.device()), precision, exactness}, needs);
          }};
}

}  // namespace

std::vector<Check> engine_checks() {
  using enum Precision;
  std::vector<Check> checks{
      check("training step fp32", kFp32Tolerance, training_error, fp32),
      check("training step bf16", kBf16StepTolerance, training_error, bf16),
      check("training step bf16 fast", kBf16StepTolerance, training_error, bf16, Exactness::fast),
      check("critic fp32", kFp32Tolerance, critic_error, fp32),
      check("critic bf16", kBf16StepTolerance, critic_error, bf16),
      check("decoding matches training bf16 fast", kBf16StepTolerance, decoded_as_trained, bf16, Exactness::fast),
  };
  // Rows of logits are padded to a multiple of 8. A row with an odd number of logits can't be stored in pairs.
  for (const auto& [vocabulary, tied] : {std::pair{91, true}, {94, false}}) {
    ModelConfig model = EngineCase::needs().model;
    model.vocab_size = vocabulary;
    model.tie_word_embeddings = tied;
    const std::string name = (tied ? ", tied vocabulary " : ", untied vocabulary ") + std::to_string(vocabulary);
    const auto add = [&](const char* what, double tolerance, EngineError error, Precision precision) {
      checks.push_back(check(what + name, tolerance, error, precision, Exactness::exact, model));
    };
    add("training step fp32", kFp32Tolerance, training_error, fp32);
    add("training step bf16", kBf16StepTolerance, training_error, bf16);
    add("decoding matches training fp32", kExact, decoded_as_trained, fp32);
    add("decoding matches training bf16", kExact, decoded_as_trained, bf16);
  }
  for (const Precision precision : {fp32, bf16}) {
    const std::string name = precision == fp32 ? " fp32" : " bf16";
    checks.push_back(check("repeated and recomputed steps" + name, kExact, repeated, precision));
    checks.push_back(check("decoding matches training" + name, kExact, decoded_as_trained, precision));
    checks.push_back(check("shared prompts" + name, kExact, shared_prompt_as_alone, precision));
    checks.push_back(check("resumed training" + name, kExact, resumed, precision));
  }
  return checks;
}

}  // namespace starpo::cuda
