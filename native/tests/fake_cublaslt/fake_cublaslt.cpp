// cuBLASLt's functions for matrices in host memory, as strict as its reference about sizes and types. It supports the
// attributes that the engine uses and rejects all others. FAULT selects a defect.
#include <cstddef>
#include <cstdint>
#include <cstring>

#define FAULT_NONE 0
#define FAULT_MISSING_FUNCTION 1
#define FAULT_WRONG_RESULT 2
#define FAULT_NOT_STARTING 3
#define FAULT_NO_LARGE_ALGORITHM 4  // none for more than 600 rows
#define FAULT_FAILING_LATE 5        // the second product of one shape
#define FAULT_IGNORES_BETA 6
#define FAULT_FIRST_ALGORITHM 7  // fails; the second works
#ifndef FAULT
#define FAULT FAULT_NONE
#endif

namespace {

enum { kSuccess = 0, kNotInitialized = 1, kInvalidValue = 7, kFailed = 13, kNotSupported = 15 };
enum { kFp32 = 0, kBf16 = 14, kComputeFp32 = 68 };

struct Operation {
  std::int32_t transpose_a = 0, transpose_b = 0;
};
struct Layout {
  int type;
  std::uint64_t rows, columns;
  std::int64_t ld;
};
struct Preference {
  std::uint64_t workspace = 0;
  std::uint32_t alignment[4] = {256, 256, 256, 256};
};
struct Algorithm {
  std::uint64_t data[8];
};
struct Heuristic {
  Algorithm algorithm;
  std::size_t workspace;
  int status;
  float waves;
  int reserved[4];
};
constexpr std::uint64_t kMagic = 0x6661b1a5;
constexpr std::size_t kWorkspace = 4096;

float read(const void* data, int type, std::size_t at) {
  if (type == kFp32) return static_cast<const float*>(data)[at];
  const std::uint32_t bits = static_cast<std::uint32_t>(static_cast<const std::uint16_t*>(data)[at]) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

void write(void* data, int type, std::size_t at, float value) {
  if (type == kFp32) {
    static_cast<float*>(data)[at] = value;
    return;
  }
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  static_cast<std::uint16_t*>(data)[at] = static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

template <class Value>
int set(Value& target, const void* value, std::size_t bytes) {
  if (bytes != sizeof target) return kInvalidValue;
  std::memcpy(&target, value, bytes);
  return kSuccess;
}

bool fits(const Operation& o, const Layout& a, const Layout& b, const Layout& d) {
  const std::uint64_t m = o.transpose_a ? a.columns : a.rows, k = o.transpose_a ? a.rows : a.columns;
  const std::uint64_t bk = o.transpose_b ? b.columns : b.rows, n = o.transpose_b ? b.rows : b.columns;
  const bool lds = a.ld >= static_cast<std::int64_t>(a.rows) && b.ld >= static_cast<std::int64_t>(b.rows) &&
                   d.ld >= static_cast<std::int64_t>(d.rows);
  const bool types = a.type == kBf16 && b.type == kBf16 && (d.type == kBf16 || d.type == kFp32);
  return k == bk && d.rows == m && d.columns == n && lds && types;
}

bool aligned(const void* pointer, std::uint64_t alignment) {
  return reinterpret_cast<std::uintptr_t>(pointer) % alignment == 0;
}

}  // namespace

extern "C" {

std::size_t cublasLtGetVersion() { return 130203; }

int cublasLtCreate(void** handle) {
  if (FAULT == FAULT_NOT_STARTING) return kNotInitialized;
  *handle = new std::uint64_t(kMagic);
  return kSuccess;
}
int cublasLtDestroy(void* handle) {
  delete static_cast<std::uint64_t*>(handle);
  return kSuccess;
}

int cublasLtMatmulDescCreate(void** operation, int compute, int scale) {
  if (compute != kComputeFp32 || scale != kFp32) return kInvalidValue;
  *operation = new Operation;
  return kSuccess;
}
int cublasLtMatmulDescDestroy(void* operation) {
  delete static_cast<Operation*>(operation);
  return kSuccess;
}
int cublasLtMatmulDescSetAttribute(void* operation, int attribute, const void* value, std::size_t bytes) {
  Operation& o = *static_cast<Operation*>(operation);
  switch (attribute) {
    case 3: return set(o.transpose_a, value, bytes);
    case 4: return set(o.transpose_b, value, bytes);
    default: return kInvalidValue;
  }
}

int cublasLtMatrixLayoutCreate(void** layout, int type, std::uint64_t rows, std::uint64_t columns, std::int64_t ld) {
  *layout = new Layout{type, rows, columns, ld};
  return kSuccess;
}
int cublasLtMatrixLayoutDestroy(void* layout) {
  delete static_cast<Layout*>(layout);
  return kSuccess;
}

int cublasLtMatmulPreferenceCreate(void** preference) {
  *preference = new Preference;
  return kSuccess;
}
int cublasLtMatmulPreferenceDestroy(void* preference) {
  delete static_cast<Preference*>(preference);
  return kSuccess;
}
int cublasLtMatmulPreferenceSetAttribute(void* preference, int attribute, const void* value, std::size_t bytes) {
  Preference& p = *static_cast<Preference*>(preference);
  std::uint32_t reductions;
  if (attribute == 1) return set(p.workspace, value, bytes);
  if (attribute == 3) return set(reductions, value, bytes);
  if (attribute >= 5 && attribute <= 8) return set(p.alignment[attribute - 5], value, bytes);
  return kInvalidValue;
}

int cublasLtMatmulAlgoGetHeuristic(void* handle, void* operation, void* a, void* b, void* c, void* d, void* preference,
                                   int capacity, Heuristic* found, int* count) {
  const Layout& result = *static_cast<Layout*>(d);
  const Preference& p = *static_cast<Preference*>(preference);
  if (*static_cast<std::uint64_t*>(handle) != kMagic || capacity < 1 || c != d) return kInvalidValue;
  *count = 0;
  if (!fits(*static_cast<Operation*>(operation), *static_cast<Layout*>(a), *static_cast<Layout*>(b), result))
    return kInvalidValue;
  if (p.workspace < kWorkspace || (FAULT == FAULT_NO_LARGE_ALGORITHM && result.columns > 600)) return kNotSupported;
  // Data for the product: a mark of this heuristic, and the declared alignment.
  *found = {{{kMagic, p.alignment[0], p.alignment[1], p.alignment[2], 0, 0, 0, 0}}, kWorkspace, kSuccess, 1.0f, {}};
  *count = 1;
  if (FAULT == FAULT_FIRST_ALGORITHM && capacity > 1) {
    found[1] = found[0];
    found[0].algorithm.data[4] = 1;
    *count = 2;
  }
  return kSuccess;
}

#if FAULT == FAULT_MISSING_FUNCTION
#define cublasLtMatmul cublasLtMatmulOfAnotherName
#endif
int cublasLtMatmul(void* handle, void* operation, const void* alpha, const void* a, void* a_layout, const void* b,
                   void* b_layout, const void* beta, const void* c, void* c_layout, void* d, void* d_layout,
                   const Algorithm* algorithm, void* workspace, std::size_t workspace_bytes, void*) {
  const Operation& o = *static_cast<Operation*>(operation);
  const Layout &al = *static_cast<Layout*>(a_layout), &bl = *static_cast<Layout*>(b_layout),
               &dl = *static_cast<Layout*>(d_layout);
  if (*static_cast<std::uint64_t*>(handle) != kMagic || algorithm->data[0] != kMagic || c != d || c_layout != d_layout)
    return kInvalidValue;
  if (!fits(o, al, bl, dl) || workspace == nullptr || workspace_bytes < kWorkspace || !aligned(workspace, 16))
    return kInvalidValue;
  if (!aligned(a, algorithm->data[1]) || !aligned(b, algorithm->data[2]) || !aligned(d, algorithm->data[3]))
    return kInvalidValue;
  if (algorithm->data[4] != 0) return kNotSupported;
  static std::uint64_t last_rows = 0;
  const bool again = last_rows == dl.columns;
  last_rows = dl.columns;
  if (FAULT == FAULT_FAILING_LATE && again && dl.columns > 64) return kFailed;
  std::memset(workspace, 0x55, kWorkspace);

  const std::uint64_t depth = o.transpose_a ? al.rows : al.columns;
  const float scale = *static_cast<const float*>(alpha),
              kept = FAULT == FAULT_IGNORES_BETA ? 0 : *static_cast<const float*>(beta);
  for (std::uint64_t row = 0; row < dl.rows; ++row)
    for (std::uint64_t column = 0; column < dl.columns; ++column) {
      float sum = 0;
      for (std::uint64_t k = 0; k < depth; ++k)
        sum += read(a, al.type,
                    o.transpose_a ? row * static_cast<std::uint64_t>(al.ld) + k
                                  : k * static_cast<std::uint64_t>(al.ld) + row) *
               read(b, bl.type,
                    o.transpose_b ? k * static_cast<std::uint64_t>(bl.ld) + column
                                  : column * static_cast<std::uint64_t>(bl.ld) + k);
      const std::size_t at = column * static_cast<std::uint64_t>(dl.ld) + row;
      float value = scale * sum + (kept == 0 ? 0 : kept * read(c, dl.type, at));
      if (FAULT == FAULT_WRONG_RESULT && row == 5 && column == 7) value += 1;
      write(d, dl.type, at, value);
    }
  return kSuccess;
}
}
