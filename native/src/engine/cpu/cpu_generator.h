#pragma once

#include "engine/cpu/decoder.h"
#include "engine/generator.h"

namespace starpo {

// Samples one id per slot and call, in one batch.
class CpuGenerator final : public Generator {
 public:
  CpuGenerator(const CpuModel&, int slots, int context);

  int slots() const override { return static_cast<int>(slot_states_.size()); }
  int context() const override { return decoder_.context(); }
  void reset() override;
  void begin(int slot, std::span<const std::int32_t> prompt, int group, std::uint32_t episode) override;
  void append(int slot, std::span<const std::int32_t> tokens) override;
  void end(int slot) override;
  void generate(std::span<const ResponseRequest>, const DrawSettings&,
                std::vector<std::vector<Choice>>& choices) override;

 private:
  // A slot's episode and the tokens for its next step.
  struct SlotState {
    std::uint32_t episode = 0;
    std::vector<std::int32_t> pending;
  };

  void share_prefix(int group, std::span<const std::int32_t> prompt);
  std::int32_t draw(int entry, const SlotState&, int slot, const DrawSettings&, std::vector<float>& scratch) const;

  const CpuModel& model_;
  int prefix_slot_;  // the last slot of the decoder, which caches the prompt of a group without its last token
  CpuDecoder decoder_;
  std::vector<SlotState> slot_states_;
  int prefix_group_ = -1;
  std::vector<std::int32_t> prefix_;

  std::vector<SlotTokens> entries_;
  std::vector<float> logits_, logprobs_, entropies_;
  std::vector<std::int32_t> ids_;
};

}  // namespace starpo
