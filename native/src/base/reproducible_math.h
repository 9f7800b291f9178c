#pragma once

// Bit-identical results need IEEE arithmetic. These options usually come from CXXFLAGS in the environment.
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || \
    (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "Remove -ffast-math, -Ofast and similar options from CXXFLAGS: they change results and disable checks for NaN."
#endif

namespace starpo {

// Elementary functions built from double additions and multiplications, so that results are bit-identical on every
// machine. Results of libm depend on its version and the CPU. Errors are below 1e-15: relative, or absolute for sine
// and cosine with |x| < 1e6.
double reproducible_log(double x);  // x > 0; NaN for NaN and x < 0, -infinity for 0
double reproducible_exp(double x);
double reproducible_sin(double x);
double reproducible_cos(double x);

}  // namespace starpo
