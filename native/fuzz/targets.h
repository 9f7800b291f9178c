#pragma once

#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace starpo::fuzz {

// Parses untrusted input. Invalid input must throw an Error with a code and a hint. Any other exception, a violated
// requirement and a sanitizer report is a finding.
using Target = void (*)(std::string_view input);

void control_lines(std::string_view);
void env_protocol(std::string_view);
void journal_tail(std::string_view);
void response(std::string_view);
void run_json(std::string_view);
void safetensors(std::string_view);
void tokenizer(std::string_view);
void webshop(std::string_view);

struct NamedTarget {
  std::string_view name;  // of the folder in corpora/
  Target run;
};

std::span<const NamedTarget> targets();

// Aborts if the requirement is violated, so that the fuzzer keeps the input.
inline void require(bool condition, const char* requirement) {
  if (condition) return;
  std::fprintf(stderr, "violated requirement: %s\n", requirement);
  std::abort();
}

// Returns whether an action succeeds. Its error must have a code, a message and a hint.
template <class Action>
bool succeeds(Action&& action) {
  try {
    action();
    return true;
  } catch (const Error& error) {
    const std::string code = error.code();
    require(!code.empty() && code.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos,
            "an error has a code in snake_case");
    require(*error.what() != '\0' && !error.hint().empty(), "an error has a message and a hint");
    return false;
  }
}

}  // namespace starpo::fuzz
