#pragma once

// Marks an inline function that the CPU's and the GPU's code share, so that a formula exists once.
#ifdef __CUDACC__
#define STARPO_HOST_DEVICE __host__ __device__
#else
#define STARPO_HOST_DEVICE
#endif
