#include <algorithm>
#include <cstring>
#include <numeric>

#include "engine/cuda/selftest/attention_case.h"
#include "engine/cuda/selftest/attention_reference.h"

namespace starpo::cuda {

namespace {

// A case's sequences in a cache, one per slot, with the slots in another order. The slots share their first `prefix`
// tokens, which a separate slot contains, or contain all their tokens. Unwritten entries are NaN.
template <class T>
class CachedCase {
 public:
  CachedCase(Stream& stream, const AttentionCase<T>& of, int prefix) : stream_(stream), of_(of) {
    const int sequences = static_cast<int>(of.starts.size()) - 1, lender = 0;
    slots_ = sequences + 1;
    for (int i = 0; i < sequences; ++i) context_ = std::max(context_, of.starts[i + 1] - of.starts[i] + 3);
    const std::size_t size = static_cast<std::size_t>(slots_) * of.shape.kv_heads * context_ * of.shape.head_dim;
    std::vector<T> keys(size, from_float<T>(NAN)), values = keys;
    std::vector<std::int32_t> prefix_slot(slots_, lender), prefix_length(slots_, prefix);
    prefix_length[lender] = 0;
    for (int i = 0; i < sequences; ++i) {
      const int slot = sequences - i;
      for (int position = 0; position < of.starts[i + 1] - of.starts[i]; ++position)
        store(of.starts[i] + position, position < prefix ? lender : slot, position, keys, values);
      for (int position = 0; position < of.starts[i + 1] - of.starts[i]; ++position) {
        slot_of_token.push_back(slot);
        position_of_token.push_back(position);
      }
    }
    keys_ = DeviceBuffer<T>(stream, keys);
    values_ = DeviceBuffer<T>(stream, values);
    prefix_slot_ = DeviceBuffer<std::int32_t>(stream, prefix_slot);
    prefix_length_ = DeviceBuffer<std::int32_t>(stream, prefix_length);
  }

  // The attended rows of the tokens named by `order`, -1 for a row without a slot.
  std::vector<T> attend(const std::vector<int>& order, bool decoding, int split_length = 0, int longest = 0) {
    const std::size_t width = static_cast<std::size_t>(of_.shape.qkv_width()),
                      heads_width = static_cast<std::size_t>(of_.shape.heads) * of_.shape.head_dim;
    std::vector<T> rows(order.size() * width, from_float<T>(NAN));
    std::vector<std::int32_t> slots, positions;
    for (std::size_t i = 0; i < order.size(); ++i) {
      slots.push_back(order[i] < 0 ? -1 : slot_of_token[order[i]]);
      positions.push_back(order[i] < 0 ? 0 : position_of_token[order[i]]);
      // The queries alone: a row's own key and value are read from the cache.
      if (order[i] >= 0) std::copy_n(of_.qkv.begin() + order[i] * width, heads_width, rows.begin() + i * width);
    }
    const DeviceBuffer<T> qkv(stream_, rows);
    const DeviceBuffer<std::int32_t> slot(stream_, slots), position(stream_, positions);
    DeviceBuffer<T> attended(order.size() * heads_width);
    attended.fill_poison(stream_);
    KeySplits splits{split_length, longest, nullptr};
    DeviceBuffer<float> partials(key_split_partials(of_.shape, static_cast<int>(order.size()), splits));
    partials.fill_poison(stream_);
    splits.partials = partials.data();
    const KvCache<T> cache{
        keys_.data(),        values_.data(),       slots_, of_.shape.kv_heads, context_, of_.shape.head_dim,
        prefix_slot_.data(), prefix_length_.data()};
    cached_attention(stream_, of_.shape, cache,
                     {static_cast<int>(order.size()), slot.data(), position.data(), decoding}, qkv.data(),
                     attended.data(), splits);
    return on_host(stream_, attended);
  }

  std::vector<int> slot_of_token, position_of_token;

 private:
  void store(int token, int slot, int position, std::vector<T>& keys, std::vector<T>& values) {
    const AttentionShape& shape = of_.shape;
    for (int head = 0; head < shape.kv_heads; ++head) {
      const std::size_t to =
          ((static_cast<std::size_t>(slot) * shape.kv_heads + head) * context_ + position) * shape.head_dim;
      const auto from = of_.qkv.begin() + static_cast<std::ptrdiff_t>(token) * shape.qkv_width() +
                        (shape.heads + head) * shape.head_dim;
      std::copy_n(from, shape.head_dim, keys.begin() + to);
      std::copy_n(from + shape.kv_heads * shape.head_dim, shape.head_dim, values.begin() + to);
    }
  }

  Stream& stream_;
  const AttentionCase<T>& of_;
  int slots_, context_ = 0;
  DeviceBuffer<T> keys_, values_;
  DeviceBuffer<std::int32_t> prefix_slot_, prefix_length_;
};

template <class T>
bool same_number(T a, T b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

// Whether row i has the bits of token order[i] in `forward`.
template <class T>
bool equals(const AttentionCase<T>& of, const std::vector<T>& rows, const std::vector<int>& order,
            const std::vector<T>& forward) {
  const std::ptrdiff_t width = static_cast<std::ptrdiff_t>(of.shape.heads) * of.shape.head_dim;
  for (std::size_t i = 0; i < order.size(); ++i)
    if (!std::equal(rows.begin() + i * width, rows.begin() + (i + 1) * width, forward.begin() + order[i] * width,
                    same_number<T>))
      return false;
  return true;
}

std::vector<int> counted(int first, int end) {
  std::vector<int> numbers(static_cast<std::size_t>(end - first));
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

// Every `step`th row, sequences and positions mixed, and the last one.
std::vector<int> scattered(int count, int step) {
  std::vector<int> order;
  for (int i = 0; i < count; i += step) order.push_back(i);
  const int size = static_cast<int>(order.size());
  for (int i = 0; i < size; ++i) std::swap(order[i], order[(i * 37 + 11) % size]);
  order.push_back(count - 1);
  return order;
}

// The guarantee of exact mode: for any part of the tokens per call, decoding or prefilling, a row has the bits of the
// update's forward pass.
template <class T>
double cached_difference(Stream& stream, const AttentionCase<T>& of, int prefix) {
  const std::vector<T> forward = ForwardResult<T>(stream, of).attended;
  CachedCase<T> cached(stream, of, prefix);
  const int tokens = static_cast<int>(of.tokens()), part = tokens / 3 + 5;
  bool equal = true;
  const auto compare = [&](const std::vector<int>& order, bool decoding) {
    equal = equal && equals(of, cached.attend(order, decoding), order, forward);
  };
  compare(counted(0, part), false);
  compare(counted(part, tokens), false);
  compare(scattered(tokens, 3), false);
  compare(scattered(tokens, 13), true);
  return equal ? 0 : 1;
}

template <class T>
double split_error(Stream& stream, const AttentionCase<T>& of, int prefix, int length) {
  const AttentionReference reference = attention_reference(of.shape, of.starts, doubles(of.qkv));
  CachedCase<T> cached(stream, of, prefix);
  const std::vector<int> order = scattered(static_cast<int>(of.tokens()), 11);
  const std::ptrdiff_t width = static_cast<std::ptrdiff_t>(of.shape.heads) * of.shape.head_dim;
  std::vector<double> expected;
  for (const int token : order)
    expected.insert(expected.end(), reference.attended.begin() + token * width,
                    reference.attended.begin() + (token + 1) * width);
  // Far more pieces than any row reaches.
  return normalised_mean_square_error(doubles(cached.attend(order, true, length, 5 * length)), expected);
}

// With split keys, a row's bits depend neither on the other rows nor on the number of parts. A row within one part has
// the bits of the computation without a split.
template <class T>
double split_difference(Stream& stream, const AttentionCase<T>& of, int prefix, int length) {
  CachedCase<T> cached(stream, of, prefix);
  const std::vector<int> order = scattered(static_cast<int>(of.tokens()), 17);
  const std::vector<int> reversed(order.rbegin(), order.rend());
  const std::vector<T> whole = cached.attend(order, true), pieces = cached.attend(order, true, length, 4 * length);
  const std::vector<T> of_reversed = cached.attend(reversed, true, length, 3 * length);
  const std::size_t width = static_cast<std::size_t>(of.shape.heads) * of.shape.head_dim;
  const auto same_row = [&](const std::vector<T>& a, std::size_t of_a, const std::vector<T>& b, std::size_t of_b) {
    return std::equal(a.begin() + of_a * width, a.begin() + (of_a + 1) * width, b.begin() + of_b * width,
                      same_number<T>);
  };
  bool equal = true;
  for (std::size_t i = 0; i < order.size(); ++i) {
    equal = equal && same_row(pieces, i, of_reversed, order.size() - 1 - i);
    if (cached.position_of_token[order[i]] < length) equal = equal && same_row(pieces, i, whole, i);
  }
  return equal ? 0 : 1;
}

// Rows of ended slots become zeros, for any content of the cache and any order of rows.
template <class T>
double idle_difference(Stream& stream, const AttentionCase<T>& of) {
  const std::vector<T> forward = ForwardResult<T>(stream, of).attended;
  CachedCase<T> cached(stream, of, 0);
  const std::vector<int> order = {-1, 3, 4, -1, -1, 5, -1};
  const std::ptrdiff_t width = static_cast<std::ptrdiff_t>(of.shape.heads) * of.shape.head_dim;
  bool equal = true;
  for (const auto& [decoding, length] : {std::pair(false, 0), std::pair(true, 0), std::pair(true, kKeyBlock)}) {
    const std::vector<T> rows = cached.attend(order, decoding, length, kKeyBlock);
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
    AttentionCase<T> of;
    int prefix;
  };
  const std::vector<Sequences> cases = {
      {{7, 1, 16, {0, 70, 145}, 37}, 37}, {{2, 2, 16, {0, 1, 66, 130}}, 0},    {{4, 2, 32, {0, 66, 137}, 64}, 64},
      {{7, 1, 64, {0, 67, 88}, 20}, 20},  {{2, 1, 64, {0, 129, 195}, 65}, 65}, {{12, 1, 64, {0, 20, 30}, 7}, 7},
      {{3, 1, 128, {0, 67, 80}, 12}, 12},
  };
  for (const auto& [of, prefix] : cases)
    checks.push_back(
        {"cached_attention equals attention_forward, " + of.name() + ", prefix of " + std::to_string(prefix), kExact,
         [of = of, prefix = prefix](Stream& stream) { return cached_difference(stream, of, prefix); }});
  const AttentionCase<T> split(7, 1, 32, {0, 150, 225}, 70);
  checks.push_back({"cached_attention in pieces of 64 " + split.name(),
                    std::is_same_v<T, Bf16> ? kBf16Tolerance : kFp32Tolerance,
                    [split](Stream& stream) { return split_error(stream, split, 70, kKeyBlock); }});
  checks.push_back({"cached_attention in pieces, row by row, " + split.name(), kExact,
                    [split](Stream& stream) { return split_difference(stream, split, 70, kKeyBlock); }});
  const AttentionCase<T> idle(4, 2, 16, {0, 9});
  checks.push_back({"cached_attention of idle slots " + idle.name(), kExact,
                    [idle](Stream& stream) { return idle_difference(stream, idle); }});
}

}  // namespace

std::vector<Check> cached_attention_checks() {
  std::vector<Check> checks;
  add_cached_checks<float>(checks);
  add_cached_checks<Bf16>(checks);
  return checks;
}

}  // namespace starpo::cuda
