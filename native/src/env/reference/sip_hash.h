#pragma once

#include <cstdint>
#include <string_view>

namespace starpo {

// Computes SipHash-c-d (Aumasson and Bernstein 2012) with key 0. c: rounds per eight bytes, d: final rounds.
std::uint64_t sip_hash(std::string_view text, int c, int d);

// Computes Python's hash of an ASCII string with PYTHONHASHSEED=0: SipHash-1-3 since Python 3.11.
std::int64_t python_text_hash(std::string_view text);

}  // namespace starpo
