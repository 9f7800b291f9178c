#include <algorithm>

#include "engine/cuda/selftest/check.h"
#include "engine/cuda/selftest/engine_case.h"

// The whole engine: a step of learning beside the processor's, and what must hold to the bit.
namespace starpo::cuda {
namespace {

// A step's rounding errors in bf16 pass through the whole network, and the clipped loss has edges.
constexpr double kBf16StepTolerance = 1e-2;

EngineSettings on(const Stream& stream, Precision precision, Exactness exactness = Exactness::exact) {
  return {"cuda:" + std::to_string(stream.device()), precision, exactness};
}

double worse(double a, double b) { return a > b || a != a ? a : b; }

// The first moment after a first step is a tenth of the clipped gradient.
double learning_error(const EngineSettings& settings, Recompute recompute) {
  EngineCase processor({"cpu"}, EngineCase::needs()), gpu(settings, EngineCase::needs(recompute));
  const LearnedStep expected = learn_step(processor.network()), learned = learn_step(gpu.network());
  double error = normalised_mean_square_error(learned.logprobs, expected.logprobs);
  error = worse(normalised_mean_square_error(learned.entropies, expected.entropies), error);
  error = worse(
      normalised_mean_square_error(gpu.state(StateVector::first_moment), processor.state(StateVector::first_moment)),
      error);
  if (settings.precision == Precision::bf16) return error;
  return worse(normalised_mean_square_error(gpu.state(StateVector::weights), processor.state(StateVector::weights)),
               error);
}

double critic_error(const EngineSettings& settings) {
  EngineNeeds needs = EngineCase::needs();
  needs.trains_critic = true;
  const PackedBatch batch = case_batch(std::vector{50, 30});
  std::vector<float> slopes(batch.targets.size());
  for (std::size_t i = 0; i < slopes.size(); ++i) slopes[i] = case_value(4, i);
  const auto learn = [&](EngineCase& engine) {
    const auto pass = engine.network().make_pass();
    std::vector<float> values(batch.targets.size());
    engine.network().trained().clear_gradients();
    pass->forward_values(batch, values);
    pass->backward_values(slopes);
    take_step(engine.network().trained(), {1e-3f, 0.9f, 0.999f, 1e-8f, 0.01f, 0.0f});
    return values;
  };
  EngineCase processor({"cpu"}, needs, ModelHead::value), gpu(settings, needs, ModelHead::value);
  const double error = normalised_mean_square_error(learn(gpu), learn(processor));
  return worse(
      normalised_mean_square_error(gpu.state(StateVector::first_moment), processor.state(StateVector::first_moment)),
      error);
}

// Learned twice, and with activations kept or recomputed: the same weights.
double repeated(const EngineSettings& settings) {
  EngineCase first(settings, EngineCase::needs());
  learn_step(first.network());
  for (const Recompute recompute : {Recompute::none, Recompute::elementwise, Recompute::block}) {
    EngineCase again(settings, EngineCase::needs(recompute));
    learn_step(again.network());
    if (again.state(StateVector::weights) != first.state(StateVector::weights)) return 1;
  }
  return 0;
}

double decoded_as_trained(const EngineSettings& settings) {
  EngineCase gpu(settings, EngineCase::needs());
  const FirstTurns turns = first_turns(converse(gpu.network(), true));
  std::vector<float> logprobs(turns.chosen.size()), entropies(logprobs.size());
  gpu.network().make_pass()->forward(turns.batch, kCaseTemperature, logprobs, entropies);
  if (settings.exactness == Exactness::exact) return logprobs == turns.chosen ? 0 : 1;
  return normalised_mean_square_error(logprobs, turns.chosen);
}

double shared_prompt_as_alone(const EngineSettings& settings) {
  EngineCase gpu(settings, EngineCase::needs());
  const auto same = [](const Choice& a, const Choice& b) {
    return a.id == b.id && a.logprob == b.logprob && a.entropy == b.entropy;
  };
  const auto shared = converse(gpu.network(), true), alone = converse(gpu.network(), false);
  for (std::size_t slot = 0; slot < shared.size(); ++slot)
    if (!std::ranges::equal(shared[slot], alone[slot], same)) return 1;
  return 0;
}

// One step, then a second: by the same network, and by another that took over its state.
double resumed(const EngineSettings& settings) {
  EngineCase first(settings, EngineCase::needs()), second(settings, EngineCase::needs());
  learn_step(first.network());
  for (const StateVector which : {StateVector::weights, StateVector::first_moment, StateVector::second_moment})
    write_state(second.network().trained(), which, first.state(which));
  second.network().trained().set_steps(first.network().trained().steps());
  for (EngineCase* engine : {&first, &second}) learn_step(engine->network());
  return first.state(StateVector::weights) == second.state(StateVector::weights) ? 0 : 1;
}

}  // namespace

std::vector<Check> engine_checks() {
  std::vector<Check> checks{
      {"engine learning fp32", kFp32Tolerance,
       [](Stream& s) { return learning_error(on(s, Precision::fp32), Recompute::none); }},
      {"engine learning bf16", kBf16StepTolerance,
       [](Stream& s) { return learning_error(on(s, Precision::bf16), Recompute::none); }},
      {"engine learning bf16 fast", kBf16StepTolerance,
       [](Stream& s) { return learning_error(on(s, Precision::bf16, Exactness::fast), Recompute::none); }},
      {"engine critic fp32", kFp32Tolerance, [](Stream& s) { return critic_error(on(s, Precision::fp32)); }},
      {"engine critic bf16", kBf16StepTolerance, [](Stream& s) { return critic_error(on(s, Precision::bf16)); }},
      {"engine decoding as training, bf16 fast", kBf16StepTolerance,
       [](Stream& s) { return decoded_as_trained(on(s, Precision::bf16, Exactness::fast)); }},
  };
  for (const Precision precision : {Precision::fp32, Precision::bf16}) {
    const std::string name = precision == Precision::fp32 ? " fp32" : " bf16";
    checks.push_back(
        {"engine repeated and recomputed" + name, kExact, [=](Stream& s) { return repeated(on(s, precision)); }});
    checks.push_back({"engine decoding as training" + name, kExact,
                      [=](Stream& s) { return decoded_as_trained(on(s, precision)); }});
    checks.push_back(
        {"engine shared prompts" + name, kExact, [=](Stream& s) { return shared_prompt_as_alone(on(s, precision)); }});
    checks.push_back({"engine resumed" + name, kExact, [=](Stream& s) { return resumed(on(s, precision)); }});
  }
  return checks;
}

}  // namespace starpo::cuda
