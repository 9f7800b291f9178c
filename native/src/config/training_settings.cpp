#include "config/training_settings.h"

#include "fields/field_visitor.h"

namespace starpo {
namespace {

constexpr TextRule kRunId{.pattern = "([a-z0-9-]{1,64})?"};

}  // namespace

void describe(FieldVisitor& v, StartConfig& c) {
  v.text("model", c.model, {.min_length = 1});
  v.choice("weights", c.weights, {"load", "random"});
  v.text("sha256", c.sha256, {.pattern = "([0-9a-f]{64})?"});
  v.text("run", c.run, kRunId);
  v.integer("checkpoint", c.checkpoint, 0, 1000000);
  v.boolean("keep_optimizer", c.keep_optimizer);
}

void describe(FieldVisitor& v, ParentConfig& c) {
  v.text("run", c.run, kRunId);
  v.integer("iteration", c.iteration, 0, 1000000);
}

void describe(FieldVisitor& v, CriticConfig& c) {
  v.choice("model", c.model, {"none", "full", "head"});
  v.number("learning_rate", c.learning_rate, 0, 1);
  v.number("value_clip", c.value_clip, 0, 1000000);
  v.number("gradient_clip", c.gradient_clip, 0, 1000000);
  v.integer("warmup", c.warmup, 0, 1000000);
}

void describe(FieldVisitor& v, OptimizerConfig& c) {
  v.number("learning_rate", c.learning_rate, 0, 1);
  v.integer("warmup", c.warmup, 0, 1000000);
  v.choice("schedule", c.schedule, {"constant", "linear", "cosine"});
  v.number("beta1", c.beta1, 0, 0.999999);
  v.number("beta2", c.beta2, 0, 0.999999);
  v.number("epsilon", c.epsilon, 1e-12, 1);
  v.number("weight_decay", c.weight_decay, 0, 1);
  v.number("gradient_clip", c.gradient_clip, 0, 1000000);
  v.integer("micro_batch_tokens", c.micro_batch_tokens, 0, 16777216);
  v.choice("recompute", c.recompute, {"none", "elementwise", "block"});
}

void describe(FieldVisitor& v, ReplayConfig& c) {
  v.integer("iterations", c.iterations, 0, 1000);
  v.number("share", c.share, 0, 0.95);
}

void describe(FieldVisitor& v, EvaluationConfig& c) {
  v.integer("every", c.every, 0, 1000000);
  v.integer("levels", c.levels, 1, 65536);
  v.number("temperature", c.temperature, 0.01, 10);
}

void describe(FieldVisitor& v, CheckpointConfig& c) {
  v.integer("every", c.every, 0, 1000000);
  v.integer("keep", c.keep, 1, 100000);
}

void describe(FieldVisitor& v, RolloutFilesConfig& c) {
  v.integer("keep_last", c.keep_last, 0, 1000000);
  v.integer("keep_every", c.keep_every, 0, 1000000);
}

void describe(FieldVisitor& v, StorageConfig& c) { v.number("budget_gigabytes", c.budget_gigabytes, 0, 1000000); }

void describe(FieldVisitor& v, WarmStartConfig& c) {
  v.integer("steps_per_iteration", c.steps_per_iteration, 1, 100000);
  v.integer("batch", c.batch, 1, 4096);
  v.number("plain", c.plain, 0, 1);
  v.number("positions", c.positions, 0, 1);
  v.number("careful", c.careful, 0, 1);
  v.number("mistakes", c.mistakes, 0, 1);
}

void describe(FieldVisitor& v, EarlyStopConfig& c) {
  v.number("reward_std", c.reward_std, 0, 1);
  v.integer("failed_evaluations", c.failed_evaluations, 0, 1000);
  v.integer("empty_filters", c.empty_filters, 0, 1000);
}

void describe(FieldVisitor& v, DiagnosticsConfig& c) {
  v.integer("every", c.every, 0, 1000000);
  v.integer("samples", c.samples, 2, 4096);
  v.boolean("probe", c.probe);
}

}  // namespace starpo
