#pragma once

#include <cstddef>
#include <cstdint>

struct CUstream_st;

// The part of the cuBLASLt API that the trainer uses. The library is opened at run time if it is installed, so the
// build needs neither its headers nor the library. Names and values follow its reference and are the same in versions
// 12 and 13. tests/real_cublaslt compares them with the real header and library.
namespace starpo::cuda::lt {

using Handle = void*;
using Descriptor = void*;  // of an operation, a matrix layout or a preference

enum class Status : int { success = 0 };
enum class DataType : int { fp32 = 0, bf16 = 14 };
enum class ComputeType : int { fp32 = 68 };
enum class Operation : std::int32_t { none = 0, transpose = 1 };
enum class OperationAttribute : int { transpose_a = 3, transpose_b = 4 };
enum class PreferenceAttribute : int {
  workspace_bytes = 1,
  reduction_schemes = 3,
  alignment_a = 5,
  alignment_b = 6,
  alignment_c = 7,
  alignment_d = 8
};
// A second kernel adds the parts of a split sum in order, in fp32. This is the only reduction scheme that is
// deterministic and as precise as without a split.
inline constexpr std::uint32_t kReductionInComputeType = 2;

struct Algorithm {
  std::uint64_t data[8];
};

struct Heuristic {
  Algorithm algorithm;
  std::size_t workspace_bytes;
  Status status;
  float waves;
  int reserved[4];
};
static_assert(sizeof(Heuristic) == 96);

// Functions of the library. Matrices are column-major. multiply: d = alpha op(a) op(b) + beta c.
struct Functions {
  std::size_t (*version)();
  Status (*create)(Handle*);
  Status (*destroy)(Handle);
  Status (*create_operation)(Descriptor*, ComputeType, DataType scale);
  Status (*destroy_operation)(Descriptor);
  Status (*set_operation)(Descriptor, OperationAttribute, const void* value, std::size_t bytes);
  Status (*create_layout)(Descriptor*, DataType, std::uint64_t rows, std::uint64_t columns, std::int64_t ld);
  Status (*destroy_layout)(Descriptor);
  Status (*create_preference)(Descriptor*);
  Status (*destroy_preference)(Descriptor);
  Status (*set_preference)(Descriptor, PreferenceAttribute, const void* value, std::size_t bytes);
  Status (*find_algorithms)(Handle, Descriptor operation, Descriptor a, Descriptor b, Descriptor c, Descriptor d,
                            Descriptor preference, int capacity, Heuristic* found, int* count);
  Status (*multiply)(Handle, Descriptor operation, const void* alpha, const void* a, Descriptor a_layout, const void* b,
                     Descriptor b_layout, const void* beta, const void* c, Descriptor c_layout, void* d,
                     Descriptor d_layout, const Algorithm*, void* workspace, std::size_t workspace_bytes, CUstream_st*);
};

}  // namespace starpo::cuda::lt
