#include "engine/cuda/selftest/attention_reference.h"

#include <algorithm>
#include <cmath>

namespace starpo::cuda {
namespace {

// Offsets of a head of a token in qkv and attended.
struct Layout {
  const AttentionShape& shape;

  std::size_t query(int token, int head) const {
    return static_cast<std::size_t>(token) * shape.qkv_width() + static_cast<std::size_t>(head) * shape.head_dim;
  }
  std::size_t key(int token, int head) const { return query(token, shape.heads + head / shape.group()); }
  std::size_t value(int token, int head) const {
    return query(token, shape.heads + shape.kv_heads + head / shape.group());
  }
  std::size_t output(int token, int head) const {
    return (static_cast<std::size_t>(token) * shape.heads + head) * shape.head_dim;
  }
};

double dot(const double* a, const double* b, int size) {
  double sum = 0;
  for (int i = 0; i < size; ++i) sum += a[i] * b[i];
  return sum;
}

void add(double* to, const double* from, double factor, int size) {
  for (int i = 0; i < size; ++i) to[i] += factor * from[i];
}

// Computes the softmax weights of the tokens from `start` to `token`. Returns the log-sum-exp of their scores.
double softmax_weights(const Layout& at, std::span<const double> qkv, int start, int token, int head,
                       std::vector<double>& weights) {
  weights.resize(static_cast<std::size_t>(token - start + 1));
  for (int key = start; key <= token; ++key)
    weights[key - start] =
        at.shape.scale * dot(&qkv[at.query(token, head)], &qkv[at.key(key, head)], at.shape.head_dim);
  const double maximum = *std::max_element(weights.begin(), weights.end());
  double sum = 0;
  for (const double score : weights) sum += std::exp(score - maximum);
  const double log_sum_exp = maximum + std::log(sum);
  for (double& weight : weights) weight = std::exp(weight - log_sum_exp);
  return log_sum_exp;
}

template <class Visit>
void for_each_row(const AttentionShape& shape, std::span<const std::int32_t> starts, Visit visit) {
  for (std::size_t i = 0; i + 1 < starts.size(); ++i)
    for (int head = 0; head < shape.heads; ++head)
      for (int token = starts[i]; token < starts[i + 1]; ++token) visit(starts[i], head, token);
}

}  // namespace

AttentionReference attention_reference(const AttentionShape& shape, std::span<const std::int32_t> starts,
                                       std::span<const double> qkv) {
  const Layout at{shape};
  const std::size_t tokens = static_cast<std::size_t>(starts.back());
  AttentionReference result{std::vector<double>(tokens * shape.heads * shape.head_dim),
                            std::vector<double>(tokens * shape.heads)};
  std::vector<double> weights;
  for_each_row(shape, starts, [&](int start, int head, int token) {
    result.log_sum_exp[head * tokens + token] = softmax_weights(at, qkv, start, token, head, weights);
    for (int key = start; key <= token; ++key)
      add(&result.attended[at.output(token, head)], &qkv[at.value(key, head)], weights[key - start], shape.head_dim);
  });
  return result;
}

std::vector<double> attention_gradient_reference(const AttentionShape& shape, std::span<const std::int32_t> starts,
                                                 std::span<const double> qkv,
                                                 std::span<const double> attended_gradient) {
  const Layout at{shape};
  const int size = shape.head_dim;
  std::vector<double> gradient(qkv.size());
  std::vector<double> weights, weight_gradients;
  for_each_row(shape, starts, [&](int start, int head, int token) {
    softmax_weights(at, qkv, start, token, head, weights);
    weight_gradients.resize(weights.size());
    const double* const output_gradient = &attended_gradient[at.output(token, head)];
    double mean = 0;
    for (int key = start; key <= token; ++key) {
      weight_gradients[key - start] = dot(output_gradient, &qkv[at.value(key, head)], size);
      mean += weights[key - start] * weight_gradients[key - start];
    }
    for (int key = start; key <= token; ++key) {
      const double weight = weights[key - start],
                   score_gradient = shape.scale * weight * (weight_gradients[key - start] - mean);
      add(&gradient[at.value(key, head)], output_gradient, weight, size);
      add(&gradient[at.query(token, head)], &qkv[at.key(key, head)], score_gradient, size);
      add(&gradient[at.key(key, head)], &qkv[at.query(token, head)], score_gradient, size);
    }
  });
  return gradient;
}

}  // namespace starpo::cuda
