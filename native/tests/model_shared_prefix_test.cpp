#include <doctest/doctest.h>

#include "engine/cpu/decoder.h"
#include "engine/cpu/kernels/bf16_kernels.h"
#include "model_fixtures.h"

// Slots with the same first tokens read their keys and values once. Results must be bit-identical to each slot
// alone.
namespace starpo {

namespace {

using Tokens = std::vector<std::int32_t>;

// Returns the logits after a sequence in a separate decoder.
std::vector<float> logits_alone(const CpuModel& model, const Tokens& tokens) {
  CpuDecoder decoder(model, 1, static_cast<int>(tokens.size()));
  std::vector<float> logits(model.layout().config().vocab_size);
  const SlotTokens entry{0, tokens};
  decoder.extend({&entry, 1}, logits);
  return logits;
}

// A decoder and the expected tokens of its slots.
class Sequences {
 public:
  Sequences(const CpuModel& model, int slots, int context)
      : model_(model), decoder_(model, slots, context), held_(slots) {}

  void copy(int from, int to, int length) {
    decoder_.copy(from, to, length);
    held_[to] = Tokens(held_[from].begin(), held_[from].begin() + length);
    CHECK(decoder_.length(to) == length);
  }

  int length(int slot) const { return decoder_.length(slot); }

  void clear(int slot) {
    decoder_.clear(slot);
    held_[slot].clear();
  }

  // Extends slots by `count` tokens each in one call. The tokens depend on the slot.
  void extend(const std::vector<std::pair<int, int>>& slots_and_counts) {
    const std::size_t vocab = model_.layout().config().vocab_size;
    std::vector<Tokens> added;
    std::vector<SlotTokens> entries;
    for (const auto& [slot, count] : slots_and_counts) {
      Tokens& tokens = added.emplace_back();
      for (int i = 0; i < count; ++i)
        tokens.push_back(
            static_cast<std::int32_t>((slot * 7 + static_cast<int>(held_[slot].size() + i) * 5 + i) % vocab));
      held_[slot].insert(held_[slot].end(), tokens.begin(), tokens.end());
    }
    for (std::size_t i = 0; i < added.size(); ++i) entries.push_back({slots_and_counts[i].first, added[i]});
    std::vector<float> logits(entries.size() * vocab);
    decoder_.extend(entries, logits);
    int different = 0;
    for (std::size_t i = 0; i < entries.size(); ++i)
      different +=
          same_bits(std::span(logits).subspan(i * vocab, vocab), logits_alone(model_, held_[entries[i].slot])) ? 0 : 1;
    CHECK(different == 0);
  }

 private:
  const CpuModel& model_;
  CpuDecoder decoder_;
  std::vector<Tokens> held_;
};

void check_sharing(const Shape& shape, Precision precision) {
  const ModelConfig config = small_config(shape);
  ThreadPool threads(2);
  CpuModel model(config, threads, precision);
  load(model, large_weights(model.layout()));
  Sequences sequences(model, 11, 90);

  // Two groups with prompts of 37 and 32 tokens, which end within a panel and at its end.
  sequences.extend({{10, 37}});
  for (int slot = 0; slot < 6; ++slot) sequences.copy(10, slot, 37);
  sequences.clear(10);
  sequences.extend({{10, 32}});
  for (int slot = 6; slot < 9; ++slot) sequences.copy(10, slot, 32);
  for (int step = 0; step < 3; ++step)
    sequences.extend({{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}, {6, 1}, {7, 1}, {8, 1}});
  // Slots of a group that are not adjacent, slots with several tokens, the slot that was copied, and one without a
  // prefix.
  sequences.extend({{8, 1}, {0, 14}, {6, 1}, {5, 2}, {7, 1}, {10, 1}, {9, 3}, {1, 1}, {3, 1}});
  sequences.extend({{0, 1}, {1, 1}, {2, 1}, {5, 1}, {8, 1}, {9, 1}, {10, 1}});
  // Copies of a partly shared slot: of all tokens, cut within and after the prefix, of no tokens, onto itself.
  sequences.copy(0, 9, 52);
  sequences.copy(0, 1, 20);
  sequences.copy(5, 2, 39);
  sequences.copy(6, 3, 0);
  sequences.copy(7, 7, 33);
  sequences.extend({{0, 1}, {9, 1}, {1, 2}, {2, 1}, {3, 5}, {7, 1}, {5, 1}, {8, 33}});
}

}  // namespace

TEST_CASE("slots that share a prefix are bit-identical to separate slots on every instruction set") {
  for (const Isa isa : supported_isas()) {
    const WithIsa selected(isa);
    CAPTURE(static_cast<int>(isa));
    check_sharing({2, 1, 64, true}, Precision::fp32);
  }
}

// Sixty rows of scores, each with a shared and an own part that are padded to whole panels: one panel more than the
// context. Scratch memory must have room for it.
TEST_CASE("slots that share a prefix may fill their context") {
  const ModelConfig config = small_config(Shape{20, 1, 64, true});
  ThreadPool threads(1);
  CpuModel model(config, threads, Precision::fp32);
  load(model, large_weights(model.layout()));
  Sequences sequences(model, 3, 96);
  sequences.extend({{0, 37}});
  for (int slot = 1; slot < 3; ++slot) sequences.copy(0, slot, 37);
  while (sequences.length(0) < 96) sequences.extend({{0, 1}, {1, 1}, {2, 1}});
}

TEST_CASE("slots share a prefix with any shape of heads, in fp32 and bf16") {
  for (const Shape& shape :
       {Shape{4, 2, 6, false}, Shape{14, 2, 16, true}, Shape{20, 1, 64, true}, Shape{2, 2, 64, true}}) {
    check_sharing(shape, Precision::fp32);
    if (bf16_kernels() != nullptr) check_sharing(shape, Precision::bf16);
  }
  if (bf16_kernels() != nullptr) check_sharing({2, 1, 64, true}, Precision::bf16);
}

}  // namespace starpo
