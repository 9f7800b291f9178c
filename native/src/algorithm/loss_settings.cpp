#include "algorithm/loss_settings.h"

#include "fields/field_visitor.h"

namespace starpo {

void describe(FieldVisitor& v, PolicyLossConfig& c) {
  v.choice("objective", c.objective, {"clip", "cispo", "sapo", "dppo"});
  v.choice("ratio_level", c.ratio_level, {"token", "turn", "sequence", "trajectory"});
  v.number("clip_low", c.clip_low, 0, 1);
  v.number("clip_high", c.clip_high, 0, 10);
  v.number("clip_turn_factor", c.clip_turn_factor, 0.1, 10);
  v.number("dual_clip", c.dual_clip, 0, 100);
  v.number("tau_positive", c.tau_positive, 0.01, 100);
  v.number("tau_negative", c.tau_negative, 0.01, 100);
  v.number("entropy_coefficient", c.entropy_coefficient, -1, 1);
  v.choice("entropy_tokens", c.entropy_tokens, {"all", "reasoning"});
  v.number("log_ratio_penalty", c.log_ratio_penalty, 0, 100);
  v.number("likelihood_coefficient", c.likelihood_coefficient, 0, 100);
  v.choice("likelihood_gate", c.likelihood_gate, {"response", "turn"});
  v.number("cross_entropy_coefficient", c.cross_entropy_coefficient, 0, 100);
  v.choice("average", c.average, {"trajectory", "token", "trajectory_sum", "fixed_length"});
  v.integer("mini_batch", c.mini_batch, 1, 65536);
  v.integer("epochs", c.epochs, 1, 100);
  v.check("dual_clip", [&] { return c.dual_clip > 0 && c.dual_clip < 1 ? "must be 0 (off) or at least 1" : ""; });
  v.check("dual_clip", [&] {
    return c.dual_clip > 0 && c.objective != PolicyObjective::clip
               ? "must be 0: only policy_loss.objective clip has a dual clip"
               : "";
  });
  v.check("ratio_level", [&] {
    return c.ratio_level != RatioLevel::token && c.objective != PolicyObjective::clip
               ? "must be token: policy_loss.objective cispo, sapo and dppo compare single tokens. Set it to token, or "
                 "policy_loss.objective to clip"
               : "";
  });
  v.check("clip_turn_factor", [&] {
    if (c.clip_turn_factor == 1) return "";
    if (c.objective == PolicyObjective::sapo) return "must be 1: policy_loss.objective sapo has no clip range";
    return c.ratio_level == RatioLevel::sequence || c.ratio_level == RatioLevel::trajectory
               ? "must be 1: a ratio of the whole sequence or trajectory belongs to no turn. Set "
                 "policy_loss.ratio_level to token or turn"
               : "";
  });
}

void describe(FieldVisitor& v, CorrectionConfig& c) {
  v.choice("weights", c.weights, {"none", "truncate", "mask"});
  v.choice("level", c.level, {"token", "sequence", "sequence_mean"});
  v.number("low", c.low, 0, 1);
  v.number("high", c.high, 1, 1000000);
  v.choice("trust_region", c.trust_region, {"none", "token", "sequence_max", "sequence_mean", "sequence_sum"});
  v.choice("divergence", c.divergence, {"k2", "k3"});
  v.number("bound", c.bound, 0, 1000000);
}

void describe(FieldVisitor& v, KlConfig& c) {
  v.number("coefficient", c.coefficient, 0, 100);
  v.choice("estimator", c.estimator, {"k1", "k2", "k3"});
  v.choice("placement", c.placement, {"reward", "loss"});
  v.text("reference", c.reference);
}

}  // namespace starpo
