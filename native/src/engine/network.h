#pragma once

#include <memory>

#include "engine/generator.h"
#include "engine/network_pass.h"
#include "engine/trainable.h"
#include "model/parameters.h"

namespace starpo {

// A Qwen2 network on some device. One copy of its weights is sampled from and trained.
class Network {
 public:
  virtual ~Network() = default;

  virtual const ParameterLayout& layout() const = 0;
  virtual Trainable& parameters() = 0;  // in the layout's order

  // Both read the network and must not outlive it.
  virtual std::unique_ptr<Generator> make_generator(int slots, int context) = 0;  // context: most tokens a slot can hold
  virtual std::unique_ptr<NetworkPass> make_pass() = 0;
};

}  // namespace starpo
