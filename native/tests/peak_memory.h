#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace starpo::test {

// Measures the growth of resident memory since construction.
class PeakMemory {
 public:
  PeakMemory() : before_(resident("VmRSS:")) {
    std::ofstream("/proc/self/clear_refs") << 5;
  }  // resets the peak (proc(5))

  std::int64_t bytes() const { return resident("VmHWM:") - before_; }       // peak
  std::int64_t kept_bytes() const { return resident("VmRSS:") - before_; }  // now

 private:
  static std::int64_t resident(const std::string& name) {
    std::ifstream status("/proc/self/status");
    std::int64_t kibibytes = 0;
    for (std::string word; status >> word;)
      if (word == name && status >> kibibytes) break;
    return kibibytes * 1024;
  }

  std::int64_t before_;
};

}  // namespace starpo::test
