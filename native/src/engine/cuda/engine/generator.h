#pragma once

#include <map>

#include "engine/cuda/engine/generator_buffers.h"
#include "engine/cuda/kernels/rope.h"
#include "engine/cuda/runtime/graph.h"
#include "engine/generator.h"

namespace starpo::cuda {

// Decodes with recorded steps: choosing, noting and feeding back happen on the device, several tokens at a time. T: Bf16 or float.
template <class T>
class Generator final : public starpo::Generator {
 public:
  Generator(Stream&, const DeviceWeights<T>&, const Products<T>&, const RotaryTables&, const GeneratorBuffers<T>&, const GeneratorShape&, bool exact);

  int slots() const override { return shape_.slots; }
  int context() const override { return shape_.context; }
  void reset() override;
  void begin(int slot, std::span<const std::int32_t> prompt, int group, std::uint32_t episode) override;
  void append(int slot, std::span<const std::int32_t> tokens) override;
  void end(int slot) override;
  void generate(std::span<const ReplyRequest>, const DrawSettings&, std::vector<std::vector<Choice>>& choices) override;

 private:
  // A slot, or a group's prompt: the cache holds `length` tokens, and `pending` follow.
  struct Seat {
    std::uint32_t episode = 0;
    int length = 0;
    std::vector<std::int32_t> pending;
    int prefix = -1;  // seat whose first tokens it borrows
  };
  // A seat after the slots that holds a prompt but for its last token.
  struct Prefix {
    int group = -1;
    std::vector<std::int32_t> prompt;
    int users = 0;
  };

  int find_prefix(int group, std::span<const std::int32_t> prompt);  // seat; -1: all are in use
  void check_room(int seat, std::size_t more) const;
  void check_tokens(std::span<const std::int32_t> tokens) const;
  void upload_prefixes();
  void prefill();
  void prefill_rows(std::span<const std::int32_t> slots, std::span<const std::int32_t> tokens, std::span<const std::int32_t> positions);
  void run_layers(int rows, const std::int32_t* tokens, const std::int32_t* positions, const std::int32_t* slots, bool decoding);
  void decode_step(int rows, int stop_count);
  void feed(std::span<const ReplyRequest>, const DrawSettings&);
  void collect(std::span<const ReplyRequest>, int rows, std::vector<std::vector<Choice>>& choices);

  Stream& stream_;
  const DeviceWeights<T>& weights_;
  Products<T> products_;
  RotaryTables rotary_;
  GeneratorBuffers<T> buffers_;
  GeneratorShape shape_;
  bool exact_;
  std::vector<Seat> seats_;
  std::vector<Prefix> prefixes_;
  bool prefixes_changed_ = true;
  HostBuffers host_;
  std::map<std::pair<int, int>, Graph> steps_;  // by rows and number of stop ids
};

extern template class Generator<Bf16>;
extern template class Generator<float>;

}  // namespace starpo::cuda
