// Included by kernel_table.h.

namespace starpo::STARPO_ISA {

// Returns e^x with an error below 2 units in the last place. x is clamped to [-87, 88], and NaN stays NaN. With x = n
// ln 2 + r and |r| <= ln 2 / 2, the result is 2^n times the Taylor polynomial of degree 7 in r, whose remainder is
// 5e-9. Library functions have different bits on different machines; this function doesn't.
inline Vec exponential(Vec x) {
  const Vec rounding = broadcast(12582912.0f);  // 1.5 * 2^23: adding it rounds to an integer
  x = min(broadcast(88.0f), max(broadcast(-87.0f), x));
  const Vec shifted = fma(x, broadcast(1.44269504f), rounding);
  const Vec n = sub(shifted, rounding);
  Vec r = fma(n, broadcast(-0.693145752f), x);
  r = fma(n, broadcast(-1.42860677e-6f), r);
  Vec p = broadcast(1.98412698e-4f);
  p = fma(p, r, broadcast(1.38888889e-3f));
  p = fma(p, r, broadcast(8.33333333e-3f));
  p = fma(p, r, broadcast(4.16666667e-2f));
  p = fma(p, r, broadcast(1.66666667e-1f));
  p = fma(p, r, broadcast(0.5f));
  p = fma(p, r, broadcast(1.0f));
  p = fma(p, r, broadcast(1.0f));
  return mul(p, power_of_two(shifted));
}

}  // namespace starpo::STARPO_ISA
