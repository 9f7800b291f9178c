#include "engine/cuda/engine/generator.h"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "engine/cuda/kernels/embedding.h"
#include "engine/cuda/runtime/graph.h"

namespace starpo::cuda {
namespace {

// Decodes several tokens per call with CUDA graphs. Sampling, logging and feeding tokens back run on the device.
template <class T>
class CudaGenerator final : public Generator {
 public:
  CudaGenerator(Stream& stream, const DeviceWeights<T>& weights, const Products<T>& products,
                const RotaryTables& rotary, const GeneratorBuffers<T>& buffers, const GeneratorShape& shape, bool exact)
      : stream_(stream),
        weights_(weights),
        products_(products),
        rotary_(rotary),
        buffers_(buffers),
        shape_(shape),
        exact_(exact),
        sequences_(shape.slots + shape.prefixes),
        prefixes_(shape.prefixes),
        host_(buffers.decode_rows) {}

  int slots() const override { return shape_.slots; }
  int context() const override { return shape_.context; }

  void reset() override {
    std::fill(sequences_.begin(), sequences_.end(), CachedSequence{});
    std::fill(prefixes_.begin(), prefixes_.end(), Prefix{});
    prefixes_changed_ = true;
  }

  void begin(int slot, std::span<const std::int32_t> prompt, int group, std::uint32_t episode) override {
    if (slot < 0 || slot >= shape_.slots) throw std::out_of_range("unknown slot");
    if (prompt.empty()) throw std::invalid_argument("a prompt needs at least one token");
    check_tokens(prompt);
    end(slot);
    CachedSequence& sequence = sequences_[slot];
    sequence.episode = episode;
    check_context(slot, prompt.size());
    const int prefix = group < 0 || prompt.size() < 2 ? -1 : find_prefix(group, prompt);
    if (prefix < 0) {
      sequence.pending.assign(prompt.begin(), prompt.end());
      return;
    }
    sequence.prefix = prefix;
    sequence.length = static_cast<int>(prompt.size()) - 1;
    sequence.pending.assign(1, prompt.back());
    ++prefixes_[prefix - shape_.slots].users;
    prefixes_changed_ = true;
  }

  void append(int slot, std::span<const std::int32_t> tokens) override {
    check_context(slot, tokens.size());
    check_tokens(tokens);
    auto& pending = sequences_.at(slot).pending;
    pending.insert(pending.end(), tokens.begin(), tokens.end());
  }

  void end(int slot) override {
    CachedSequence& sequence = sequences_.at(slot);
    if (sequence.prefix >= 0) {
      --prefixes_[sequence.prefix - shape_.slots].users;
      prefixes_changed_ = true;
    }
    sequence = {};
  }

  void generate(std::span<const ResponseRequest> requests, const DrawSettings& draws,
                std::vector<std::vector<Choice>>& choices) override {
    if (requests.empty()) return choices.clear();
    if (draws.stop_ids.size() > kMaxStopIds) throw std::invalid_argument("too many stop ids");
    int longest = 1;
    for (const ResponseRequest& request : requests) {
      check_context(request.slot, 0);
      if (sequences_[request.slot].pending.empty())
        throw std::invalid_argument("the slot has no token to continue from");
      longest = std::max(longest, std::min(request.limit, kStepsPerCall));
    }
    if (prefixes_changed_) upload_prefixes();
    prefill();

    const int rows = decode_bucket(static_cast<int>(requests.size())),
              stop_count = static_cast<int>(draws.stop_ids.size());
    upload_rows(requests, draws);
    const bool splits = !exact_ && rows * weights_.width().kv_heads < kBlocksWithoutSplit;
    const StepKey key{rows, stop_count, splits ? key_parts(longest_keys(requests), weights_.width().head_dim) : 1};
    Graph& step = steps_[key];
    int steps = 0;
    if (!step) {
      decode_step(key);  // loads the kernels, which fails during capture
      ++steps;
      step = Graph(stream_, [&] { decode_step(key); });
    }
    for (; steps < longest; ++steps) step.launch(stream_);
    download_choices(requests, rows, choices);
  }

 private:
  // The properties of a decode step that its graph fixes.
  struct StepKey {
    int rows, stop_count;
    int key_parts;  // of the longest row, so that no blocks start for parts without keys
    auto operator<=>(const StepKey&) const = default;
  };
  // A cache slot of an episode or of a shared prompt: `length` tokens are cached, `pending` tokens follow.
  struct CachedSequence {
    std::uint32_t episode = 0;
    int length = 0;
    std::vector<std::int32_t> pending;
    int prefix = -1;  // cache slot of the shared prompt; -1: none
  };
  // A shared prompt, cached without its last token in one of the additional slots.
  struct Prefix {
    int group = -1;
    std::vector<std::int32_t> prompt;
    int users = 0;
  };

  // Returns the maximum number of keys of a row at the end of a call.
  int longest_keys(std::span<const ResponseRequest> requests) const {
    int longest = 0;
    for (const ResponseRequest& request : requests) longest = std::max(longest, sequences_[request.slot].length);
    return std::min(longest + kStepsPerCall, shape_.context);
  }

  // Returns the cache slot of a shared prompt, or -1 if all are in use.
  int find_prefix(int group, std::span<const std::int32_t> prompt) {
    int free = -1;
    for (int i = 0; i < shape_.prefixes; ++i) {
      if (prefixes_[i].group == group && std::ranges::equal(prefixes_[i].prompt, prompt)) return shape_.slots + i;
      if (prefixes_[i].users == 0 && (free < 0 || prefixes_[i].group < 0)) free = i;
    }
    if (free < 0) return -1;
    prefixes_[free] = {group, {prompt.begin(), prompt.end()}, 0};
    CachedSequence& sequence = sequences_[shape_.slots + free];
    sequence = {};
    sequence.pending.assign(prompt.begin(), prompt.end() - 1);
    return shape_.slots + free;
  }

  void check_context(int cache_slot, std::size_t more) const {
    const CachedSequence& sequence = sequences_.at(cache_slot);
    if (sequence.length + sequence.pending.size() + more > static_cast<std::size_t>(shape_.context))
      throw std::out_of_range("the tokens exceed the context");
  }

  // Token ids must be valid, because kernels index the embedding table with them.
  void check_tokens(std::span<const std::int32_t> tokens) const {
    const int vocab = weights_.width().vocab;
    if (std::ranges::any_of(tokens, [&](std::int32_t token) { return token < 0 || token >= vocab; }))
      throw std::out_of_range("token outside the vocabulary");
  }

  void upload_prefixes() {
    std::vector<std::int32_t> slot(sequences_.size(), 0), length(sequences_.size(), 0);
    for (std::size_t i = 0; i < sequences_.size(); ++i) {
      if (sequences_[i].prefix < 0) continue;
      slot[i] = sequences_[i].prefix;
      length[i] = static_cast<std::int32_t>(prefixes_[sequences_[i].prefix - shape_.slots].prompt.size()) - 1;
    }
    upload(stream_, buffers_.prefix_slot, slot);
    upload(stream_, buffers_.prefix_length, length);
    prefixes_changed_ = false;
  }

  // Computes all pending tokens except each slot's last one, which the decode step computes to sample from its logits.
  // Shared prompts come first.
  void prefill() {
    const std::size_t max_rows = std::min<std::size_t>(kPrefillRows, sequences_.size() * shape_.context);
    std::vector<std::int32_t> slots, tokens, positions;
    const auto flush = [&] {
      if (!slots.empty()) prefill_rows(slots, tokens, positions);
      for (auto* each : {&slots, &tokens, &positions}) each->clear();
    };
    for (std::size_t i = 0; i < sequences_.size(); ++i) {
      const auto index = static_cast<int>((i + shape_.slots) % sequences_.size());
      CachedSequence& sequence = sequences_[index];
      const std::size_t reserved = index < shape_.slots ? 1 : 0,
                        count = sequence.pending.size() > reserved ? sequence.pending.size() - reserved : 0;
      for (std::size_t t = 0; t < count; ++t) {
        slots.push_back(index);
        tokens.push_back(sequence.pending[t]);
        positions.push_back(sequence.length++);
        if (slots.size() == max_rows) flush();
      }
      sequence.pending.erase(sequence.pending.begin(), sequence.pending.begin() + static_cast<std::ptrdiff_t>(count));
    }
    flush();
  }

  void prefill_rows(std::vector<std::int32_t>& slots, std::vector<std::int32_t>& tokens,
                    std::vector<std::int32_t>& positions) {
    const int rows = prefill_bucket(static_cast<int>(slots.size()));
    slots.resize(rows, -1);  // an unused row computes but stores nothing
    tokens.resize(rows);
    positions.resize(rows);
    upload(stream_, buffers_.row_slots, slots);
    upload(stream_, buffers_.row_tokens, tokens);
    upload(stream_, buffers_.row_positions, positions);
    const auto run = [&] {
      run_layers({rows, buffers_.row_slots, buffers_.row_positions, CachedUse::prefill}, buffers_.row_tokens, {});
    };
    Graph& prefill = prefills_[rows];
    if (prefill) return prefill.launch(stream_);
    run();  // loads the kernels, which fails during capture
    prefill = Graph(stream_, run);
  }

  void run_layers(const CachedRows& rows, const std::int32_t* tokens, const KeySplits& splits) {
    const Widths& width = weights_.width();
    LayerBuffers<T> b = buffers_.layer;
    if (!products_.separates_swiglu(rows.rows, width.intermediate, width.hidden)) b.gate_up = nullptr;
    embed(stream_, rows.rows, width.hidden, tokens, weights_.matrix(weights_.offsets().embedding), b.x);
    for (int layer = 0; layer < static_cast<int>(buffers_.caches.size()); ++layer) {
      const KvCache<T>& cache = buffers_.caches[layer];
      const T* const delta = layer == 0 ? nullptr : buffers_.delta;
      run_layer(stream_, weights_, products_, layer, rows.rows, b.x, delta, b, buffers_.delta, [&](const float* bias) {
        cached_attention(stream_, attention_shape(width), cache, rows, {bias, rotary_}, b.qkv, b.attended, splits);
      });
    }
  }

  // Computes the next token of each row. This work is captured in a graph.
  void decode_step(const StepKey& key) {
    const int rows = key.rows;
    const Widths& width = weights_.width();
    const LayerBuffers<T>& b = buffers_.layer;
    const DecodeRows& state = buffers_.rows;
    const bool divides = !exact_ && rows * width.kv_heads <= kBlocksWithDividedKeys;
    const CachedUse use = divides ? CachedUse::fast_decode : CachedUse::decode;
    run_layers({rows, state.slots, state.positions, use}, state.tokens,
               key_splits(key.key_parts * split_length(width.head_dim), width.head_dim, buffers_.key_partials));
    residual_norm(stream_, rows, width.hidden, b.x, static_cast<const T*>(buffers_.delta),
                  weights_.master(weights_.offsets().final_norm), weights_.layout().config().rms_norm_eps, b.normed,
                  nullptr);
    products_.forward(rows, width.vocab, width.hidden, b.normed, weights_.matrix(weights_.offsets().head),
                      buffers_.logits);
    const Logits logits{buffers_.logits, rows, width.vocab, row_stride(width.vocab), 1};
    sample(stream_, logits, buffers_.sampler, {buffers_.episodes, state.positions}, buffers_.stop_ids, key.stop_count,
           buffers_.choices);
    advance(stream_, rows, buffers_.choices, state, buffers_.log);
  }

  // The pinned buffers are free, because the last download_choices() synchronized the stream.
  void upload_rows(std::span<const ResponseRequest> requests, const DrawSettings& draws) {
    for (int i = 0; i < buffers_.decode_rows; ++i) host_.set_row(i, {});
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const CachedSequence& sequence = sequences_[requests[i].slot];
      host_.set_row(
          static_cast<int>(i),
          {sequence.pending.front(), sequence.length, std::min(requests[i].limit, shape_.context - sequence.length),
           RowState::running, 0, requests[i].slot, static_cast<std::int32_t>(sequence.episode)});
    }
    host_.sampler[0] = {draws.sampling, draws.random, draws.iteration};
    std::ranges::copy(draws.stop_ids, host_.stop_ids.data());
    upload(stream_, buffers_.row_states, host_.row_states.span());
    upload(stream_, buffers_.sampler, host_.sampler.span());
    upload(stream_, buffers_.stop_ids, host_.stop_ids.span().first(draws.stop_ids.size()));
  }

  void download_choices(std::span<const ResponseRequest> requests, int rows,
                        std::vector<std::vector<Choice>>& choices) {
    const auto fetch = [&](auto& to, const auto* from, std::size_t count) {
      copy_to_host(stream_, to.data(), from, count * sizeof to[0]);
    };
    const std::size_t logged = static_cast<std::size_t>(rows) * kStepsPerCall;
    fetch(host_.row_states, buffers_.row_states, host_.row_states.size());
    fetch(host_.ids, buffers_.log.ids, logged);
    fetch(host_.logprobs, buffers_.log.logprobs, logged);
    fetch(host_.entropies, buffers_.log.entropies, logged);
    stream_.synchronize();
    choices.resize(requests.size());
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const HostRow row = host_.row(static_cast<int>(i));
      choices[i].clear();
      for (std::size_t at = i * kStepsPerCall; at < i * kStepsPerCall + static_cast<std::size_t>(row.logged); ++at)
        choices[i].push_back({host_.ids[at], host_.logprobs[at], host_.entropies[at]});
      if (row.state == RowState::not_finite) choices[i].push_back({-1, 0, 0});
      CachedSequence& sequence = sequences_[requests[i].slot];
      sequence.length += row.logged;
      sequence.pending.assign(1, choices[i].back().id);
      if (sequence.pending.front() < 0) sequence.pending.clear();  // nothing was sampled
    }
  }

  Stream& stream_;
  const DeviceWeights<T>& weights_;
  Products<T> products_;
  RotaryTables rotary_;
  GeneratorBuffers<T> buffers_;
  GeneratorShape shape_;
  bool exact_;
  std::vector<CachedSequence> sequences_;
  std::vector<Prefix> prefixes_;
  bool prefixes_changed_ = true;
  HostBuffers host_;
  std::map<StepKey, Graph> steps_;
  std::map<int, Graph> prefills_;  // by rows
};

}  // namespace

template <class T>
std::unique_ptr<Generator> make_generator(Stream& stream, const DeviceWeights<T>& weights, const Products<T>& products,
                                          const RotaryTables& rotary, const GeneratorBuffers<T>& buffers,
                                          const GeneratorShape& shape, bool exact) {
  return std::make_unique<CudaGenerator<T>>(stream, weights, products, rotary, buffers, shape, exact);
}

template std::unique_ptr<Generator> make_generator(Stream&, const DeviceWeights<Bf16>&, const Products<Bf16>&,
                                                   const RotaryTables&, const GeneratorBuffers<Bf16>&,
                                                   const GeneratorShape&, bool);
template std::unique_ptr<Generator> make_generator(Stream&, const DeviceWeights<float>&, const Products<float>&,
                                                   const RotaryTables&, const GeneratorBuffers<float>&,
                                                   const GeneratorShape&, bool);

}  // namespace starpo::cuda
