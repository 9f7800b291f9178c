#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace starpo {

// Measures a catalogue of WebShop: seconds to open it, searches with whole instructions, and episodes of the scripted
// customer with the observations of `wrapper`. Times are processor times of this thread, so that other load doesn't
// count; wall_seconds are not.
nlohmann::ordered_json measure_webshop(const std::string& catalogue, const std::string& wrapper, int queries,
                                       int episodes);

}  // namespace starpo
