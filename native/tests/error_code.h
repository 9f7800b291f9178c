#pragma once

#include <doctest/doctest.h>

#include <string>

#include "base/error.h"

// The code of the Error that an action throws, after checking that it has a hint; "none" where it throws none.
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
