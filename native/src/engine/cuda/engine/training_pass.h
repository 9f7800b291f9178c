#pragma once

#include "engine/cuda/engine/training_buffers.h"

namespace starpo::cuda {

// Creates a network's forward and backward passes. Their results are in the engine's memory and are valid until the
// next pass of any network. T: Bf16 or float.
template <class T>
std::unique_ptr<NetworkPass> make_training_pass(Stream&, DeviceWeights<T>&, const Products<T>&, const RotaryTables&,
                                                const TrainingBuffers<T>&, Recompute, bool backward);

}  // namespace starpo::cuda
