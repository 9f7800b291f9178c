#pragma once

#include "engine/cuda/portable/bf16.h"
#include "engine/cuda/portable/cuda.h"

#ifdef STARPO_EMULATED
#include "engine/cuda/emulated/tensor_core.h"
#endif

// Tensor core instructions and the copies that feed them, for compute capability 8.0 and newer (PTX ISA:
// mma.m16n8k16, ldmatrix, cp.async). All lanes of a warp must call mma and ldmatrix together. A register of an operand
// contains two bf16, a register of the accumulator one fp32. With g = lane / 4 and t = lane % 4, a lane has
//   a[0]: row g, columns 2t and 2t+1      a[1]: row g+8, the same columns
//   a[2]: row g, columns 2t+8 and 2t+9    a[3]: row g+8, the same columns
//   b[0]: column g, rows 2t and 2t+1      b[1]: column g, rows 2t+8 and 2t+9
//   d[0], d[1]: row g, columns 2t, 2t+1   d[2], d[3]: row g+8, the same columns
namespace starpo::cuda {

// d[16, 8] += a[16, 16] b[16, 8], accumulated in fp32.
__device__ inline void mma_m16n8k16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
#ifdef STARPO_EMULATED
  emulated::mma_m16n8k16(d, a, b);
#else
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

#ifndef STARPO_EMULATED
__device__ inline unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}
#endif

// Loads 8x8 matrices of bf16 from shared memory. Lane i passes the address of row i % 8 (16 bytes) of matrix i / 8.
// Register j receives row g, columns 2t and 2t+1 of matrix j, or of its transpose in ldmatrix_x4_trans.
__device__ inline void ldmatrix_x4(unsigned (&registers)[4], const void* row) {
#ifdef STARPO_EMULATED
  emulated::load_matrices("ldmatrix_x4", registers, row, false);
#else
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(registers[0]), "=r"(registers[1]), "=r"(registers[2]), "=r"(registers[3])
               : "r"(shared_address(row))
               : "memory");
#endif
}

__device__ inline void ldmatrix_x4_trans(unsigned (&registers)[4], const void* row) {
#ifdef STARPO_EMULATED
  emulated::load_matrices("ldmatrix_x4_trans", registers, row, true);
#else
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(registers[0]), "=r"(registers[1]), "=r"(registers[2]), "=r"(registers[3])
               : "r"(shared_address(row))
               : "memory");
#endif
}

// Copies 16 bytes from global to shared memory asynchronously. If not `valid`, writes zeros and does not read `global`,
// which must still be a multiple of 16. The data is visible to the thread after cp_async_wait, and to the block after
// __syncthreads.
__device__ inline void cp_async_16(void* shared, const void* global, bool valid) {
#ifdef STARPO_EMULATED
  emulated::copy_asynchronously(shared, global, valid);
#else
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(shared)), "l"(global),
               "r"(valid ? 16 : 0)
               : "memory");
#endif
}

// Commits the copies since the last commit as a group.
__device__ inline void cp_async_commit() {
#ifdef STARPO_EMULATED
  emulated::commit_copies();
#else
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits until at most `pending` of this thread's latest groups are in flight.
template <int pending>
__device__ inline void cp_async_wait() {
#ifdef STARPO_EMULATED
  emulated::wait_for_copies(pending);
#else
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
#endif
}

}  // namespace starpo::cuda
