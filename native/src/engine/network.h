#pragma once

#include <memory>

#include "engine/generator.h"
#include "engine/network_pass.h"
#include "engine/trainable.h"
#include "model/parameters.h"

namespace starpo {

// `read` keeps only the weights in the compute format, without master weights, gradients and optimizer state.
enum class NetworkUse { trained, read };

// A Qwen2 network on a device. Sampling and training use the same weights.
class Network {
 public:
  virtual ~Network() = default;

  virtual const ParameterLayout& layout() const = 0;

  // Read or write the weights [first, first + span size) of the layout. Only trained networks can be read.
  virtual void read_weights(std::size_t first, std::span<float>) const = 0;
  virtual void write_weights(std::size_t first, std::span<const float>) = 0;

  // Returns all weights, in the layout's order. Throws for NetworkUse::read.
  virtual Trainable& trained() = 0;

  // The network must outlive both. context: maximum tokens per slot.
  virtual std::unique_ptr<Generator> make_generator(int slots, int context) = 0;
  virtual std::unique_ptr<NetworkPass> make_pass() = 0;
};

}  // namespace starpo
