#include "engine/cpu/block_forward.h"

#include "engine/cpu/kernels/kernels.h"

namespace starpo {

void project_qkv(const Model& model, int layer, int rows, const float* x, const std::int32_t* positions, const RotaryTable& rotary, float* normed,
                 float* qkv, float* reciprocal_rms) {
  const Kernels& k = kernels();
  const ModelConfig& config = model.layout().config();
  const Widths width(config);
  const LayerOffsets& at = model.packed().offsets.layers[layer];
  const float* const weights = model.weights().data();
  k.norm(rows, width.hidden, x, weights + at.input_norm, config.rms_norm_eps, normed, reciprocal_rms);
  multiply_forward(model, model.packed().layers[layer].qkv, rows, normed, weights + at.qkv_bias, 0, qkv);
  k.rotate(rows, qkv, width.qkv, width.heads + width.kv_heads, width.head_dim, positions, rotary.cosines.data(), rotary.sines.data(), 1.0f);
  if (model.packed().bf16)
    for (int row = 0; row < rows; ++row)
      for (int column = width.queries; column < width.qkv; ++column) {
        float& value = qkv[static_cast<std::ptrdiff_t>(row) * width.qkv + column];
        value = from_bf16(to_bf16(value));
      }
}

void output_and_mlp(const Model& model, int layer, int rows, const float* x, const float* attended, float* middle, float* normed, float* gate_up,
                    float* hidden, float* next, float* reciprocal_rms) {
  const Kernels& k = kernels();
  const ModelConfig& config = model.layout().config();
  const Widths width(config);
  const LayerOffsets& at = model.packed().offsets.layers[layer];
  const PackedLayer& packed = model.packed().layers[layer];
  multiply_forward(model, packed.output, rows, attended, x, width.hidden, middle);
  k.norm(rows, width.hidden, middle, model.weights().data() + at.mlp_norm, config.rms_norm_eps, normed, reciprocal_rms);
  multiply_forward(model, packed.gate_up, rows, normed, nullptr, 0, gate_up);
  k.swiglu(rows, width.intermediate, gate_up, hidden);
  multiply_forward(model, packed.down, rows, hidden, middle, width.hidden, next);
}

}  // namespace starpo
