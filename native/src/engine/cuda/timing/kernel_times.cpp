#include "engine/cuda/timing/kernel_times.h"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "engine/cuda/engine/generator_buffers.h"
#include "engine/cuda/kernels/gemm.h"
#include "engine/cuda/kernels/norm.h"
#include "engine/cuda/kernels/sampler.h"
#include "engine/cuda/lt/library.h"
#include "engine/cuda/lt/products.h"
#include "engine/cuda/runtime/devices.h"
#include "engine/cuda/timing/ceilings.h"
#include "engine/cuda/timing/timer.h"

namespace starpo::cuda {
namespace {

// A matrix product of a decode step: y [rows, n] = x [rows, k] W^T.
struct Product {
  const char* kernel;
  int n, k;
  enum { bf16, fp32, swiglu } result;
};

std::vector<Product> products_of(const Widths& width) {
  return {{"qkv", width.qkv, width.hidden, Product::bf16},
          {"attention_output", width.hidden, width.queries, Product::bf16},
          {"gate_up", 2 * width.intermediate, width.hidden, Product::swiglu},
          {"down", width.hidden, width.intermediate, Product::bf16},
          {"head", width.vocab, width.hidden, Product::fp32}};
}

class DecodeTimes {
 public:
  DecodeTimes(const Device& device, const TimedSteps& steps, const TimingEffort& effort)
      : stream_(device.index),
        timer_(stream_, effort.repeats),
        steps_(steps),
        effort_(effort),
        width_(steps.model),
        most_rows_(std::ranges::max(steps.rows)),
        workspace_(stream_, Matmul::kWorkspaceBytes / sizeof(float)),
        sink_(stream_, 1) {
    result_.device_name = device.name;
    result_.multiprocessors = device.multiprocessors;
    open_library();
  }

  KernelTimes measure() {
    measure_ceilings();
    for (const Product& product : products_of(width_)) measure_product(product);
    for (const int rows : steps_.rows) {
      measure_norm(rows);
      measure_attention(rows);
      measure_sampler(rows);
    }
    return std::move(result_);
  }

 private:
  void open_library() {
    std::string reason;
    const auto library = lt::open_library(lt::default_search(), reason, [&](const lt::Library& candidate) {
      try {
        products_.emplace(candidate, workspace_.data(), workspace_.size_bytes());
      } catch (const std::runtime_error& error) {
        return std::string(error.what());
      }
      return std::string();
    });
    if (library) result_.library = library->name();
  }

  void measure_ceilings() {
    const std::size_t bytes = effort_.ceiling_bytes / 16 * 16;
    DeviceBuffer<float> data(stream_, bytes / sizeof(float));
    data.fill_zero(stream_);
    const double reading = timer_.microseconds(2, [&](int) { read_memory(stream_, data.data(), bytes, sink_.data()); });
    double operations = 0;
    const double multiplying = timer_.microseconds(1, [&](int) {
      operations = multiply_registers(stream_, result_.multiprocessors, effort_.ceiling_steps, sink_.data());
    });
    result_.ceilings = {static_cast<double>(bytes) / reading * 1e6, operations / multiplying * 1e6};
  }

  void measure_product(const Product& product) {
    RotatedOperand<Bf16> weights(stream_, static_cast<std::size_t>(product.n) * product.k, effort_.rotated_bytes);
    RotatedOperand<Bf16> x(stream_, static_cast<std::size_t>(most_rows_) * product.k, 0);
    DeviceBuffer<float> y(stream_, static_cast<std::size_t>(most_rows_) * row_stride(product.n));
    const auto add_plan = [&](int rows, const std::string& plan, bool chosen, const std::function<void(int)>& run) {
      const double m = rows, n = product.n, k = product.k;
      const double written = product.result == Product::fp32   ? 4 * m * n
                             : product.result == Product::bf16 ? 2 * m * n
                                                               : m * n;
      result_.times.push_back({product.kernel, rows,
                               timer_.microseconds(std::max(effort_.calls, weights.copies()), run),
                               2 * (m * k + n * k) + written, 2 * m * n * k, product.n, product.k, plan, chosen});
    };
    for (const int rows : steps_.rows) {
      const bool swiglu = product.result == Product::swiglu;
      const GemmPlan chosen =
          plan_gemm(GemmLayout::nt, rows, product.n, product.k, swiglu, workspace_.size(), result_.multiprocessors);
      for (const GemmPlan& plan : possible_plans(GemmLayout::nt, rows, product.n, product.k, swiglu, workspace_.size()))
        add_plan(rows, std::string(tile_name(plan.tile)) + " split " + std::to_string(plan.split), plan == chosen,
                 [&](int call) { run_planned(product, rows, plan, x.copy(0), weights.copy(call), y.data()); });
      if (products_ && run_library(product, rows, x.copy(0), weights.copy(0), y.data()))
        add_plan(rows, "cublaslt", false,
                 [&](int call) { run_library(product, rows, x.copy(0), weights.copy(call), y.data()); });
    }
  }

  void run_planned(const Product& product, int rows, const GemmPlan& plan, const Bf16* x, const Bf16* weight,
                   float* y) {
    const GemmWorkspace workspace{workspace_.data(), workspace_.size(), result_.multiprocessors};
    const int n = product.n, k = product.k;
    Bf16* const rounded = reinterpret_cast<Bf16*>(y);
    if (product.result == Product::swiglu)
      gemm_swiglu_planned(stream_, {rows, n / 2, k, x, k, weight, k, rounded, n / 2}, plan);
    else if (product.result == Product::fp32)
      gemm_planned(stream_, GemmLayout::nt, Gemm<Bf16, float>{rows, n, k, x, k, weight, k, y, row_stride(n)}, plan,
                   workspace);
    else
      gemm_planned(stream_, GemmLayout::nt, Gemm<Bf16>{rows, n, k, x, k, weight, k, rounded, n}, plan, workspace);
  }

  // Computes the same product with cuBLASLt, without SwiGLU. Returns false if it refuses.
  bool run_library(const Product& product, int rows, const Bf16* x, const Bf16* weight, float* y) {
    const int n = product.n, k = product.k;
    if (product.result == Product::fp32)
      return products_->multiply(stream_, GemmLayout::nt,
                                 Gemm<Bf16, float>{rows, n, k, x, k, weight, k, y, row_stride(n)});
    return products_->multiply(stream_, GemmLayout::nt,
                               Gemm<Bf16>{rows, n, k, x, k, weight, k, reinterpret_cast<Bf16*>(y), n});
  }

  void measure_norm(int rows) {
    const std::size_t size = static_cast<std::size_t>(rows) * width_.hidden;
    RotatedOperand<float> x(stream_, size, 0), weight(stream_, width_.hidden, 0);
    RotatedOperand<Bf16> delta(stream_, size, 0), normed(stream_, size, 0);
    add("residual_norm", rows, 12.0 * static_cast<double>(size), 0, effort_.calls, [&](int) {
      residual_norm(stream_, rows, width_.hidden, x.copy(0), delta.copy(0), weight.copy(0), 1e-6f, normed.copy(0),
                    nullptr);
    });
  }

  void measure_attention(int rows) {
    const int context = steps_.keys + 1;
    const std::size_t cached = static_cast<std::size_t>(rows) * context * width_.keys;
    RotatedOperand<Bf16> keys(stream_, cached, effort_.rotated_bytes / 2),
        values(stream_, cached, effort_.rotated_bytes / 2),
        qkv(stream_, static_cast<std::size_t>(rows) * width_.qkv, 0),
        attended(stream_, static_cast<std::size_t>(rows) * width_.queries, 0);
    RotatedOperand<float> bias(stream_, width_.qkv, 0),
        rotary(stream_, static_cast<std::size_t>(context) * width_.head_dim, 0);
    std::vector<std::int32_t> slots, positions(rows, steps_.keys - 1), zeros(rows, 0);
    for (int row = 0; row < rows; ++row) slots.push_back(row);
    const auto slot = on_device(stream_, slots), position = on_device(stream_, positions),
               zero = on_device(stream_, zeros);
    const auto cache = [&](int call) {
      return KvCache<Bf16>{keys.copy(call), values.copy(call), rows,        width_.kv_heads,
                           context,         width_.head_dim,   zero.data(), zero.data()};
    };
    const AttentionShape shape = attention_shape(width_);
    KeySplits splits = key_splits(steps_.keys, width_.head_dim, nullptr);
    DeviceBuffer<float> partials(stream_, key_split_partials(shape, rows, splits));
    splits.partials = partials.data();
    const double bytes = 4.0 * rows * steps_.keys * width_.keys + 4.0 * rows * width_.queries,
                 operations = 4.0 * rows * steps_.keys * width_.queries;
    const auto measure = [&](const char* name, CachedUse use, const KeySplits& key_splits) {
      add(name, rows, bytes, operations, std::max(effort_.calls, keys.copies()), [&](int call) {
        cached_attention(stream_, shape, cache(call), {rows, slot.data(), position.data(), use},
                         {bias.copy(0), {rotary.copy(0), rotary.copy(0)}}, qkv.copy(0), attended.copy(0), key_splits);
      });
    };
    measure("cached_attention exact", CachedUse::decode, {});
    measure("cached_attention", CachedUse::fast_decode, {});
    measure("cached_attention split", CachedUse::fast_decode, splits);
  }

  void measure_sampler(int rows) {
    const int stride = row_stride(width_.vocab);
    RotatedOperand<float> logits(stream_, static_cast<std::size_t>(rows) * stride, effort_.rotated_bytes);
    const auto settings = on_device(stream_, std::vector<SamplerSettings>{{{}, {1, RandomStream::train_sampling}, 1}});
    const auto numbers = on_device(stream_, std::vector<std::int32_t>(rows, 1));
    DeviceBuffer<std::int32_t> ids(stream_, rows), stops(stream_, rows);
    DeviceBuffer<float> logprobs(stream_, rows), entropies(stream_, rows);
    add("sample", rows, 4.0 * rows * width_.vocab, 0, std::max(effort_.calls, logits.copies()), [&](int call) {
      sample(stream_, {logits.copy(call), rows, width_.vocab, stride, 1}, settings.data(),
             {numbers.data(), numbers.data()}, numbers.data(), 1,
             {ids.data(), logprobs.data(), entropies.data(), stops.data()});
    });
  }

  void add(const char* kernel, int rows, double bytes, double operations, int calls,
           const std::function<void(int)>& run) {
    result_.times.push_back({kernel, rows, timer_.microseconds(calls, run), bytes, operations});
  }

  Stream stream_;
  KernelTimer timer_;
  const TimedSteps& steps_;
  const TimingEffort& effort_;
  Widths width_;
  int most_rows_;
  DeviceBuffer<float> workspace_, sink_;
  std::optional<lt::Products> products_;
  KernelTimes result_;
};

}  // namespace

double KernelTimes::share_of_ceiling(const KernelTime& time) const {
  const double seconds =
      std::max(time.bytes / ceilings.bytes_per_second, time.operations / ceilings.operations_per_second);
  return seconds * 1e6 / time.microseconds;
}

KernelTimes time_kernels(int device, const TimedSteps& steps, const TimingEffort& effort) {
  const DeviceList list = list_devices();
  return DecodeTimes(require_device(list, device), steps, effort).measure();
}

}  // namespace starpo::cuda
