#include "config/run_config.h"
#include "targets.h"

namespace starpo::fuzz {

void run_json(std::string_view input) {
  succeeds([&] { run_config_warnings(parse_run_config(input)); });
}

}  // namespace starpo::fuzz
