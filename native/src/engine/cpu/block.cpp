#include "engine/cpu/block.h"

#include "engine/cpu/kernels/kernels.h"

namespace starpo {
namespace {

// Returns x rounded to bf16, in a buffer of the calling thread. It is not thread_memory(), which callers use.
Bf16* rounded_rows(const Bf16Kernels& k, int rows, int depth, const float* x) {
  thread_local AlignedBuffer memory;
  memory.reserve(bf16_rows_size(rows, depth) / 2);
  Bf16* const rounded = reinterpret_cast<Bf16*>(memory.data());
  k.round_rows(rows, depth, x, depth, rounded);
  return rounded;
}

}  // namespace

void multiply_forward(const CpuModel& model, const PackedMatrix& matrix, int rows, const float* x, const float* start,
                      std::ptrdiff_t start_stride, float* y) {
  const int depth = matrix.inputs, columns = matrix.outputs;
  if (const Bf16Kernels* const k = model.packed().bf16)
    k->multiply(rows, columns, depth, rounded_rows(*k, rows, depth, x), matrix.forward_bf16, start, start_stride, y,
                columns);
  else
    kernels().multiply(rows, columns, depth, x, depth, matrix.forward, start, start_stride, y, columns);
}

void multiply_backward(const CpuModel& model, const PackedMatrix& matrix, int rows, const float* y_gradient,
                       float* x_gradient) {
  const int depth = matrix.outputs, columns = matrix.inputs;
  if (const Bf16Kernels* const k = model.packed().bf16)
    k->multiply(rows, columns, depth, rounded_rows(*k, rows, depth, y_gradient), matrix.backward_bf16, nullptr, 0,
                x_gradient, columns);
  else
    kernels().multiply(rows, columns, depth, y_gradient, depth, matrix.backward, nullptr, 0, x_gradient, columns);
}

void project_qkv(const CpuModel& model, int layer, int rows, const float* x, const std::int32_t* positions,
                 const RotaryTable& rotary, float* normed, float* qkv, float* reciprocal_rms) {
  const Kernels& k = kernels();
  const ModelConfig& config = model.layout().config();
  const Widths width(config);
  const LayerOffsets& at = model.packed().offsets.layers[layer];
  const float* const weights = model.weights().data();
  k.norm(rows, width.hidden, x, weights + at.input_norm, config.rms_norm_eps, normed, reciprocal_rms);
  multiply_forward(model, model.packed().layers[layer].qkv, rows, normed, weights + at.qkv_bias, 0, qkv);
  k.rotate(rows, qkv, width.qkv, width.heads + width.kv_heads, width.head_dim, positions, rotary.cosines.data(),
           rotary.sines.data(), 1.0f);
  if (model.packed().bf16)
    for (int row = 0; row < rows; ++row)
      for (int column = width.queries; column < width.qkv; ++column) {
        float& value = qkv[static_cast<std::ptrdiff_t>(row) * width.qkv + column];
        value = from_bf16(to_bf16(value));
      }
}

void output_and_mlp(const CpuModel& model, int layer, int rows, const float* x, const float* attended, float* middle,
                    float* normed, float* gate_up, float* hidden, float* next, float* reciprocal_rms) {
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
