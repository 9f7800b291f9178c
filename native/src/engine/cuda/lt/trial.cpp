#include "engine/cuda/lt/trial.h"

#include <sstream>
#include <type_traits>

#include "engine/cuda/selftest/check.h"
#include "engine/cuda/selftest/gemm_problem.h"

namespace starpo::cuda::lt {

namespace {

template <typename Out>
std::string try_layout(Stream& stream, Products& products, GemmLayout layout, const char* name, bool accumulate) {
  // Three different sizes, so that an operand taken for its transpose shows.
  GemmProblem<Bf16, Out> problem(stream, layout, 64, 96, 128, 8);
  Gemm<Bf16, Out> gemm = problem.gemm();
  gemm.accumulate = accumulate;
  if constexpr (std::is_same_v<Out, float>)
    if (accumulate) problem.device_c.upload(stream, problem.before);
  if (!products.multiply(stream, layout, gemm)) return std::string("it has no algorithm for the product ") + name;
  const double error = normalised_mean_square_error(problem.result(stream), problem.reference(false, accumulate));
  const double tolerance = std::is_same_v<Out, float> ? fp32_tolerance : bf16_tolerance;
  if (error <= tolerance) return "";
  std::ostringstream text;
  text << "the error of its product " << name << " is " << error << " where " << tolerance << " is allowed";
  return text.str();
}

}  // namespace

std::string trial(Stream& stream, Products& products) {
  std::string wrong = try_layout<float>(stream, products, GemmLayout::nt, "nt", false);
  if (wrong.empty()) wrong = try_layout<Bf16>(stream, products, GemmLayout::nt, "nt, rounded,", false);
  if (wrong.empty()) wrong = try_layout<Bf16>(stream, products, GemmLayout::nn, "nn, rounded,", false);
  if (wrong.empty()) wrong = try_layout<float>(stream, products, GemmLayout::tn, "tn, accumulated,", true);
  return wrong;
}

}  // namespace starpo::cuda::lt
