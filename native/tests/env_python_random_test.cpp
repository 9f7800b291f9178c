#include <doctest/doctest.h>

#include <random>

#include "env/reference/python_random.h"
#include "env/reference/sip_hash.h"
#include "vectors.h"

using namespace starpo;

TEST_CASE("MersenneTwister seeded with one word is the standard's mt19937") {
  MersenneTwister twister(5489u);
  std::mt19937 standard(5489u);
  for (int i = 0; i < 2000; ++i) REQUIRE(twister() == standard());
}

TEST_CASE("MersenneTwister seeded with several words matches the first output of its authors") {
  MersenneTwister random(std::array<std::uint32_t, 4>{0x123, 0x234, 0x345, 0x456});
  for (const std::uint32_t expected : {1067595299u, 955945823u, 477289528u, 4107218783u, 4228976476u})
    CHECK(random() == expected);
}

TEST_CASE("PythonRandom and NumpyLegacyRandom match Python and numpy") {
  for (const auto& vector : read_vectors("sokoban.json", "rng_mt19937")) {
    CAPTURE(vector.at("seed"));
    const auto seed = vector.at("seed").get<std::uint32_t>();
    PythonRandom random(seed);
    for (const double expected : vector.at("py_random3")) CHECK(random.random() == expected);
    for (const std::uint32_t expected : vector.at("py_sample4")) CHECK(random.below(4) == expected);
    for (const std::uint32_t expected : vector.at("py_randint_1_5")) CHECK(1 + random.below(5) == expected);
    for (const std::uint32_t expected : vector.at("py_choice3")) CHECK(random.below(3) == expected);
    NumpyLegacyRandom legacy(seed);
    for (const auto& pair : vector.at("np_randint_n")) CHECK(legacy.integers(pair[0]) == pair[1].get<std::uint32_t>());
  }
}

TEST_CASE("Python seeds with two words for a seed beyond 32 bits") {
  // random.Random(2**40 + 7).random()
  CHECK(PythonRandom((1ull << 40) + 7).random() == 0.6137037779936511);
  CHECK(PythonRandom((1ull << 40) + 7).random() != PythonRandom(7).random());
}

TEST_CASE("text hashes match both SipHash variants of Python") {
  for (const auto& vector : read_vectors("sokoban.json", "reseed_hash_PYTHONHASHSEED0")) {
    const bool older = vector.at("siphash") == "2-4";
    for (std::size_t i = 0; i < vector.at("seeds").size(); ++i) {
      const auto text = std::to_string(vector.at("seeds")[i].get<std::uint64_t>());
      const auto expected = vector.at("hash_str")[i].get<std::int64_t>();
      CHECK(static_cast<std::int64_t>(sip_hash(text, older ? 2 : 1, older ? 4 : 3)) == expected);
      if (!older) CHECK(python_text_hash(text) == expected);
    }
  }
}
