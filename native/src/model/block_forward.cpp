#include "model/block_forward.h"

#include "ops/cpu/kernels.h"

namespace starpo {

void project_qkv(const Model& model, int layer, int rows, const float* x, const std::int32_t* positions, const RotaryTable& rotary, float* normed,
                 float* qkv, float* reciprocal_rms) {
  const Kernels& k = kernels();
  const ModelConfig& config = model.layout().config();
  const Widths width(config);
  const LayerOffsets& at = model.packed().offsets.layers[layer];
  const float* const weights = model.weights().data();
  k.norm(rows, width.hidden, x, weights + at.input_norm, config.rms_norm_eps, normed, reciprocal_rms);
  k.multiply(rows, width.qkv, width.hidden, normed, width.hidden, model.packed().layers[layer].qkv.forward, weights + at.qkv_bias, 0, qkv,
             width.qkv);
  k.rotate(rows, qkv, width.qkv, width.heads + width.kv_heads, width.head_dim, positions, rotary.cosines.data(), rotary.sines.data(), 1.0f);
}

void output_and_mlp(const Model& model, int layer, int rows, const float* x, const float* attended, float* middle, float* normed, float* gate_up,
                    float* hidden, float* next, float* reciprocal_rms) {
  const Kernels& k = kernels();
  const ModelConfig& config = model.layout().config();
  const Widths width(config);
  const LayerOffsets& at = model.packed().offsets.layers[layer];
  const PackedLayer& packed = model.packed().layers[layer];
  k.multiply(rows, width.hidden, width.queries, attended, width.queries, packed.output.forward, x, width.hidden, middle, width.hidden);
  k.norm(rows, width.hidden, middle, model.weights().data() + at.mlp_norm, config.rms_norm_eps, normed, reciprocal_rms);
  k.multiply(rows, 2 * width.intermediate, width.hidden, normed, width.hidden, packed.gate_up.forward, nullptr, 0, gate_up, 2 * width.intermediate);
  k.swiglu(rows, width.intermediate, gate_up, hidden);
  k.multiply(rows, width.hidden, width.intermediate, hidden, width.intermediate, packed.down.forward, middle, width.hidden, next, width.hidden);
}

}  // namespace starpo
