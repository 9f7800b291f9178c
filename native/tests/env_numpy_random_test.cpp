#include <doctest/doctest.h>

#include "env/noise.h"
#include "env/reference/numpy_random.h"
#include "env/reference/python_number.h"
#include "vectors.h"

using namespace starpo;

TEST_CASE("NumpyRandom matches numpy's default_rng") {
  for (const auto& vector : read_vectors("frozenlake.json", "rng_pcg64")) {
    CAPTURE(vector.at("seed"));
    NumpyRandom random(vector.at("seed").get<std::uint64_t>());
    for (const double expected : vector.at("random3")) CHECK(random.random() == expected);
    for (const std::uint32_t expected : vector.at("then_integers4_size2")) CHECK(random.integers(4) == expected);
    CHECK(random.random() == vector.at("then_random").get<double>());
    CHECK(random.integers(6) == vector.at("then_integers6").get<std::uint32_t>());
    CHECK(random.random() == vector.at("then_random2").get<double>());
    CHECK(random.integers(6) == vector.at("then_integers6_b").get<std::uint32_t>());
  }
}

TEST_CASE("NumpyRandom does not draw for the only integer below 1") {
  NumpyRandom drawn(7), fresh(7);
  CHECK(drawn.integers(1) == 0);
  CHECK(drawn.random() == fresh.random());
}

TEST_CASE("NumpyRandom redraws where Lemire's method rejects") {
  // numpy.random.default_rng(3).integers(3 * 2**30, size=8, dtype=numpy.uint32): a quarter of the draws are rejected
  NumpyRandom random(3);
  for (const std::uint32_t expected :
       {275895278u, 578019063u, 762820035u, 584216872u, 2581085717u, 1875275178u, 126913354u, 1070096069u})
    CHECK(random.integers(3u << 30) == expected);
}

TEST_CASE("a noise stream is uniform, keeps its position when copied, and depends on seed, stream and counter") {
  const Philox random{1, RandomStream::environment_noise};
  NoiseStream stream(random, {2, 3, 0});
  double sum = 0;
  for (int i = 0; i < 4000; ++i) {
    const double value = stream.draw();
    CHECK(value >= 0);
    CHECK(value < 1);
    sum += value;
  }
  CHECK(sum / 4000 == doctest::Approx(0.5).epsilon(0.03));
  NoiseStream copy = stream;
  CHECK(copy.draw() == stream.draw());
  const double first = NoiseStream(random, {2, 3, 0}).draw();
  CHECK(first == NoiseStream(random, {2, 3, 0}).draw());
  for (NoiseStream other : {NoiseStream({2, RandomStream::environment_noise}, {2, 3, 0}),
                            NoiseStream({1, RandomStream::evaluation_noise}, {2, 3, 0}), NoiseStream(random, {1, 3, 0}),
                            NoiseStream(random, {2, 4, 0}), NoiseStream(random, {2, 3, 1})})
    CHECK(other.draw() != first);
}

TEST_CASE("numbers are formatted like Python's str()") {
  CHECK(format_python_number(0, true) == "0");
  CHECK(format_python_number(1, true) == "1");
  CHECK(format_python_number(-3, true) == "-3");
  CHECK(format_python_number(0, false) == "0.0");
  CHECK(format_python_number(-0.0, false) == "-0.0");
  CHECK(format_python_number(-0.1 - 0.1 - 0.1, false) == "-0.30000000000000004");
  CHECK(format_python_number(1e-4, false) == "0.0001");
  CHECK(format_python_number(1e-5, false) == "1e-05");
  CHECK(format_python_number(1.5e-7, false) == "1.5e-07");
  CHECK(format_python_number(123456789012345.0, false) == "123456789012345.0");
  CHECK(format_python_number(9999999999999998.0, false) == "9999999999999998.0");
  CHECK(format_python_number(1e16, false) == "1e+16");
  CHECK(format_python_number(1e22, false) == "1e+22");
  CHECK(format_python_number(5e-324, false) == "5e-324");
}
