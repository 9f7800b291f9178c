#pragma once

#include <filesystem>
#include <functional>
#include <future>
#include <string>

#include "journal/journal.h"
#include "rollout/rollout_writer.h"

namespace starpo {

// Writes a set's episodes in a thread of their own while the run goes on, one set at a time. The journal is told by the
// run's thread and only of whole files, so its events keep their order. What `write` reads must outlive the writer,
// which waits for its thread.
class BackgroundWriter {
 public:
  BackgroundWriter(std::filesystem::path run_directory, Journal&);

  // The set before must have been told of.
  void begin(int iteration, const std::string& split, std::function<void(RolloutWriter&)> write);

  // Says in the journal that the set's files are there, if they are by now; waits for nothing. Errors: those of
  // RolloutWriter and Journal.
  void tell_if_written();

  // The same, but waits for the set, unless it was told of already. Returns the seconds that writing took; 0 where no
  // set was under way.
  double tell();

  // The same while another failure is under way: that one matters more than what may be wrong with writing.
  void tell_despite_failure() noexcept;

 private:
  struct Written {
    int iteration;
    std::string split;
    RolloutFiles files;
    double seconds;
  };

  void say();

  std::filesystem::path run_directory_;
  Journal& journal_;
  std::future<Written> writing_;  // of std::async, whose destructor waits
  double seconds_ = 0;            // of the last set that was told of, until `tell` has given them
};

}  // namespace starpo
