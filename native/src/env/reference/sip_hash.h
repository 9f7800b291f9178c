#pragma once

#include <cstdint>
#include <string_view>

namespace starpo {

// SipHash-c-d (Aumasson and Bernstein 2012) with key 0. c: rounds for each eight bytes, d: rounds at the end.
std::uint64_t sip_hash(std::string_view text, int c, int d);

// Python's hash of a text of ASCII letters where PYTHONHASHSEED is 0: SipHash-1-3 since Python 3.11.
std::int64_t python_text_hash(std::string_view text);

}  // namespace starpo
