#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "env/claims/claim.h"

// Reads the words of reasoning for the rules that check claims.
namespace starpo {

struct ReasoningToken {
  enum class Kind { word, number, mark };
  Kind kind;
  std::string text;   // words in lower case, without contractions: "can't" is "can" and "not"
  double number = 0;  // kind number
  std::size_t start, end;
  bool is_used = false;  // part of a claim

  bool is(std::string_view word) const { return text == word; }
  bool is_any(std::initializer_list<std::string_view> words) const;
};

struct Sentence {
  std::vector<ReasoningToken> tokens;
  // Conditions, guesses and questions are not claims: "if", "might", "maybe", "?".
  bool is_claim = true;
};

std::vector<Sentence> sentences_of(std::string_view reasoning);

// Adds a claim unless one with the same words exists.
void add_once(std::vector<Claim>&, std::string_view reasoning, Claim);

}  // namespace starpo
