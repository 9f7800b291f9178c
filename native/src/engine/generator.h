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

// Settings for sampling. The counter of a draw consists of iteration, episode and position, so that it does not depend
// on slot, batch or order.
struct DrawSettings {
  Philox random;
  std::uint32_t iteration;
  SamplingSettings sampling;
  std::span<const std::int32_t> stop_ids;  // end a response
};

struct Choice {
  std::int32_t id;  // -1: the logits were not finite
  float logprob;    // from the untruncated distribution at the sampling temperature, in nats
  float entropy;
};

// A request to decode a slot's response.
struct ResponseRequest {
  int slot;
  int limit;  // maximum ids to generate in this call, at least 1
};

// Generates responses for many slots, with a KV cache that lasts for all turns of a context. A slot's results depend
// only on its own tokens and draws, not on other slots or batching. Exception: in `fast` mode, a GPU splits sums by the
// number of rows, so other slots can change the last bits of a logit, and occasionally a draw.
class Generator {
 public:
  virtual ~Generator() = default;

  virtual int slots() const = 0;
  virtual int context() const = 0;  // maximum tokens per slot

  // Clears all slots and shared prefixes. Call before a rollout, because the weights may have changed.
  virtual void reset() = 0;

  // Starts a context in a slot with its prompt, in place of an earlier one. Slots of the same group (>= 0) with the
  // same prompt share its computation. episode: second counter word of the draws.
  virtual void begin(int slot, std::span<const std::int32_t> prompt, int group, std::uint32_t episode) = 0;
  // Appends the next turn's tokens after the last response.
  virtual void append(int slot, std::span<const std::int32_t> tokens) = 0;
  virtual void end(int slot) = 0;

  // Generates at least one id for each request, up to a stop id or the limit. The device may return fewer than the
  // limit. A slot may occur only once. choices: [requests]. The ids become the slots' next tokens.
  virtual void generate(std::span<const ResponseRequest>, const DrawSettings&,
                        std::vector<std::vector<Choice>>& choices) = 0;
};

}  // namespace starpo
