#include <doctest/doctest.h>

#include "env/frozen_lake/frozen_lake.h"
#include "repository.h"
#include "tokenizer/tokenizer.h"
#include "vectors.h"

using namespace starpo;

namespace {

Tokenizer starter() { return Tokenizer::load(test::repository() / "resources/starter"); }

}  // namespace

TEST_CASE("the starter's tokenizer encodes as Hugging Face's library does") {
  const auto tokenizer = starter();
  for (const auto& vector : read_vectors("tokenizer.json", "cases")) {
    CAPTURE(vector.at("text").dump());
    CHECK(nlohmann::json(tokenizer.encode(vector.at("text").get<std::string>())) == vector.at("ids"));
  }
}

TEST_CASE("the starter's tokenizer has 512 tokens and the control tokens") {
  const auto tokenizer = starter();
  CHECK(tokenizer.vocab_size() == 512);
  for (const char* name :
       {"<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>", "<answer>", "</answer>"}) {
    const std::int32_t id = tokenizer.token_id(name);
    CHECK(tokenizer.decode(std::span(&id, 1)) == name);
  }
}

TEST_CASE("words of reasoning and prompts are one token, at the start and after a space") {
  const auto tokenizer = starter();
  for (const std::string word :
       {"Up",     "Down",   "Left", "Right",   "player", "goal",   "hole",      "holes",     "at",       "go",
        "to",     "the",    "I",    "need",    "safe",   "path",   "row",       "column",    "turn",     "state",
        "reward", "choose", "arm",  "pays",    "more",   "system", "user",      "assistant", "points",   "try",
        "then",   "avoid",  "way",  "Phoenix", "Dragon", "Trader", "Librarian", "Teacher",   "Engineer", "||"}) {
    CAPTURE(word);
    CHECK(tokenizer.encode(word).size() == 1);
    CHECK(tokenizer.encode(" " + word).size() == 1);
  }
  for (const char* symbol : {".", ",", ":", "√", "\n", "0", "9", "<think>", "</think>", "<answer>", "</answer>"})
    CHECK(tokenizer.encode(symbol).size() == 1);
}

TEST_CASE("boards have one token per cell and line end") {
  const auto tokenizer = starter();
  const std::vector<std::string> cells{"P", "_", "O", "G", "X", "√", "#", "S", ".", "\n"};
  std::vector<std::int32_t> alone;
  for (const auto& cell : cells) alone.push_back(tokenizer.encode(cell).at(0));
  for (std::size_t a = 0; a < cells.size(); ++a)
    for (std::size_t b = 0; b < cells.size(); ++b)
      for (std::size_t c = 0; c < cells.size(); ++c)
        CHECK(tokenizer.encode(cells[a] + cells[b] + cells[c]) == std::vector{alone[a], alone[b], alone[c]});

  FrozenLake lake(
      {.size = 8, .p = 0.6, .is_slippery = false, .success_rate = 1, .observation_format = LakeObservation::grid});
  lake.reset(3, 0);
  CHECK(tokenizer.encode(lake.observation()).size() == 8 * 8 + 7);
}

TEST_CASE("digits are single tokens") {
  const auto tokenizer = starter();
  CHECK(tokenizer.encode("1234567890").size() == 10);
  CHECK(tokenizer.encode("player 12,3").size() == 1 + 1 + 2 + 1 + 1);
}
