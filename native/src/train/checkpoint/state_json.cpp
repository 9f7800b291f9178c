#include "train/checkpoint/state_json.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "files/crc32.h"
#include "files/reading.h"
#include "files/shallow_json.h"
#include "files/temporary_file.h"
#include "train/checkpoint/checkpoint_files.h"

namespace starpo {
namespace {

constexpr auto kChecksumKey = "crc32";
constexpr std::uintmax_t kLargestState = 1 << 20;

// Returns the CRC-32 of the members without whitespace, in alphabetical order.
std::string checksum_of(const nlohmann::json& state) {
  return crc32_text(crc32(state.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
}

}  // namespace

void write_state_json(const std::filesystem::path& folder, nlohmann::json state) {
  state[kChecksumKey] = checksum_of(state);
  write_file_atomically(folder / kStateJson, state.dump(2) + "\n");
}

nlohmann::json read_state_json(const std::filesystem::path& folder) {
  const auto fail = [](const char* code, const char* why) {
    return Error(code, kStateJson + std::string(why), "use another checkpoint");
  };
  const auto text = read_text_file(folder / kStateJson, kLargestState);
  if (!text) throw fail("model_file_missing", " is missing or can't be read");
  nlohmann::json state = parse_shallow_json(*text);
  if (!state.is_object()) throw fail("model_file_invalid", " is not a JSON object, or nested too deeply");
  if (const auto stored = state.find(kChecksumKey); stored != state.end()) {
    const nlohmann::json checksum = *stored;
    state.erase(stored);
    if (checksum != checksum_of(state))
      throw fail("model_file_invalid", " was changed after it was written: its checksum differs");
  }
  return state;
}

}  // namespace starpo
