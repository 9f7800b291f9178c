#include <algorithm>
#include <cstring>
#include <numeric>

#include "engine/cuda/selftest/attention_case.h"
#include "engine/cuda/selftest/attention_reference.h"

namespace starpo::cuda {
namespace {

// The sequences of a case, with bias and rotation, in a KV cache, one per slot, in reversed order. A separate slot
// contains their first `prefix` tokens, which they share. With prefix 0, each slot contains all its tokens. Unwritten
// entries are NaN.
template <class T>
class CachedCase {
 public:
  // stored_last: whether the last token of each sequence is in the cache.
  CachedCase(Stream& stream, const AttentionCase<T>& input, int prefix, bool stored_last = true, float bias = 0.5f)
      : stream_(stream), input_(input), rotated_(input) {
    const int sequences = static_cast<int>(input.starts.size()) - 1, prefix_owner = 0;
    slots_ = sequences + 1;
    for (int i = 0; i < sequences; ++i) {
      const int length = input.starts[i + 1] - input.starts[i];
      context_ = std::max(context_, length + 3);
      for (int position = 0; position < length; ++position) {
        slot_of_token.push_back(sequences - i);
        position_of_token.push_back(position);
      }
    }
    bias_ = DeviceBuffer<float>(stream, random_numbers(input.shape.qkv_width(), 2, bias));
    const std::size_t angles = static_cast<std::size_t>(context_) * input.shape.head_dim / 2;
    cosines_ = DeviceBuffer<float>(stream, random_numbers(angles, 3, 1));
    sines_ = DeviceBuffer<float>(stream, random_numbers(angles, 4, 1));
    rotate();

    const std::size_t size = static_cast<std::size_t>(slots_) * input.shape.kv_heads * context_ * input.shape.head_dim;
    std::vector<T> keys(size, from_float<T>(NAN)), values = keys;
    std::vector<std::int32_t> prefix_slot(slots_, prefix_owner), prefix_length(slots_, prefix);
    prefix_length[prefix_owner] = 0;
    for (int token = 0; token < static_cast<int>(input.tokens()); ++token) {
      const int slot = slot_of_token[token], position = position_of_token[token];
      const bool last = token + 1 == input.starts[sequences - slot + 1];
      if (stored_last || !last) store(token, position < prefix ? prefix_owner : slot, position, keys, values);
    }
    keys_ = DeviceBuffer<T>(stream, keys);
    values_ = DeviceBuffer<T>(stream, values);
    prefix_slot_ = DeviceBuffer<std::int32_t>(stream, prefix_slot);
    prefix_length_ = DeviceBuffer<std::int32_t>(stream, prefix_length);
  }

  // Returns the attended rows of the tokens in `order`. -1 is a row without a slot.
  std::vector<T> attend(const std::vector<int>& order, CachedUse use, int split_length = 0, int longest = 0) {
    const std::size_t width = static_cast<std::size_t>(input_.shape.qkv_width()),
                      heads_width = static_cast<std::size_t>(input_.shape.heads) * input_.shape.head_dim;
    std::vector<T> rows(order.size() * width, from_float<T>(NAN));
    std::vector<std::int32_t> slots, positions;
    for (std::size_t i = 0; i < order.size(); ++i) {
      slots.push_back(order[i] < 0 ? -1 : slot_of_token[order[i]]);
      positions.push_back(order[i] < 0 ? 0 : position_of_token[order[i]]);
      if (order[i] >= 0) std::copy_n(input_.qkv.begin() + order[i] * width, width, rows.begin() + i * width);
    }
    DeviceBuffer<T> qkv(stream_, rows);
    const DeviceBuffer<std::int32_t> slot(stream_, slots), position(stream_, positions);
    auto attended = poisoned<T>(stream_, order.size() * heads_width);
    KeySplits splits{split_length, longest, nullptr};
    auto partials = poisoned<float>(stream_, key_split_partials(input_.shape, static_cast<int>(order.size()), splits));
    splits.partials = partials.data();
    const KvCache<T> cache{
        keys_.data(),        values_.data(),       slots_, input_.shape.kv_heads, context_, input_.shape.head_dim,
        prefix_slot_.data(), prefix_length_.data()};
    cached_attention(stream_, input_.shape, cache, {static_cast<int>(order.size()), slot.data(), position.data(), use},
                     {bias_.data(), {cosines_.data(), sines_.data()}}, qkv.data(), attended.data(), splits);
    return on_host(stream_, attended);
  }

  // Returns the case with bias and rotation, the input of attention_forward.
  const AttentionCase<T>& rotated() const { return rotated_; }

  std::vector<int> slot_of_token, position_of_token;

 private:
  void rotate() {
    DeviceBuffer<T> qkv(stream_, input_.qkv);
    const DeviceBuffer<std::int32_t> positions(
        stream_, std::vector<std::int32_t>(position_of_token.begin(), position_of_token.end()));
    const AttentionShape& shape = input_.shape;
    bias_rope(stream_, static_cast<int>(input_.tokens()), {shape.heads, shape.kv_heads, shape.head_dim}, qkv.data(),
              bias_.data(), positions.data(), {cosines_.data(), sines_.data()});
    rotated_.qkv = on_host(stream_, qkv);
  }

  void store(int token, int slot, int position, std::vector<T>& keys, std::vector<T>& values) {
    const AttentionShape& shape = input_.shape;
    for (int head = 0; head < shape.kv_heads; ++head) {
      const std::size_t to =
          ((static_cast<std::size_t>(slot) * shape.kv_heads + head) * context_ + position) * shape.head_dim;
      const auto from = rotated_.qkv.begin() + static_cast<std::ptrdiff_t>(token) * shape.qkv_width() +
                        (shape.heads + head) * shape.head_dim;
      std::copy_n(from, shape.head_dim, keys.begin() + to);
      std::copy_n(from + shape.kv_heads * shape.head_dim, shape.head_dim, values.begin() + to);
    }
  }

  Stream& stream_;
  const AttentionCase<T>& input_;
  AttentionCase<T> rotated_;
  int slots_, context_ = 0;
  DeviceBuffer<float> bias_, cosines_, sines_;
  DeviceBuffer<T> keys_, values_;
  DeviceBuffer<std::int32_t> prefix_slot_, prefix_length_;
};

template <class T>
bool same_number(T a, T b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

// Returns whether row i is bit-identical to token order[i] in `forward`.
template <class T>
bool equals(const AttentionCase<T>& input, const std::vector<T>& rows, const std::vector<int>& order,
            const std::vector<T>& forward) {
  const std::ptrdiff_t width = static_cast<std::ptrdiff_t>(input.shape.heads) * input.shape.head_dim;
  for (std::size_t i = 0; i < order.size(); ++i)
    if (!std::equal(rows.begin() + i * width, rows.begin() + (i + 1) * width, forward.begin() + order[i] * width,
                    same_number<T>))
      return false;
  return true;
}

std::vector<int> index_range(int first, int end) {
  std::vector<int> numbers(static_cast<std::size_t>(end - first));
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

// Returns every `step`th row in a mixed order, and the last row.
std::vector<int> scattered(int count, int step) {
  std::vector<int> order;
  for (int i = 0; i < count; i += step) order.push_back(i);
  const int size = static_cast<int>(order.size());
  for (int i = 0; i < size; ++i) std::swap(order[i], order[(i * 37 + 11) % size]);
  order.push_back(count - 1);
  return order;
}

// The guarantee of exact mode: for any part of the tokens per call, decoding or prefilling, a row is bit-identical to
// the update's forward pass.
template <class T>
double cached_difference(Stream& stream, const AttentionCase<T>& input, int prefix) {
  CachedCase<T> cached(stream, input, prefix);
  const std::vector<T> forward = ForwardResult<T>(stream, cached.rotated()).attended;
  const int tokens = static_cast<int>(input.tokens()), part = tokens / 3 + 5;
  bool equal = true;
  const auto compare = [&](const std::vector<int>& order, CachedUse use) {
    equal = equal && equals(input, cached.attend(order, use), order, forward);
  };
  compare(index_range(0, part), CachedUse::prefill);
  compare(index_range(part, tokens), CachedUse::prefill);
  compare(scattered(tokens, 3), CachedUse::prefill);
  compare(scattered(tokens, 13), CachedUse::decode);
  return equal ? 0 : 1;
}

// A new token's key and value are stored before it attends to them.
template <class T>
double new_token_difference(Stream& stream, const AttentionCase<T>& input, int prefix) {
  std::vector<int> last;
  for (std::size_t i = 1; i < input.starts.size(); ++i) last.push_back(input.starts[i] - 1);
  bool equal = true;
  for (const CachedUse use : {CachedUse::prefill, CachedUse::decode}) {
    CachedCase<T> cached(stream, input, prefix, false);
    const std::vector<T> forward = ForwardResult<T>(stream, cached.rotated()).attended;
    for (int step = 0; step < 2; ++step) equal = equal && equals(input, cached.attend(last, use), last, forward);
  }
  for (const int length : {0, kKeyBlock}) {
    const auto fast = [&](bool stored_last) {
      return CachedCase<T>(stream, input, prefix, stored_last)
          .attend(last, CachedUse::fast_decode, length, 4 * kKeyBlock);
    };
    equal = equal && same_bits(fast(false), fast(true));
  }
  return equal ? 0 : 1;
}

// length: of a part of the keys, or 0 for no split.
template <class T>
double fast_error(Stream& stream, const AttentionCase<T>& input, int prefix, int length) {
  CachedCase<T> cached(stream, input, prefix);
  const AttentionReference reference = attention_reference(input.shape, input.starts, doubles(cached.rotated().qkv));
  const std::vector<int> order = scattered(static_cast<int>(input.tokens()), 11);
  const std::ptrdiff_t width = static_cast<std::ptrdiff_t>(input.shape.heads) * input.shape.head_dim;
  std::vector<double> expected;
  for (const int token : order)
    expected.insert(expected.end(), reference.attended.begin() + token * width,
                    reference.attended.begin() + (token + 1) * width);
  // 5 * length is more than any row has, so the last parts are empty.
  return normalized_mean_square_error(doubles(cached.attend(order, CachedUse::fast_decode, length, 5 * length)),
                                      expected);
}

template <class T>
bool same_row(const AttentionCase<T>& input, const std::vector<T>& a, std::size_t of_a, const std::vector<T>& b,
              std::size_t of_b) {
  const std::size_t width = static_cast<std::size_t>(input.shape.heads) * input.shape.head_dim;
  return std::equal(a.begin() + of_a * width, a.begin() + (of_a + 1) * width, b.begin() + of_b * width, same_number<T>);
}

// Also with divided keys, a row's bits don't depend on the other rows.
template <class T>
double fast_difference(Stream& stream, const AttentionCase<T>& input, int prefix) {
  CachedCase<T> cached(stream, input, prefix);
  const std::vector<int> order = scattered(static_cast<int>(input.tokens()), 7);
  const std::vector<int> reversed(order.rbegin(), order.rend());
  const std::vector<T> rows = cached.attend(order, CachedUse::fast_decode),
                       of_reversed = cached.attend(reversed, CachedUse::fast_decode);
  bool equal = true;
  for (std::size_t i = 0; i < order.size(); ++i)
    equal = equal && same_row(input, rows, i, of_reversed, order.size() - 1 - i);
  return equal ? 0 : 1;
}

// With split keys, a row's bits depend neither on the other rows nor on the number of parts. A row within one part is
// bit-identical to the computation without a split.
template <class T>
double split_difference(Stream& stream, const AttentionCase<T>& input, int prefix, int length) {
  CachedCase<T> cached(stream, input, prefix);
  const std::vector<int> order = scattered(static_cast<int>(input.tokens()), 17);
  const std::vector<int> reversed(order.rbegin(), order.rend());
  bool equal = true;
  for (const CachedUse use : {CachedUse::decode, CachedUse::fast_decode}) {
    const std::vector<T> whole = cached.attend(order, use), split = cached.attend(order, use, length, 4 * length);
    const std::vector<T> of_reversed = cached.attend(reversed, use, length, 3 * length);
    for (std::size_t i = 0; i < order.size(); ++i) {
      equal = equal && same_row(input, split, i, of_reversed, order.size() - 1 - i);
      if (cached.position_of_token[order[i]] < length) equal = equal && same_row(input, split, i, whole, i);
    }
  }
  return equal ? 0 : 1;
}

// A row whose seven keys have equal weights and whose weighted mean is halfway between two bf16 numbers: dividing the
// sum by 7 and multiplying it by 1/7 round differently. One part of split keys must round as without a split.
template <class T>
double tie_difference(Stream& stream) {
  AttentionCase<T> input(1, 1, 16, {0, 7});
  for (std::size_t i = 0; i < input.qkv.size(); ++i) {
    const std::size_t token = i / input.shape.qkv_width(), column = i % input.shape.qkv_width();
    const float value = token == 0 ? 255.0f / 256 : 360.0f / 256;
    input.qkv[i] = from_float<T>(column < 32 ? 0.0f : value);
  }
  CachedCase<T> cached(stream, input, 0, true, 0);
  const std::vector<int> order{6};
  return same_bits(cached.attend(order, CachedUse::decode, kKeyBlock, kKeyBlock),
                   cached.attend(order, CachedUse::decode))
             ? 0
             : 1;
}

// Rows of ended slots become zeros, for any content of the cache and any order of rows.
template <class T>
double idle_difference(Stream& stream, const AttentionCase<T>& input) {
  CachedCase<T> cached(stream, input, 0);
  const std::vector<T> forward = ForwardResult<T>(stream, cached.rotated()).attended;
  const std::vector<int> order = {-1, 3, 4, -1, -1, 5, -1};
  const std::ptrdiff_t width = static_cast<std::ptrdiff_t>(input.shape.heads) * input.shape.head_dim;
  bool equal = true;
  for (const auto& [use, length] :
       {std::pair(CachedUse::prefill, 0), std::pair(CachedUse::decode, 0), std::pair(CachedUse::decode, kKeyBlock),
        std::pair(CachedUse::fast_decode, 0), std::pair(CachedUse::fast_decode, kKeyBlock)}) {
    const std::vector<T> rows = cached.attend(order, use, length, kKeyBlock);
    for (std::size_t i = 0; i < order.size(); ++i)
      for (std::ptrdiff_t column = 0; column < width; ++column)
        equal = equal && same_number(rows[i * width + column],
                                     order[i] < 0 ? from_float<T>(0.0f) : forward[order[i] * width + column]);
  }
  return equal ? 0 : 1;
}

template <class T>
void add_cached_checks(std::vector<Check>& checks) {
  struct Sequences {
    AttentionCase<T> input;
    int prefix;
  };
  const std::vector<Sequences> cases = {
      {{7, 1, 16, {0, 70, 145}, 37}, 37}, {{2, 2, 16, {0, 1, 66, 130}}, 0},    {{4, 2, 32, {0, 66, 137}, 64}, 64},
      {{7, 1, 64, {0, 67, 88}, 20}, 20},  {{2, 1, 64, {0, 129, 195}, 65}, 65}, {{12, 1, 64, {0, 20, 30}, 7}, 7},
      {{3, 1, 128, {0, 67, 80}, 12}, 12},
  };
  const double tolerance = std::is_same_v<T, Bf16> ? kBf16Tolerance : kFp32Tolerance;
  for (const auto& [input, prefix] : cases) {
    const std::string name = input.name() + ", prefix of " + std::to_string(prefix);
    checks.push_back(
        {"cached_attention equals attention_forward, " + name, kExact, cached_difference<T>, input, prefix});
    checks.push_back({"cached_attention of new tokens, " + name, kExact, new_token_difference<T>, input, prefix});
    if (!std::is_same_v<T, Bf16> || key_warps(input.shape.head_dim) == 1) continue;  // the same kernel
    checks.push_back({"fast cached_attention, " + name, tolerance, fast_error<T>, input, prefix, 0});
    checks.push_back({"fast cached_attention, row by row, " + name, kExact, fast_difference<T>, input, prefix});
  }
  const AttentionCase<T> split(7, 1, 64, {0, 150, 225}, 70);
  for (const int length : {kKeyBlock, 2 * kKeyBlock})
    checks.push_back({"cached_attention in parts of " + std::to_string(length) + " " + split.name(), tolerance,
                      fast_error<T>, split, 70, length});
  checks.push_back(
      {"cached_attention in parts, row by row, " + split.name(), kExact, split_difference<T>, split, 70, kKeyBlock});
  checks.push_back({"cached_attention in one part rounds as without a split," + type_name<T>() + "7 keys", kExact,
                    tie_difference<T>});
  const AttentionCase<T> idle(4, 2, 64, {0, 9});
  checks.push_back({"cached_attention with idle slots " + idle.name(), kExact, idle_difference<T>, idle});
}

}  // namespace

std::vector<Check> cached_attention_checks() {
  std::vector<Check> checks;
  add_cached_checks<float>(checks);
  add_cached_checks<Bf16>(checks);
  return checks;
}

}  // namespace starpo::cuda
