#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/model.h"
#include "model_fixtures.h"
#include "model_reference.h"

// Compares outputs and gradients of each kind of layer, on every instruction set, with a formula in double and its
// finite differences.
namespace starpo {

namespace {

using Vector = std::vector<double>;

Vector exact(const std::vector<float>& values) { return {values.begin(), values.end()}; }

void check_close(const std::vector<float>& result, const Vector& expected, double tolerance = 2e-6) {
  REQUIRE(result.size() == expected.size());
  double largest = 0, worst = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    worst = std::max(worst, std::isfinite(result[i]) ? std::abs(result[i] - expected[i]) : INFINITY);
  }
  CHECK(largest > 0);
  CHECK(worst <= tolerance * std::max(1.0, largest));
}

// Derivatives at up to 40 elements, of which each is `step` after the last.
struct Slopes {
  std::size_t step;
  Vector values;
};

// Returns d(sum of weight * f(x)) / dx.
template <class F>
Slopes slopes_of(Vector x, const std::vector<float>& weight, F f) {
  const auto loss = [&] {
    const Vector y = f(x);
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) sum += weight[i] * y[i];
    return sum;
  };
  Slopes slopes{std::max<std::size_t>(1, x.size() / 40), {}};
  for (std::size_t i = 0; i < x.size(); i += slopes.step)
    slopes.values.push_back(reference::derivative(x[i], 1e-3, loss));
  return slopes;
}

void check_slopes(const std::vector<float>& gradient, const Slopes& slopes) {
  std::vector<float> sampled;
  for (std::size_t i = 0; i < gradient.size(); i += slopes.step) sampled.push_back(gradient[i]);
  check_close(sampled, slopes.values, 1e-5);
}

// Checks that gradient is d(sum of weight * f(x)) / dx, at up to 40 elements.
template <class F>
void check_gradient(const std::vector<float>& gradient, Vector x, const std::vector<float>& weight, F f) {
  check_slopes(gradient, slopes_of(std::move(x), weight, f));
}

template <class F>
void on_each_isa(F body) {
  for (const Isa isa : supported_isas()) {
    const WithIsa selected(isa);
    CAPTURE(isa_name(isa));
    body(kernels());
  }
}

std::vector<float> packed_transpose(int rows, int columns, const std::vector<float>& matrix) {
  std::vector<float> packed(packed_size(columns, rows));
  pack_transposed(rows, columns, matrix.data(), columns, packed.data());
  return packed;
}

}  // namespace

TEST_CASE("products match double precision, and no element depends on others") {
  struct Size {
    int rows, columns, depth;
  };
  on_each_isa([](const Kernels& k) {
    for (const auto [rows, columns, depth] : {Size{1, 5, 3}, Size{25, 37, 19}, Size{13, 96, 530}, Size{7, 33, 128}}) {
      const auto a = random_values(1, rows * depth), w = random_values(2, columns * depth),
                 bias = random_values(3, columns);
      const auto packed = packed_transpose(columns, depth, w);
      std::vector<float> y(rows * columns);
      k.multiply(rows, columns, depth, a.data(), depth, packed.data(), bias.data(), 0, y.data(), columns);
      Vector expected(y.size());
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) {
          double sum = bias[j];
          for (int d = 0; d < depth; ++d) sum += static_cast<double>(a[i * depth + d]) * w[j * depth + d];
          expected[i * columns + j] = sum;
        }
      check_close(y, expected, 1e-5);

      // Compares single rows, and an element computed as a chain of fused multiply-adds.
      std::vector<float> alone(y.size());
      for (int i = 0; i < rows; ++i)
        k.multiply(1, columns, depth, a.data() + i * depth, depth, packed.data(), bias.data(), 0,
                   alone.data() + i * columns, columns);
      CHECK(same_bits(alone, y));
      float chain = bias[columns - 1];
      for (int d = 0; d < depth; ++d) chain = std::fmaf(a[(rows - 1) * depth + d], w[(columns - 1) * depth + d], chain);
      CHECK(y.back() == chain);

      // The weight gradient of all tokens at once, and in two consecutive parts.
      const auto dy = random_values(4, rows * columns);
      std::vector<float> gradient = random_values(5, columns * depth), parts = gradient;
      Vector sums = exact(gradient);
      for (int t = 0; t < rows; ++t)
        for (int i = 0; i < columns; ++i)
          for (int d = 0; d < depth; ++d)
            sums[i * depth + d] += static_cast<double>(dy[t * columns + i]) * a[t * depth + d];
      k.accumulate_transposed(columns, depth, rows, dy.data(), columns, a.data(), depth, gradient.data(), depth);
      check_close(gradient, sums, 1e-5);
      const int first = rows / 2;
      k.accumulate_transposed(columns, depth, first, dy.data(), columns, a.data(), depth, parts.data(), depth);
      k.accumulate_transposed(columns, depth, rows - first, dy.data() + first * columns, columns,
                              a.data() + first * depth, depth, parts.data(), depth);
      CHECK(same_bits(parts, gradient));
    }
  });
}

TEST_CASE("RMSNorm and its gradients match double precision") {
  constexpr int rows = 3, columns = 83;
  constexpr float epsilon = 0.01f;
  const auto x = random_values(1, rows * columns), w = random_values(2, columns), dy = random_values(3, rows * columns),
             residual = random_values(4, rows * columns);
  const auto formula = [](const Vector& in, const Vector& weight) {
    Vector y(in.size());
    for (int r = 0; r < rows; ++r) {
      double squares = 0;
      for (int i = 0; i < columns; ++i) squares += in[r * columns + i] * in[r * columns + i];
      for (int i = 0; i < columns; ++i)
        y[r * columns + i] = in[r * columns + i] / std::sqrt(squares / columns + epsilon) * weight[i];
    }
    return y;
  };
  on_each_isa([&](const Kernels& k) {
    std::vector<float> y(x.size()), reciprocal(rows), dx(x.size()), again(x.size()), dw(columns);
    k.norm(rows, columns, x.data(), w.data(), epsilon, y.data(), reciprocal.data());
    check_close(y, formula(exact(x), exact(w)));
    k.norm_backward(rows, columns, x.data(), w.data(), reciprocal.data(), dy.data(), residual.data(), dx.data(),
                    again.data());
    CHECK(same_bits(again, y));
    for (std::size_t i = 0; i < dx.size(); ++i) dx[i] -= residual[i];
    check_gradient(dx, exact(x), dy, [&](const Vector& in) { return formula(in, exact(w)); });
    k.norm_weight_gradient(rows, columns, columns, x.data(), reciprocal.data(), dy.data(), dw.data());
    check_gradient(dw, exact(w), dy, [&](const Vector& weight) { return formula(exact(x), weight); });
  });
}

TEST_CASE("rotary embedding and its gradient match double precision") {
  constexpr int rows = 3, heads = 2, dim = 22, half = dim / 2, stride = heads * dim + 5;
  const std::int32_t positions[rows] = {4, 0, 7};
  const auto x = random_values(1, rows * stride), dy = random_values(2, rows * stride);
  std::vector<float> cosines(8 * half), sines(8 * half);
  for (int i = 0; i < 8 * half; ++i) {
    cosines[i] = std::cos(0.1f * i);
    sines[i] = std::sin(0.1f * i);
  }
  const auto formula = [&](const Vector& in) {
    Vector y = in;
    for (int r = 0; r < rows; ++r)
      for (int h = 0; h < heads; ++h)
        for (int i = 0; i < half; ++i) {
          const int a = r * stride + h * dim + i, b = a + half, angle = positions[r] * half + i;
          y[a] = in[a] * cosines[angle] - in[b] * sines[angle];
          y[b] = in[b] * cosines[angle] + in[a] * sines[angle];
        }
    return y;
  };
  on_each_isa([&](const Kernels& k) {
    std::vector<float> y = x, dx = dy;
    k.rotate(rows, y.data(), stride, heads, dim, positions, cosines.data(), sines.data(), 1);
    check_close(y, formula(exact(x)));
    k.rotate(rows, dx.data(), stride, heads, dim, positions, cosines.data(), sines.data(), -1);
    check_gradient(dx, exact(x), dy, formula);
  });
}

TEST_CASE("SwiGLU and its gradients match double precision") {
  constexpr int rows = 2, columns = 37;
  auto x = random_values(1, rows * 2 * columns);
  for (float& value : x) value *= 4;
  const auto dh = random_values(2, rows * columns);
  const auto formula = [](const Vector& in) {
    Vector hidden(rows * columns);
    for (int r = 0; r < rows; ++r)
      for (int i = 0; i < columns; ++i) {
        const double gate = in[r * 2 * columns + i];
        hidden[r * columns + i] = gate / (1 + std::exp(-gate)) * in[r * 2 * columns + columns + i];
      }
    return hidden;
  };
  on_each_isa([&](const Kernels& k) {
    std::vector<float> hidden(rows * columns), again(rows * columns), dx(x.size());
    k.swiglu(rows, columns, x.data(), hidden.data());
    check_close(hidden, formula(exact(x)));
    k.swiglu_backward(rows, columns, x.data(), dh.data(), dx.data(), again.data());
    CHECK(same_bits(again, hidden));
    check_gradient(dx, exact(x), dh, formula);
  });
}

TEST_CASE("causal attention over several blocks and its gradients match double precision") {
  constexpr int length = 211, dim = 20, stride = 3 * dim;  // rows [query | key | value]
  const float scale = 0.9f;
  const auto x = random_values(1, length * stride), dy = random_values(2, length * dim);
  const auto formula = [&](const Vector& in) {
    Vector y(length * dim);
    for (int t = 0; t < length; ++t) {
      Vector weight(t + 1);
      double sum = 0;
      for (int s = 0; s <= t; ++s) {
        double score = 0;
        for (int d = 0; d < dim; ++d) score += in[t * stride + d] * in[s * stride + dim + d];
        sum += weight[s] = std::exp(score * scale);
      }
      for (int s = 0; s <= t; ++s)
        for (int d = 0; d < dim; ++d) y[t * dim + d] += weight[s] / sum * in[s * stride + 2 * dim + d];
    }
    return y;
  };
  const Vector expected = formula(exact(x));
  const Slopes slopes = slopes_of(exact(x), dy, formula);
  on_each_isa([&](const Kernels& k) {
    std::vector<float> keys(packed_size(dim, length)), values(keys.size()), y(length * dim), maximum(length),
        reciprocal(length), dx(x.size());
    pack_transposed(length, dim, x.data() + dim, stride, keys.data());
    pack_transposed(length, dim, x.data() + 2 * dim, stride, values.data());
    std::vector<float> scores(attention_scratch(length)), scratch(attention_backward_scratch(length));
    k.attention({length, x.data(), stride, 1, 1, keys.data(), x.data() + 2 * dim, stride, dim, scale, y.data(), dim,
                 scores.data(), maximum.data(), reciprocal.data()});
    check_close(y, expected);
    k.attention_backward({length, dim, scale, stride, x.data(), x.data() + dim, x.data() + 2 * dim, keys.data(),
                          values.data(), dim, y.data(), dy.data(), maximum.data(), reciprocal.data(), dx.data(),
                          dx.data() + dim, dx.data() + 2 * dim, scratch.data()});
    check_slopes(dx, slopes);
  });
}

TEST_CASE("log-probability, entropy and their gradients at a temperature match double precision") {
  constexpr int rows = 3, vocab = 53;
  constexpr float temperature = 1.7f;
  const std::int32_t targets[rows] = {0, 52, 20};
  auto logits = random_values(1, rows * vocab);
  for (float& value : logits) value *= 6;
  const auto weight = random_values(2, 2 * rows);  // for log-probabilities, then entropies
  const auto formula = [&](const Vector& in) {
    Vector y(2 * rows);
    for (int r = 0; r < rows; ++r) {
      double sum = 0, weighted = 0;
      for (int i = 0; i < vocab; ++i) {
        const double z = in[r * vocab + i] / temperature;
        sum += std::exp(z);
        weighted += z * std::exp(z);
      }
      y[r] = in[r * vocab + targets[r]] / temperature - std::log(sum);
      y[rows + r] = std::log(sum) - weighted / sum;
    }
    return y;
  };
  on_each_isa([&](const Kernels& k) {
    std::vector<float> y(2 * rows), maxima(rows), sums(rows), gradient = logits;
    k.logprob_entropy(rows, vocab, logits.data(), 1 / temperature, targets, y.data(), y.data() + rows, maxima.data(),
                      sums.data());
    check_close(y, formula(exact(logits)));
    k.logit_gradient(rows, vocab, gradient.data(), 1 / temperature, targets, y.data() + rows, maxima.data(),
                     sums.data(), weight.data(), weight.data() + rows);
    check_gradient(gradient, exact(logits), weight, formula);
  });
}

TEST_CASE("a distribution with all its mass on one token has entropy 0, and a NaN logit gives NaN") {
  on_each_isa([](const Kernels& k) {
    const std::vector<float> logits = {500, -500, -400, NAN, 0, 1};
    const std::int32_t targets[] = {0, 1};
    float logprobs[2], entropies[2];
    k.logprob_entropy(2, 3, logits.data(), 1, targets, logprobs, entropies, nullptr, nullptr);
    CHECK(logprobs[0] == 0);
    CHECK(entropies[0] == doctest::Approx(0));
    CHECK(std::isnan(logprobs[1]));
    CHECK(std::isnan(entropies[1]));
  });
}

}  // namespace starpo
