#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "engine/cpu/model.h"

namespace starpo {

// Tokens to append to a slot's sequence: a sampled token, a prompt, or the next observation.
struct SlotTokens {
  int slot;
  std::span<const std::int32_t> tokens;  // not empty
};

// The forward pass with a KV cache for many sequences. A slot keeps its cache for all turns of an episode, until
// clear(). A slot's results depend only on its own tokens, not on other slots or on how its tokens are split over
// calls.
class CpuDecoder {
 public:
  CpuDecoder(const CpuModel&, int slots, int context);  // context: maximum tokens per slot
  ~CpuDecoder();

  int slots() const;
  int context() const;
  int length(int slot) const;  // tokens in the slot

  void clear(int slot);
  // Makes slot `to` a copy of the first `length` tokens of slot `from`, so that the prompt of a group is computed once.
  void copy(int from, int to, int length);

  // Appends the tokens of each entry and writes the logits after its last token: [entries, vocab]. A slot may occur
  // only once.
  void extend(std::span<const SlotTokens> entries, std::span<float> logits);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace starpo
