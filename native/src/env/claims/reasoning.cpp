#include "env/claims/reasoning.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace starpo {
namespace {

using Kind = ReasoningToken::Kind;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Bytes of other scripts count as letters, so that names in any script are words.
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

// Adds a word, or the two words of a contraction.
void add_word(std::vector<ReasoningToken>& tokens, std::string text, std::size_t start, std::size_t end) {
  constexpr std::string_view curly = "\u2019";
  for (auto at = text.find(curly); at != std::string::npos; at = text.find(curly)) text.replace(at, curly.size(), "'");
  std::ranges::transform(text, text.begin(), lower);
  const auto add = [&](std::string word) {
    tokens.push_back({.kind = Kind::word, .text = std::move(word), .start = start, .end = end});
  };
  const auto apostrophe = text.find('\'');
  const std::string ending = apostrophe == std::string::npos ? "" : text.substr(apostrophe + 1);
  if (text == "cannot" || text == "can't") {
    add("can");
    add("not");
  } else if (text.size() > 3 && text.ends_with("n't")) {
    add(text.substr(0, text.size() - 3));
    add("not");
  } else if (apostrophe != std::string::npos && apostrophe > 0) {
    add(text.substr(0, apostrophe));
    if (ending == "s" || ending == "re" || ending == "m") add("is");
    if (ending == "ll") add("will");
  } else {
    add(std::move(text));
  }
}

}  // namespace

bool ReasoningToken::is_any(std::initializer_list<std::string_view> words) const {
  return std::ranges::find(words, std::string_view(text)) != words.end();
}

std::vector<Sentence> sentences_of(std::string_view reasoning) {
  std::vector<Sentence> sentences(1);
  for (std::size_t at = 0; at < reasoning.size();) {
    auto& tokens = sentences.back().tokens;
    const char c = reasoning[at];
    std::size_t end = at + 1;
    if (is_letter(c)) {
      while (end < reasoning.size() && (is_letter(reasoning[end]) || reasoning[end] == '\'')) ++end;
      add_word(tokens, std::string(reasoning.substr(at, end - at)), at, end);
    } else if (is_digit(c)) {
      while (end < reasoning.size() && is_digit(reasoning[end])) ++end;
      if (end + 1 < reasoning.size() && reasoning[end] == '.' && is_digit(reasoning[end + 1]))
        for (++end; end < reasoning.size() && is_digit(reasoning[end]);) ++end;
      const std::string text(reasoning.substr(at, end - at));
      tokens.push_back(
          {.kind = Kind::number, .text = text, .number = std::strtod(text.c_str(), nullptr), .start = at, .end = end});
    } else if (c == '.' || c == '!' || c == '?' || c == ';' || c == '\n') {
      if (c == '?') sentences.back().is_claim = false;
      if (!tokens.empty()) sentences.emplace_back();
    } else if (c != ' ' && c != '\t' && c != '\r') {
      tokens.push_back({.kind = Kind::mark, .text = std::string(1, c), .start = at, .end = end});
    }
    at = end;
  }
  if (sentences.back().tokens.empty()) sentences.pop_back();
  for (Sentence& sentence : sentences)
    for (const ReasoningToken& token : sentence.tokens)
      if (token.is_any({"if", "might", "may", "maybe", "perhaps", "could", "whether", "unless", "suppose"}))
        sentence.is_claim = false;
  return sentences;
}

void add_once(std::vector<Claim>& claims, std::string_view reasoning, Claim claim) {
  const auto text_of = [&](const Claim& each) { return reasoning.substr(each.start, each.end - each.start); };
  const bool is_repeated =
      std::ranges::any_of(claims, [&](const Claim& other) { return text_of(other) == text_of(claim); });
  if (!is_repeated) claims.push_back(std::move(claim));
}

}  // namespace starpo
