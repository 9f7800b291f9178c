#include "engine/cuda/engine/make_engine.h"

#include <stdexcept>

namespace starpo::cuda {

std::unique_ptr<Engine> make_engine(const Device&, const EngineSettings&) { throw std::logic_error("this trainer was built without CUDA"); }

}  // namespace starpo::cuda
