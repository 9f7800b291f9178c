#pragma once

#include <doctest/doctest.h>

#include <string>

#include "base/error.h"

// Returns the code of the Error that an action throws, or "none". Checks that the error has a hint.
template <class Action>
std::string error_code_of(Action&& action) {
  try {
    action();
  } catch (const starpo::Error& error) {
    CHECK_FALSE(error.hint().empty());
    CHECK_FALSE(std::string(error.what()).empty());
    return error.code();
  }
  return "none";
}
