#pragma once

#include <stdexcept>
#include <string>

namespace starpo {

// An error that the user can fix: a stable snake_case code, a message (what is wrong) and a hint (what to do). Broken
// invariants throw other exceptions.
class Error : public std::runtime_error {
 public:
  Error(std::string code, const std::string& message, std::string hint)
      : std::runtime_error(message), code_(std::move(code)), hint_(std::move(hint)) {}

  const std::string& code() const { return code_; }
  const std::string& hint() const { return hint_; }

 private:
  std::string code_;
  std::string hint_;
};

}  // namespace starpo
