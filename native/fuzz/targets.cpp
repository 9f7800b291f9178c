#include "targets.h"

#include <array>

namespace starpo::fuzz {

std::span<const NamedTarget> targets() {
  static constexpr std::array all{
      NamedTarget{"control-lines", control_lines}, NamedTarget{"env-protocol", env_protocol},
      NamedTarget{"journal-tail", journal_tail},   NamedTarget{"response", response},
      NamedTarget{"run-json", run_json},           NamedTarget{"safetensors", safetensors},
      NamedTarget{"tokenizer", tokenizer},         NamedTarget{"webshop", webshop},
  };
  return all;
}

}  // namespace starpo::fuzz
