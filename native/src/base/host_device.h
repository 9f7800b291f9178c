#pragma once

// Marks an inline function shared by CPU and GPU code.
#ifdef __CUDACC__
#define STARPO_HOST_DEVICE __host__ __device__
#else
#define STARPO_HOST_DEVICE
#endif
