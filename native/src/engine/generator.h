#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/philox.h"

namespace starpo {

struct SamplingSettings {
  float temperature = 1;
  float top_p = 1;  // 1: off
  int top_k = 0;    // 0: off
  float min_p = 0;  // 0: off
};

// How ids are drawn. A draw is keyed by iteration, episode and position, so that it depends on no slot, batch or order.
struct DrawSettings {
  Philox random;
  std::uint32_t iteration;
  SamplingSettings sampling;
  std::span<const std::int32_t> stop_ids;  // end a reply
};

struct Choice {
  std::int32_t id;  // -1: the logits were not finite
  float logprob;    // of the untruncated distribution at the sampling temperature, in nats
  float entropy;
};

// A slot that is to go on with its reply.
struct ReplyRequest {
  int slot;
  int limit;  // most ids to choose before its caller looks at them: at least 1
};

// Plays many conversations at once, with a KV cache that lives through all turns of an episode. What a slot is given
// depends on its own tokens and draws alone: not on other slots, their number, or how the work was cut. Only a GPU in
// `fast` mode is less strict: there a step's sums are cut by how many rows it has, so that other slots change a logit's
// last bits, and now and then a draw.
class Generator {
 public:
  virtual ~Generator() = default;

  virtual int slots() const = 0;
  virtual int context() const = 0;  // most tokens a slot can hold

  // Ends every slot and forgets what groups share: before a rollout, since the weights may have changed.
  virtual void reset() = 0;

  // A slot begins an episode with its prompt. Slots of the same group (not negative) that have the same prompt compute
  // it once.
  virtual void begin(int slot, std::span<const std::int32_t> prompt, int group, std::uint32_t episode) = 0;
  // What follows a slot's last reply: the next turn's context.
  virtual void append(int slot, std::span<const std::int32_t> tokens) = 0;
  virtual void end(int slot) = 0;

  // Chooses ids for each request (a slot at most once): at least one, and no more after a stop id or beyond the limit;
  // fewer where it suits the device. choices: [requests]. The ids are the slots' next tokens.
  virtual void generate(std::span<const ReplyRequest>, const DrawSettings&,
                        std::vector<std::vector<Choice>>& choices) = 0;
};

}  // namespace starpo
