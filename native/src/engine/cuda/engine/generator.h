#pragma once

#include "engine/cuda/engine/generator_buffers.h"

namespace starpo::cuda {

// Creates the generator of a network. `exact`: see Exactness. T: Bf16 or float.
template <class T>
std::unique_ptr<Generator> make_generator(Stream&, const DeviceWeights<T>&, const Products<T>&, const RotaryTables&,
                                          const GeneratorBuffers<T>&, const GeneratorShape&, bool exact);

}  // namespace starpo::cuda
