#pragma once

#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace starpo::fuzz {

// Takes bytes from outside the program to where they are read. Bad bytes end in an Error with a code and a hint; any
// other exception, a broken requirement and what a sanitizer sees is a finding.
using Target = void (*)(std::string_view input);

void control_lines(std::string_view);
void env_protocol(std::string_view);
void journal_tail(std::string_view);
void reply(std::string_view);
void run_json(std::string_view);
void safetensors(std::string_view);
void tokenizer(std::string_view);

struct NamedTarget {
  std::string_view name;  // its folder of corpora/
  Target run;
};

std::span<const NamedTarget> targets();

// Ends the process where it doesn't hold, so that a fuzzer keeps the input.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "required: %s\n", what);
  std::abort();
}

// Whether an action succeeds; where it doesn't, its error must be one that a person can act on.
template <class Action>
bool succeeds(Action&& action) {
  try {
    action();
    return true;
  } catch (const Error& error) {
    const std::string code = error.code();
    require(!code.empty() && code.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos,
            "an error has a code in snake_case");
    require(*error.what() != '\0' && !error.hint().empty(), "an error says what is wrong and what to do");
    return false;
  }
}

}  // namespace starpo::fuzz
