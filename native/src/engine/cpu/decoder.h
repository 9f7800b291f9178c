#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/cpu/model.h"

namespace starpo {

// Tokens to append to one slot's sequence: one sampled token, a prompt, or the next observation.
struct SlotTokens {
  int slot;
  std::span<const std::int32_t> tokens;  // not empty
};

// KV-cached forward pass for many sequences at once. The cache lives until its slot is cleared: through all turns of an
// episode. What a slot computes depends on its own tokens alone: not on other slots, their number, or how its tokens
// were split over calls.
class CpuDecoder {
 public:
  CpuDecoder(const CpuModel&, int slots, int context);  // context: most tokens a slot can hold
  ~CpuDecoder();

  int slots() const;
  int context() const;
  int length(int slot) const;  // tokens held

  void clear(int slot);
  // Slot `to` becomes a copy of the first `length` tokens of slot `from`: a group's prompt is computed once.
  void copy(int from, int to, int length);

  // Appends each entry's tokens (a slot at most once a call) and writes the logits after its last token: logits
  // [entries, vocab].
  void extend(std::span<const SlotTokens> entries, std::span<float> logits);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace starpo
