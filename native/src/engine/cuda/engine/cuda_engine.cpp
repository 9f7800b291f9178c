#include <algorithm>

#include "base/error.h"
#include "base/format_bytes.h"
#include "engine/cuda/engine/device_weights.h"
#include "engine/cuda/engine/generator.h"
#include "engine/cuda/engine/layer.h"
#include "engine/cuda/engine/make_engine.h"
#include "engine/cuda/engine/memory_plan.h"
#include "engine/cuda/engine/training_pass.h"
#include "engine/cuda/kernels/rope.h"
#include "engine/cuda/runtime/devices.h"
#include "engine/engine.h"
#include "engine/rotary_table.h"

namespace starpo::cuda {
namespace {

// Returns the free memory, less a reserve for kernels, graphs and cuBLASLt.
std::int64_t usable_bytes(const DeviceMemory& memory) {
  return static_cast<std::int64_t>(memory.free_bytes - memory.free_bytes / 64);
}

// Errors: model_unsupported.
void check_shape(const ModelConfig& model) {
  const auto reject = [](const std::string& what) {
    throw Error("model_unsupported", what + " on a GPU", "use this model on the CPU (device cpu)");
  };
  if (!attention_supports(model.head_dim))
    reject("a head_dim of " + std::to_string(model.head_dim) + " is not supported");
  for (const auto& [name, size] :
       {std::pair{"hidden_size", model.hidden_size}, {"intermediate_size", model.intermediate_size}})
    if (size % 8 != 0) reject(std::string(name) + " must be a multiple of 8 (it is " + std::to_string(size) + ")");
}

template <class T>
class CudaEngine;

template <class T>
class CudaNetwork final : public Network {
 public:
  CudaNetwork(CudaEngine<T>& engine, const ModelConfig& config, ModelHead head, NetworkUse use)
      : engine_(engine), weights_(engine.stream(), config, head, use), trained_(use == NetworkUse::trained) {}

  const ParameterLayout& layout() const override { return weights_.layout(); }
  void read_weights(std::size_t first, std::span<float> to) const override {
    weights_.read(StateVector::weights, first, to);
  }
  void write_weights(std::size_t first, std::span<const float> from) override { weights_.write_weights(first, from); }
  Trainable& trained() override {
    if (!trained_) throw std::logic_error("this network is not trained");
    return weights_;
  }

  std::unique_ptr<Generator> make_generator(int slots, int context) override {
    const EngineNeeds& needs = engine_.needs();
    if (slots > needs.slots || context > needs.context) throw std::logic_error("the generator is larger than planned");
    GeneratorShape shape = planned_shape(needs);
    shape.slots = slots;
    shape.context = context;
    Arena arena(engine_.arena());
    return starpo::cuda::make_generator(engine_.stream(), weights_, engine_.products(), engine_.rotary(),
                                        GeneratorBuffers<T>(arena, needs.model, shape), shape, engine_.exact());
  }

  std::unique_ptr<NetworkPass> make_pass() override {
    const EngineNeeds& needs = engine_.needs();
    Arena arena(engine_.arena());
    const TrainingBuffers<T> buffers(arena, needs.model, needs.pass_tokens, trained_, needs.recompute);
    return make_training_pass(engine_.stream(), weights_, engine_.products(), engine_.rotary(), buffers,
                              needs.recompute, trained_);
  }

 private:
  CudaEngine<T>& engine_;
  DeviceWeights<T> weights_;
  bool trained_;
};

// An engine for one GPU, with one stream and memory that rollout and update share. T: Bf16 or float.
template <class T>
class CudaEngine final : public Engine {
 public:
  CudaEngine(const Device& device, Exactness exactness)
      : device_(device), exactness_(exactness), stream_(device.index) {}

  std::string device() const override { return "cuda:" + std::to_string(device_.index); }
  std::string device_name() const override { return device_.name; }
  std::string device_uuid() const override { return device_.uuid; }

  std::string instructions() const override {
    return "sm_" + std::to_string(device_.compute_major) + std::to_string(device_.compute_minor);
  }

  int default_pass_tokens(const EngineNeeds& needs) const override {
    // Larger passes are not faster, and smaller ones underuse the GPU.
    constexpr int maximum = 32768, minimum = 2048;
    EngineNeeds candidate = needs;
    for (candidate.pass_tokens = maximum; candidate.pass_tokens > std::max(minimum, needs.context);
         candidate.pass_tokens /= 2)
      if (plan_memory<T>(candidate).total_bytes() <= usable_bytes(device_memory(device_.index)))
        return candidate.pass_tokens;
    return std::max(minimum, needs.context);
  }

  MemoryPlan reserve(const EngineNeeds& needs) override {
    check_shape(needs.model);
    needs_ = needs;
    MemoryPlan plan = plan_memory<T>(needs_);
    const DeviceMemory memory = device_memory(device_.index);
    plan.device = device();
    plan.device_bytes = static_cast<std::int64_t>(memory.total_bytes);
    plan.free_bytes = static_cast<std::int64_t>(memory.free_bytes);
    const std::int64_t usable = usable_bytes(memory);
    if (plan.total_bytes() > usable)
      throw Error("gpu_out_of_memory",
                  format_bytes(plan.total_bytes()) + " of memory are needed on " + device_.name + ", but only " +
                      format_bytes(usable) + " of the free " + format_bytes(plan.free_bytes) + " can be used",
                  setting_that_fits(needs_, plan_memory<T>, usable));

    RotaryTable table;
    table.extend_to(needs_.model, std::max(needs_.context + 2, needs_.pass_tokens));
    cosines_ = DeviceBuffer<float>(stream_, table.cosines);
    sines_ = DeviceBuffer<float>(stream_, table.sines);
    workspace_ = DeviceBuffer<float>(stream_, Matmul::kWorkspaceBytes / sizeof(float));
    const MatmulMode mode = std::is_same_v<T, float> ? MatmulMode::fp32
                            : exact()                ? MatmulMode::exact
                                                     : MatmulMode::fast;
    matmul_ = std::make_unique<Matmul>(stream_, mode,
                                       GemmWorkspace{workspace_.data(), workspace_.size(), device_.multiprocessors});
    arena_ =
        DeviceBuffer<std::byte>(stream_, static_cast<std::size_t>(std::max(plan.bytes_of(MemoryLifetime::rollout),
                                                                           plan.bytes_of(MemoryLifetime::update))));
    return plan;
  }

  bool preallocates() const override { return true; }

  std::optional<std::string> warning() const override {
    const bool falls_back = std::is_same_v<T, Bf16> && !exact() && !matmul_->uses_library();
    return falls_back ? std::optional("exactness is fast, but cuBLASLt is not used. " + matmul_->choice())
                      : std::nullopt;
  }

  std::optional<std::string> product_choice() const override { return matmul_->choice(); }

  std::optional<std::string> refused_products() const override {
    const std::string refusals = matmul_->refusals();
    return refusals.empty() ? std::nullopt : std::optional(refusals);
  }

  std::optional<std::int64_t> memory_in_use() const override {
    const DeviceMemory memory = device_memory(device_.index);
    return static_cast<std::int64_t>(memory.total_bytes - memory.free_bytes);
  }

  std::unique_ptr<HostMemory> allocate_host_memory(std::size_t count) override {
    struct Pinned final : HostMemory {
      explicit Pinned(std::size_t size) : buffer(size) {}
      std::span<float> values() override { return buffer.span(); }
      PinnedBuffer<float> buffer;
    };
    return std::make_unique<Pinned>(count);
  }

  std::unique_ptr<Network> make_network(const ModelConfig& config, ModelHead head, NetworkUse use) override {
    return std::make_unique<CudaNetwork<T>>(*this, config, head, use);
  }

  // Shared by all networks.
  Stream& stream() { return stream_; }
  std::byte* arena() { return arena_.data(); }
  RotaryTables rotary() const { return {cosines_.data(), sines_.data()}; }
  Products<T> products() { return {stream_, *matmul_, exact()}; }
  bool exact() const { return exactness_ == Exactness::exact; }
  const EngineNeeds& needs() const { return needs_; }

 private:
  Device device_;
  Exactness exactness_;
  Stream stream_;
  EngineNeeds needs_;
  DeviceBuffer<std::byte> arena_;
  DeviceBuffer<float> workspace_, cosines_, sines_;
  std::unique_ptr<Matmul> matmul_;
};

}  // namespace

std::unique_ptr<Engine> make_engine(const Device& device, const EngineSettings& settings) {
  if (settings.precision == Precision::bf16) return std::make_unique<CudaEngine<Bf16>>(device, settings.exactness);
  return std::make_unique<CudaEngine<float>>(device, settings.exactness);
}

}  // namespace starpo::cuda
