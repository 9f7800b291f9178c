#include "model_reference.h"

#include <cmath>
#include <string>

namespace starpo::reference {

namespace {

using Vector = std::vector<double>;

class Network {
 public:
  Network(const ParameterLayout& layout, const Vector& weights)
      : layout_(layout), config_(layout.config()), weights_(weights) {}

  std::vector<Vector> logits(const std::vector<std::int32_t>& tokens) const {
    std::vector<Vector> x;
    for (const std::int32_t token : tokens) {
      const double* const row =
          tensor("model.embed_tokens.weight") + static_cast<std::size_t>(token) * config_.hidden_size;
      x.emplace_back(row, row + config_.hidden_size);
    }
    for (int layer = 0; layer < config_.num_hidden_layers; ++layer)
      block("model.layers." + std::to_string(layer) + ".", x);
    for (Vector& row : x) row = norm(row, "model.norm.weight");
    if (layout_.head() == ModelHead::value)
      for (Vector& row : x) row = linear(row, "score.weight", 1, "score.bias");
    else
      for (Vector& row : x)
        row = linear(row, config_.tie_word_embeddings ? "model.embed_tokens.weight" : "lm_head.weight",
                     config_.vocab_size);
    return x;
  }

 private:
  const double* tensor(const std::string& name) const { return weights_.data() + layout_.find(name).offset; }

  Vector linear(const Vector& x, const std::string& name, int outputs, const std::string& bias = "") const {
    const double* w = tensor(name);
    Vector y(outputs);
    for (int i = 0; i < outputs; ++i, w += x.size()) {
      y[i] = bias.empty() ? 0 : tensor(bias)[i];
      for (std::size_t k = 0; k < x.size(); ++k) y[i] += w[k] * x[k];
    }
    return y;
  }

  Vector norm(const Vector& x, const std::string& name) const {
    double squares = 0;
    for (const double value : x) squares += value * value;
    const double rms = std::sqrt(squares / x.size() + config_.rms_norm_eps);
    Vector y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] / rms * tensor(name)[i];
    return y;
  }

  void rotate(Vector& x, int position) const {
    const int half = config_.head_dim / 2;
    for (std::size_t head = 0; head < x.size(); head += config_.head_dim)
      for (int i = 0; i < half; ++i) {
        const float frequency =
            static_cast<float>(std::pow(static_cast<double>(config_.rope_theta), -static_cast<double>(i) / half));
        const double angle = static_cast<float>(position) * frequency, a = x[head + i], b = x[head + half + i];
        x[head + i] = a * std::cos(angle) - b * std::sin(angle);
        x[head + half + i] = b * std::cos(angle) + a * std::sin(angle);
      }
  }

  void block(const std::string& prefix, std::vector<Vector>& x) const {
    const int dim = config_.head_dim, queries = config_.num_attention_heads * dim,
              keys = config_.num_key_value_heads * dim;
    std::vector<Vector> q, k, v;
    for (std::size_t t = 0; t < x.size(); ++t) {
      const Vector y = norm(x[t], prefix + "input_layernorm.weight");
      q.push_back(linear(y, prefix + "self_attn.q_proj.weight", queries, prefix + "self_attn.q_proj.bias"));
      k.push_back(linear(y, prefix + "self_attn.k_proj.weight", keys, prefix + "self_attn.k_proj.bias"));
      v.push_back(linear(y, prefix + "self_attn.v_proj.weight", keys, prefix + "self_attn.v_proj.bias"));
      rotate(q[t], static_cast<int>(t));
      rotate(k[t], static_cast<int>(t));
    }
    for (std::size_t t = 0; t < x.size(); ++t) {
      Vector attended(queries);
      for (int head = 0; head < config_.num_attention_heads; ++head) {
        const int of_query = head * dim,
                  of_key = head / (config_.num_attention_heads / config_.num_key_value_heads) * dim;
        Vector weight(t + 1);
        double sum = 0;
        for (std::size_t s = 0; s <= t; ++s) {
          double score = 0;
          for (int d = 0; d < dim; ++d) score += q[t][of_query + d] * k[s][of_key + d];
          sum += weight[s] = std::exp(score / std::sqrt(dim));
        }
        for (std::size_t s = 0; s <= t; ++s)
          for (int d = 0; d < dim; ++d) attended[of_query + d] += weight[s] / sum * v[s][of_key + d];
      }
      const Vector output = linear(attended, prefix + "self_attn.o_proj.weight", config_.hidden_size);
      for (int i = 0; i < config_.hidden_size; ++i) x[t][i] += output[i];
      const Vector y = norm(x[t], prefix + "post_attention_layernorm.weight");
      Vector hidden = linear(y, prefix + "mlp.gate_proj.weight", config_.intermediate_size);
      const Vector up = linear(y, prefix + "mlp.up_proj.weight", config_.intermediate_size);
      for (std::size_t i = 0; i < hidden.size(); ++i) hidden[i] = hidden[i] / (1 + std::exp(-hidden[i])) * up[i];
      const Vector down = linear(hidden, prefix + "mlp.down_proj.weight", config_.hidden_size);
      for (int i = 0; i < config_.hidden_size; ++i) x[t][i] += down[i];
    }
  }

  const ParameterLayout& layout_;
  const ModelConfig& config_;
  const Vector& weights_;
};

}  // namespace

namespace {

std::vector<Vector> head_outputs(const ParameterLayout& layout, const Vector& weights, const PackedBatch& batch) {
  std::vector<Vector> outputs;
  for (std::size_t i = 0; i + 1 < batch.sequence_starts.size(); ++i) {
    const auto tokens = batch.tokens.begin();
    for (Vector& row :
         Network(layout, weights).logits({tokens + batch.sequence_starts[i], tokens + batch.sequence_starts[i + 1]}))
      outputs.push_back(std::move(row));
  }
  return outputs;
}

}  // namespace

std::vector<double> values(const ParameterLayout& layout, const std::vector<double>& weights,
                           const PackedBatch& batch) {
  const auto outputs = head_outputs(layout, weights, batch);
  std::vector<double> values;
  for (const std::int32_t target : batch.targets) values.push_back(outputs[target - 1][0]);
  return values;
}

Outputs forward(const ParameterLayout& layout, const std::vector<double>& weights, const PackedBatch& batch,
                double temperature) {
  Outputs outputs;
  outputs.logits = head_outputs(layout, weights, batch);
  for (const std::int32_t target : batch.targets) {
    const Vector& logits = outputs.logits[target - 1];
    double sum = 0, weighted = 0;
    for (const double logit : logits) {
      sum += std::exp(logit / temperature);
      weighted += std::exp(logit / temperature) * logit / temperature;
    }
    outputs.logprobs.push_back(logits[batch.tokens[target]] / temperature - std::log(sum));
    outputs.entropies.push_back(std::log(sum) - weighted / sum);
  }
  return outputs;
}

double derivative(double& x, double h, const std::function<double()>& f) {
  const double original = x;
  const auto at = [&](double offset) {
    x = original + offset;
    return f();
  };
  const double result = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
  x = original;
  return result;
}

}  // namespace starpo::reference
