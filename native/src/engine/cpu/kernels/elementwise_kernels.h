// Included by kernel_table.h, after exp_kernel.h.

namespace starpo::STARPO_ISA {

inline int lanes(int count) { return count < 16 ? count : 16; }
// Load or store the first n lanes.
inline Vec get(const float* p, int n) { return n == 16 ? load(p) : load_n(p, n); }
inline void put(float* p, Vec a, int n) {
  if (n == 16)
    store(p, a);
  else
    store_n(p, a, n);
}

inline void add_to(std::size_t count, const float* x, float* y) {
  for (std::size_t i = 0; i < count; i += 16) {
    const int n = count - i < 16 ? static_cast<int>(count - i) : 16;
    put(y + i, add(get(y + i, n), get(x + i, n)), n);
  }
}

template <int Vecs>
inline void column_sums_of(int rows, int n, const float* x, std::ptrdiff_t stride, float* sums) {
  Vec sum[Vecs];
  for (int v = 0; v < Vecs; ++v) sum[v] = get(sums + 16 * v, n);
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < Vecs; ++v) sum[v] = add(sum[v], get(x + r * stride + 16 * v, n));
  for (int v = 0; v < Vecs; ++v) put(sums + 16 * v, sum[v], n);
}

inline void column_sums(int rows, int columns, const float* x, std::ptrdiff_t stride, float* sums) {
  int c = 0;
  for (; c + 64 <= columns; c += 64) column_sums_of<4>(rows, 16, x + c, stride, sums + c);
  for (; c < columns; c += 16) column_sums_of<1>(rows, lanes(columns - c), x + c, stride, sums + c);
}

// Rotary position embedding (Su et al., arXiv 2104.09864) in Hugging Face's layout: element i of the first half of a
// head pairs with element i of the second half.
inline void rotate(int rows, float* x, std::ptrdiff_t stride, int heads, int head_dim, const std::int32_t* positions,
                   const float* cosines, const float* sines, float direction) {
  const int half = head_dim / 2;
  const Vec sign = broadcast(direction);
  for (int r = 0; r < rows; ++r) {
    const std::ptrdiff_t angle = static_cast<std::ptrdiff_t>(positions[r]) * half;
    for (int i = 0; i < half; i += 16) {
      const int n = lanes(half - i);
      const Vec c = get(cosines + angle + i, n), s = mul(get(sines + angle + i, n), sign);
      for (int h = 0; h < heads; ++h) {
        float* const low = x + r * stride + h * head_dim + i;
        float* const high = low + half;
        const Vec a = get(low, n), b = get(high, n);
        put(low, sub(mul(a, c), mul(b, s)), n);
        put(high, fma(a, s, mul(b, c)), n);
      }
    }
  }
}

inline Vec sigmoid(Vec x) { return div(broadcast(1.0f), add(broadcast(1.0f), exponential(sub(zero(), x)))); }

inline void swiglu(int rows, int columns, const float* gate_up, float* hidden) {
  for (int r = 0; r < rows; ++r, gate_up += 2 * columns, hidden += columns)
    for (int i = 0; i < columns; i += 16) {
      const int n = lanes(columns - i);
      const Vec gate = get(gate_up + i, n), up = get(gate_up + columns + i, n);
      put(hidden + i, mul(mul(gate, sigmoid(gate)), up), n);
    }
}

inline void swiglu_backward(int rows, int columns, const float* gate_up, const float* hidden_gradient,
                            float* gate_up_gradient, float* hidden) {
  const Vec one = broadcast(1.0f);
  for (int r = 0; r < rows;
       ++r, gate_up += 2 * columns, hidden += columns, gate_up_gradient += 2 * columns, hidden_gradient += columns)
    for (int i = 0; i < columns; i += 16) {
      const int n = lanes(columns - i);
      const Vec gate = get(gate_up + i, n), up = get(gate_up + columns + i, n), d = get(hidden_gradient + i, n);
      const Vec s = sigmoid(gate), silu = mul(gate, s);
      const Vec slope = mul(s, fma(gate, sub(one, s), one));
      put(hidden + i, mul(silu, up), n);
      put(gate_up_gradient + i, mul(mul(d, up), slope), n);
      put(gate_up_gradient + columns + i, mul(d, silu), n);
    }
}

}  // namespace starpo::STARPO_ISA
