#pragma once

#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>

#include "base/host_device.h"

namespace starpo::cuda {

// bfloat16: the upper half of an fp32 number.
struct Bf16 {
  std::uint16_t bits;
};

STARPO_HOST_DEVICE inline float to_float(float value) { return value; }

STARPO_HOST_DEVICE inline float to_float(Bf16 value) {
  const std::uint32_t bits = static_cast<std::uint32_t>(value.bits) << 16;
  float result;
  memcpy(&result, &bits, sizeof result);
  return result;
}

template <class T>
STARPO_HOST_DEVICE T from_float(float value);

template <>
STARPO_HOST_DEVICE inline float from_float<float>(float value) {
  return value;
}

// Rounds to nearest, ties to even. NaN stays NaN.
template <>
STARPO_HOST_DEVICE inline Bf16 from_float<Bf16>(float value) {
#ifdef __CUDA_ARCH__
  Bf16 result;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
  return result;
#else
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (value != value) return {static_cast<std::uint16_t>(bits >> 16 | 0x40)};
  return {static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
#endif
}

// Packs two adjacent values into a register for the tensor cores: `low` at the lower address.
STARPO_HOST_DEVICE inline unsigned pack_bf16(float low, float high) {
#ifdef __CUDA_ARCH__
  unsigned result;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
  return result;
#else
  return from_float<Bf16>(low).bits | static_cast<unsigned>(from_float<Bf16>(high).bits) << 16;
#endif
}

// Return the values that pack_bf16 packed.
STARPO_HOST_DEVICE inline float unpack_low(unsigned pair) { return to_float(Bf16{static_cast<std::uint16_t>(pair)}); }
STARPO_HOST_DEVICE inline float unpack_high(unsigned pair) {
  return to_float(Bf16{static_cast<std::uint16_t>(pair >> 16)});
}

// A vector of 16 bytes, loaded and stored in one instruction. Pointers must be aligned to 16 bytes.
template <class T>
struct alignas(16) Vector {
  static constexpr int size = 16 / sizeof(T);
  T values[size];

  STARPO_HOST_DEVICE T& operator[](int index) { return values[index]; }
  STARPO_HOST_DEVICE const T& operator[](int index) const { return values[index]; }

  STARPO_HOST_DEVICE static Vector load(const T* pointer) {
    Vector result;
#ifdef __CUDA_ARCH__
    const uint4 raw = *reinterpret_cast<const uint4*>(pointer);
    memcpy(&result, &raw, sizeof result);
#else
    assert(reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0);
    std::memcpy(&result, pointer, sizeof result);
#endif
    return result;
  }

  STARPO_HOST_DEVICE void store(T* pointer) const {
#ifdef __CUDA_ARCH__
    uint4 raw;
    memcpy(&raw, this, sizeof raw);
    *reinterpret_cast<uint4*>(pointer) = raw;
#else
    assert(reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0);
    std::memcpy(pointer, this, sizeof *this);
#endif
  }
};

}  // namespace starpo::cuda
