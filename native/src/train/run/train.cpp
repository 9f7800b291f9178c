#include "train/run/train.h"

#include <cstdio>
#include <new>
#include <string>

#include "base/error.h"
#include "config/run_config.h"
#include "files/descriptor.h"
#include "journal/journal.h"
#include "train/run/training_run.h"

namespace starpo {
namespace {

int fail(Journal& journal, int iteration, const Error& error) {
  std::fprintf(stderr, "error: %s\n  code: %s\n  hint: %s\n", error.what(), error.code().c_str(), error.hint().c_str());
  try {
    journal.failed(error.code(), error.what(), error.hint(), iteration);
  } catch (const Error&) {
    // The error is on stderr already.
  }
  return 1;
}

}  // namespace

int run_training(const std::filesystem::path& run_directory, const std::string& device) {
  RunConfig config = read_run_config(run_directory / "run.json");
  if (!device.empty()) config.device = device;
  check_trainable(config);
  Journal journal(run_directory);
  TrainingRun run(run_directory, journal);
  try {
    run.load(config);
    const RunEnd end = run.run();
    journal.stopped(end.reason, run.iteration(), end.message);
    return 0;
  } catch (const Error& error) {
    return fail(journal, run.iteration(), error);
  } catch (const std::bad_alloc&) {
    return fail(journal, run.iteration(),
                Error("out_of_memory", "the machine does not have enough memory for this configuration",
                      "lower rollout.slots or rollout.context, or set a smaller optimizer.micro_batch_tokens (0 "
                      "chooses one); critic.model full needs as much memory as the policy, head almost none"));
  } catch (const std::exception& exception) {
    return fail(journal, run.iteration(), unhandled_error(exception));
  }
}

}  // namespace starpo
