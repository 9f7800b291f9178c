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
};  // read: weights alone, in what form the device multiplies them; no masters, gradients or optimiser

// A Qwen2 network on some device. One copy of its weights is sampled from and trained.
class Network {
 public:
  virtual ~Network() = default;

  virtual const ParameterLayout& layout() const = 0;

  // Weights [first, first + the span's size) of the layout. A network that is only read gives none back.
  virtual void read_weights(std::size_t first, std::span<float>) const = 0;
  virtual void write_weights(std::size_t first, std::span<const float>) = 0;

  // What of its weights learns: all of them, in the layout's order. A network that is only read has nothing.
  virtual Trainable& trained() = 0;

  // Both read the network and must not outlive it.
  virtual std::unique_ptr<Generator> make_generator(int slots,
                                                    int context) = 0;  // context: most tokens a slot can hold
  virtual std::unique_ptr<NetworkPass> make_pass() = 0;
};

}  // namespace starpo
