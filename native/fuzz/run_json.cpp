#include "config/idle_settings.h"
#include "config/run_config.h"
#include "targets.h"

namespace starpo::fuzz {

void run_json(std::string_view input) {
  succeeds([&] {
    const auto config = parse_run_config(input);
    run_config_warnings(config);
    idle_settings(config);
  });
}

}  // namespace starpo::fuzz
