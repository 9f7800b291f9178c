#include "engine/cpu/self_test.h"

#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/philox.h"
#include "engine/cpu/kernels/bf16_kernels.h"
#include "engine/cpu/kernels/isa.h"
#include "engine/cpu/kernels/kernels.h"

namespace starpo {
namespace {

constexpr int kRows = 19, kDepth = 77, kColumns = 45;

std::vector<float> random_numbers(std::size_t count, std::uint32_t purpose) {
  const Philox random{1, RandomStream::initial_weights};
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = 2 * uniform_open(random(purpose, 0, 0, static_cast<std::uint32_t>(i))[0]) - 1;
  return values;
}

// Packs b [depth, columns] in panels of 32 columns, with `group` depths per row of a panel.
template <class T, class Convert>
std::vector<T> pack(const std::vector<float>& b, int padded, int group, Convert convert) {
  std::vector<T> packed(panels(kColumns) * kPanel * static_cast<std::size_t>(padded), T{});
  for (int k = 0; k < kDepth; ++k)
    for (int column = 0; column < kColumns; ++column) {
      const int index =
          ((column / kPanel * (padded / group) + k / group) * kPanel + column % kPanel) * group + k % group;
      packed[static_cast<std::size_t>(index)] = convert(b[static_cast<std::size_t>(k * kColumns + column)]);
    }
  return packed;
}

std::vector<double> product(const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<double> c;
  for (int row = 0; row < kRows; ++row)
    for (int column = 0; column < kColumns; ++column) {
      double sum = 0;
      for (int k = 0; k < kDepth; ++k)
        sum += static_cast<double>(a[static_cast<std::size_t>(row * kDepth + k)]) *
               static_cast<double>(b[static_cast<std::size_t>(k * kColumns + column)]);
      c.push_back(sum);
    }
  return c;
}

struct Outputs {
  std::vector<float> product, normed, hidden, logprobs;
  bool operator==(const Outputs&) const = default;
};

Outputs outputs(const Kernels& kernels, const std::vector<float>& a, const std::vector<float>& packed_b) {
  Outputs out;
  out.product.assign(kRows * kColumns, NAN);
  kernels.multiply(kRows, kColumns, kDepth, a.data(), kDepth, packed_b.data(), nullptr, 0, out.product.data(),
                   kColumns);
  out.normed.assign(a.size(), NAN);
  const auto weight = random_numbers(kDepth, 3);
  kernels.norm(kRows, kDepth, a.data(), weight.data(), 1e-6f, out.normed.data(), nullptr);
  constexpr int half = kDepth / 2;
  out.hidden.assign(kRows * half, NAN);
  kernels.swiglu(kRows, half, a.data(), out.hidden.data());
  std::vector<std::int32_t> targets(kRows);
  std::iota(targets.begin(), targets.end(), 0);
  out.logprobs.assign(2 * kRows, NAN);
  kernels.logprob_entropy(kRows, kDepth, a.data(), 1.0f, targets.data(), out.logprobs.data(),
                          out.logprobs.data() + kRows, nullptr, nullptr);
  return out;
}

}  // namespace

void cpu_self_test(const std::string& filter, const OnCheckResult& on_result) {
  const auto report = [&](const std::string& name, double error, double tolerance) {
    if (name.find(filter) != std::string::npos) on_result({name, error, tolerance, error <= tolerance, ""});
  };
  const auto a = random_numbers(kRows * kDepth, 1), b = random_numbers(kDepth * kColumns, 2);
  const auto packed = pack<float>(b, kDepth, 1, [](float x) { return x; });
  const auto expected = product(a, b);
  const Outputs reference = outputs(scalar::kernels(), a, packed);
  for (const Isa isa : {Isa::scalar, Isa::avx2, Isa::avx512}) {
    if (!isa_supported(isa)) continue;
    const std::string name = std::string("cpu ") + isa_name(isa);
    const Outputs computed = outputs(isa == Isa::scalar ? scalar::kernels()
                                     : isa == Isa::avx2 ? avx2::kernels()
                                                        : avx512::kernels(),
                                     a, packed);
    report(name + " product", normalized_mean_square_error(computed.product, expected), 1e-7);
    report(name + " is bit-identical to scalar", computed == reference ? 0 : 1, 0);
  }
  if (const Bf16Kernels* const kernels = bf16_kernels()) {
    std::vector<Bf16> rounded(bf16_rows_size(kRows, kDepth));
    std::vector<float> c(kRows * kColumns, NAN);
    const auto pairs = pack<Bf16>(b, padded_depth(kDepth), 2, to_bf16);
    kernels->round_rows(kRows, kDepth, a.data(), kDepth, rounded.data());
    kernels->multiply(kRows, kColumns, kDepth, rounded.data(), pairs.data(), nullptr, 0, c.data(), kColumns);
    report(std::string("cpu ") + bf16_kernels_name() + " product", normalized_mean_square_error(c, expected), 5e-4);
  }
}

}  // namespace starpo
