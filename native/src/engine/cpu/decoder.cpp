#include "engine/cpu/decoder.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "engine/cpu/block.h"
#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/key_value_cache.h"

namespace starpo {
namespace {

// Maximum rows of scores when slots share a prefix: enough for whole tiles, few enough for a cache.
constexpr int kMaxScoreRows = 64;

int score_rows(const Widths& width) { return std::max({kMaxScoreRows, width.group, kAttentionRows}); }

// Returns the maximum length of a row of scores for `context` tokens. Shared and own tokens are each padded to whole
// panels, which adds one panel.
std::size_t longest_score_row(int context) { return score_row(context, 1); }

// Query rows of several entries for one key-value head.
struct Rows {
  int count;                                   // rows per entry
  std::ptrdiff_t query_stride, output_stride;  // between rows of an entry
  int token;                                   // token index of the first row
  int token_step;                              // from one row to the next
  const float* queries;                        // of the first entry; entries are one row of qkv apart
  float* output;
};

// Attention for one layer and key-value head.
class HeadAttention {
 public:
  HeadAttention(const CpuModel& model, const DecoderSlots& slots, int layer, int head, float* scratch, int context)
      : slots_(slots),
        layer_(layer),
        head_(head),
        width_(model.layout().config()),
        bf16_(model.precision() == Precision::bf16),
        scores_(scratch),
        reciprocals_(scores_ + score_rows(width_) * longest_score_row(context)),
        keys_(reciprocals_ + score_rows(width_)),
        values_(keys_ + packed_size(width_.head_dim, context)) {}

  // Computes the new tokens of one entry, or of several entries that have the same prefix and one new token each.
  void attend(std::span<const SlotTokens> entries, const float* qkv, float* attended) {
    const int tokens = static_cast<int>(entries[0].tokens.size());
    const int rows = tokens == 1 ? width_.group : std::min(tokens, kAttentionRows);
    if (expands(rows)) slots_.cache().expand(entries[0].slot, layer_, head_, own_length(entries[0]), keys_, values_);
    const std::ptrdiff_t column = static_cast<std::ptrdiff_t>(head_) * width_.group * width_.head_dim;
    // For one token, the rows are the heads of the group. For several, they are the tokens of a head.
    if (tokens == 1)
      return attend(entries, {rows, width_.head_dim, width_.head_dim, 0, 0, qkv + column, attended + column});
    for (int head = 0; head < width_.group; ++head)
      for (int token = 0; token < tokens; token += kAttentionRows) {
        const std::ptrdiff_t first = column + head * width_.head_dim;
        attend(entries, {std::min(tokens - token, kAttentionRows), width_.qkv, width_.queries, token, 1,
                         qkv + token * static_cast<std::ptrdiff_t>(width_.qkv) + first,
                         attended + token * static_cast<std::ptrdiff_t>(width_.queries) + first});
      }
  }

 private:
  bool expands(int rows) const { return bf16_ && !attention_reads_bf16(rows, width_.head_dim); }
  int own_length(const SlotTokens& entry) const {
    return slots_.length(entry.slot) - slots_.shared(entry.slot) + static_cast<int>(entry.tokens.size());
  }

  void attend(std::span<const SlotTokens> entries, const Rows& rows) {
    const SharedPrefix* const prefix = slots_.prefix(entries[0].slot);
    const int shared = slots_.shared(entries[0].slot), count = static_cast<int>(entries.size());
    int longest = 0;
    for (const SlotTokens& entry : entries) longest = std::max(longest, own_length(entry));
    const auto stride = static_cast<std::ptrdiff_t>(score_row(shared, longest));
    const auto tile = [&](int i) { return tile_of(entries[i], i, rows, stride); };
    if (prefix) {
      for_products(count, rows, stride,
                   [&](int height, const float* queries, std::ptrdiff_t query_stride, float* scores,
                       std::ptrdiff_t score_stride, float*, std::ptrdiff_t) {
                     kernels().multiply(height, shared, width_.head_dim, queries, query_stride,
                                        prefix->keys(layer_, head_), nullptr, 0, scores, score_stride);
                   });
    }
    for (int i = 0; i < count; ++i) kernels().attention_weights(tile(i));
    if (prefix) {
      for_products(count, rows, stride,
                   [&](int height, const float*, std::ptrdiff_t, float* scores, std::ptrdiff_t score_stride,
                       float* output, std::ptrdiff_t output_stride) {
                     kernels().multiply(height, width_.head_dim, shared, scores, score_stride,
                                        prefix->values(layer_, head_), nullptr, 0, output, output_stride);
                   });
    }
    for (int i = 0; i < count; ++i) kernels().attention_output(tile(i));
  }

  // Calls product() for rows at a constant stride: all rows of one entry, or row r of all entries.
  template <class Product>
  void for_products(int count, const Rows& rows, std::ptrdiff_t stride, Product product) {
    if (count == 1)
      return product(rows.count, rows.queries, rows.query_stride, scores_, stride, rows.output, rows.output_stride);
    for (int r = 0; r < rows.count; ++r)
      product(count, rows.queries + r * rows.query_stride, width_.qkv, scores_ + r * stride, rows.count * stride,
              rows.output + r * rows.output_stride, width_.queries);
  }

  AttentionTile tile_of(const SlotTokens& entry, int index, const Rows& rows, std::ptrdiff_t stride) const {
    AttentionTile tile{};
    tile.rows = rows.count;
    tile.queries = rows.queries + index * static_cast<std::ptrdiff_t>(width_.qkv);
    tile.query_stride = rows.query_stride;
    tile.limit = slots_.length(entry.slot) + rows.token + 1;
    tile.limit_step = rows.token_step;
    tile.head_dim = tile.value_stride = width_.head_dim;
    tile.scale = 1.0f / std::sqrt(static_cast<float>(width_.head_dim));
    tile.output = rows.output + index * static_cast<std::ptrdiff_t>(width_.queries);
    tile.output_stride = rows.output_stride;
    tile.scores = scores_ + index * rows.count * stride;
    tile.score_stride = stride;
    tile.reciprocal = reciprocals_ + index * rows.count;
    tile.shared = slots_.shared(entry.slot);
    if (!bf16_) {
      tile.transposed_keys = slots_.cache().keys<float>(entry.slot, layer_, head_);
      tile.values = slots_.cache().values<float>(entry.slot, layer_, head_);
    } else if (expands(rows.count)) {
      tile.transposed_keys = keys_;
      tile.values = values_;
    } else {
      tile.bf16_transposed_keys = slots_.cache().keys<Bf16>(entry.slot, layer_, head_);
      tile.bf16_values = slots_.cache().values<Bf16>(entry.slot, layer_, head_);
    }
    return tile;
  }

  const DecoderSlots& slots_;
  int layer_, head_;
  Widths width_;
  bool bf16_;
  float *scores_, *reciprocals_, *keys_, *values_;
};

// Returns the number of leading entries that are computed together: those with the same prefix and one new token each.
std::size_t count_together(const CpuModel& model, const DecoderSlots& slots, std::span<const SlotTokens> entries) {
  const Widths width(model.layout().config());
  const SharedPrefix* const prefix = slots.prefix(entries[0].slot);
  const bool expanded = model.precision() == Precision::bf16 && !attention_reads_bf16(width.group, width.head_dim);
  if (prefix == nullptr || expanded) return 1;
  const std::size_t max_count = std::max(1, kMaxScoreRows / width.group);
  std::size_t count = 0;
  while (count < std::min(max_count, entries.size()) && entries[count].tokens.size() == 1 &&
         slots.prefix(entries[count].slot) == prefix)
    ++count;
  return std::max<std::size_t>(count, 1);
}

// Returns the scratch size of decode_attention for `context` tokens, in floats.
std::size_t decode_attention_scratch(const CpuModel& model, int context) {
  const Widths width(model.layout().config());
  // Space for keys and values converted to float.
  const std::size_t expanded = model.precision() == Precision::bf16 ? packed_size(width.head_dim, context) : 0;
  return score_rows(width) * (longest_score_row(context) + 1) + 2 * expanded;
}

// Computes a layer's attention for the new tokens of all entries and stores their keys and values. qkv [tokens,
// Widths::qkv] and attended [tokens, Widths::queries] have one row per new token, in the order of the entries. Adjacent
// entries read a shared prefix once. This changes no bit, because all sums follow the order of the keys.
void decode_attention(const CpuModel& model, DecoderSlots& slots, std::span<const SlotTokens> entries, int layer,
                      const float* qkv, float* attended, float* scratch, int context) {
  const Widths width(model.layout().config());
  while (!entries.empty()) {
    const std::size_t count = count_together(model, slots, entries);
    std::ptrdiff_t row = 0;
    for (const SlotTokens& entry : entries.first(count))
      for (std::size_t i = 0; i < entry.tokens.size(); ++i, ++row)
        slots.store(entry.slot, layer, slots.length(entry.slot) + static_cast<int>(i), qkv + row * width.qkv);
    for (int head = 0; head < width.kv_heads; ++head)
      HeadAttention(model, slots, layer, head, scratch, context).attend(entries.first(count), qkv, attended);
    qkv += row * width.qkv;
    attended += row * width.queries;
    entries = entries.subspan(count);
  }
}

}  // namespace

struct CpuDecoder::State {
  State(const CpuModel& m, int count, int context_length)
      : model(m), context(context_length), slots(m.layout().config(), count, context_length, m.precision()) {
    rotary.extend_to(m.layout().config(), context_length);
  }

  void check(std::span<const SlotTokens> entries, std::span<const float> logits) const;
  void run(std::span<const SlotTokens> entries, int rows, float* logits);

  const CpuModel& model;
  int context;
  DecoderSlots slots;
  RotaryTable rotary;
};

CpuDecoder::CpuDecoder(const CpuModel& model, int slots, int context) {
  if (slots < 1 || context < 1) throw std::invalid_argument("slots and context must be at least 1");
  state_ = std::make_unique<State>(model, slots, context);
}
CpuDecoder::~CpuDecoder() = default;

int CpuDecoder::slots() const { return state_->slots.count(); }
int CpuDecoder::context() const { return state_->context; }
int CpuDecoder::length(int slot) const { return state_->slots.length(slot); }
void CpuDecoder::clear(int slot) { state_->slots.clear(slot); }
void CpuDecoder::copy(int from, int to, int length) { state_->slots.copy(from, to, length); }

void CpuDecoder::extend(std::span<const SlotTokens> entries, std::span<float> logits) {
  state_->check(entries, logits);
  // Each task runs some slots through the whole model, so that a step has one parallel region. Tasks have similar
  // numbers of rows. There are at least as many tasks as threads, and more only if each has 64 rows, because every task
  // reads all weights.
  std::size_t total = 0;
  for (const SlotTokens& entry : entries) total += entry.tokens.size();
  const std::size_t threads = state_->model.threads().size();
  const std::size_t tasks = std::max(total / 64, threads);
  struct Chunk {
    std::size_t first, count;
    int rows;
  };
  std::vector<Chunk> chunks;
  std::size_t done = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (chunks.empty() || done * tasks >= chunks.size() * total) chunks.push_back({i, 0, 0});
    ++chunks.back().count;
    chunks.back().rows += static_cast<int>(entries[i].tokens.size());
    done += entries[i].tokens.size();
  }
  const std::size_t vocab = state_->model.layout().config().vocab_size;
  state_->model.threads().parallel_for(static_cast<int>(chunks.size()), [&](int i) {
    const Chunk& chunk = chunks[i];
    state_->run(entries.subspan(chunk.first, chunk.count), chunk.rows, logits.data() + chunk.first * vocab);
  });
  for (const SlotTokens& entry : entries) state_->slots.grow(entry.slot, static_cast<int>(entry.tokens.size()));
}

void CpuDecoder::State::check(std::span<const SlotTokens> entries, std::span<const float> logits) const {
  const ModelConfig& config = model.layout().config();
  if (logits.size() != entries.size() * config.vocab_size)
    throw std::invalid_argument("logits must be [entries, vocab]");
  std::vector<bool> used(slots.count());
  for (const SlotTokens& entry : entries) {
    if (entry.tokens.empty()) throw std::invalid_argument("no tokens for a slot");
    if (slots.length(entry.slot) + entry.tokens.size() > static_cast<std::size_t>(context))
      throw std::out_of_range("tokens beyond the context");
    if (used[entry.slot]) throw std::invalid_argument("a slot appears twice in one call");
    used[entry.slot] = true;
    for (const std::int32_t token : entry.tokens)
      if (token < 0 || token >= config.vocab_size) throw std::out_of_range("token outside the vocabulary");
  }
}

void CpuDecoder::State::run(std::span<const SlotTokens> entries, int rows, float* logits) {
  const Kernels& k = kernels();
  const ModelConfig& config = model.layout().config();
  const Widths width(config);
  const CpuModel::Packed& packed = model.packed();
  const float* const weights = model.weights().data();
  const std::size_t n = rows;
  const auto [scratch, x, normed, qkv, attended, gate_up, hidden, position_words] = split_buffer(
      thread_memory(), {decode_attention_scratch(model, context), n * width.hidden, n * width.hidden, n * width.qkv,
                        n * width.queries, n * 2 * width.intermediate, n * width.intermediate, n});
  std::int32_t* const positions = reinterpret_cast<std::int32_t*>(position_words);

  std::size_t row = 0;
  for (const SlotTokens& entry : entries)
    for (std::size_t i = 0; i < entry.tokens.size(); ++i, ++row) {
      positions[row] = slots.length(entry.slot) + static_cast<std::int32_t>(i);
      std::copy_n(weights + packed.offsets.embedding + static_cast<std::size_t>(entry.tokens[i]) * width.hidden,
                  width.hidden, x + row * width.hidden);
    }
  for (int layer = 0; layer < config.num_hidden_layers; ++layer) {
    project_qkv(model, layer, rows, x, positions, rotary, normed, qkv, nullptr);
    decode_attention(model, slots, entries, layer, qkv, attended, scratch, context);
    output_and_mlp(model, layer, rows, x, attended, x, normed, gate_up, hidden, x, nullptr);
  }
  row = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    row += entries[i].tokens.size();
    k.norm(1, width.hidden, x + (row - 1) * width.hidden, weights + packed.offsets.final_norm, config.rms_norm_eps,
           normed + i * width.hidden, nullptr);
  }
  multiply_forward(model, packed.head, static_cast<int>(entries.size()), normed, nullptr, 0, logits);
}

}  // namespace starpo
