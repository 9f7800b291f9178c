#pragma once

namespace starpo {

// Elementary functions from double additions and multiplications only, so that every machine computes the same bits; a
// library's depend on its version and on the processor. Errors stay below 1e-15 relative (of sine and cosine: absolute,
// |x| < 1e6).
double reproducible_log(double x);  // x > 0; NaN for NaN and x < 0, -infinity for 0
double reproducible_exp(double x);
double reproducible_sin(double x);
double reproducible_cos(double x);

}  // namespace starpo
