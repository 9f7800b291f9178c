#pragma once

#include <memory>

#include "engine/generator.h"
#include "engine/network_pass.h"
#include "engine/trainable.h"
#include "model/parameters.h"

namespace starpo {

enum class NetworkUse {
  trained,
  read
};  // read: only the weights in the compute format; no master weights, gradients or optimiser state

// A Qwen2 network on a device. Sampling and training use the same weights.
class Network {
 public:
  virtual ~Network() = default;

  virtual const ParameterLayout& layout() const = 0;

  // Weights [first, first + the span's size) of the layout. Only trained networks can be read.
  virtual void read_weights(std::size_t first, std::span<float>) const = 0;
  virtual void write_weights(std::size_t first, std::span<const float>) = 0;

  // All weights, in the layout's order. Throws for NetworkUse::read.
  virtual Trainable& trained() = 0;

  // The network must outlive both.
  virtual std::unique_ptr<Generator> make_generator(int slots,
                                                    int context) = 0;  // context: maximum tokens per slot
  virtual std::unique_ptr<NetworkPass> make_pass() = 0;
};

}  // namespace starpo
