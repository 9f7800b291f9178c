#pragma once

#include <filesystem>
#include <functional>
#include <future>
#include <string>

#include "journal/journal.h"
#include "rollout/rollout_writer.h"

namespace starpo {

// Writes a set's episodes in a thread of their own while the run goes on, one set at a time. The journal is told by the run's thread and only of whole files, so its events
// keep their order. What `write` reads must outlive the writer, which waits for its thread.
class BackgroundWriter {
 public:
  BackgroundWriter(std::filesystem::path run_directory, Journal&);

  // The set before must have been told of.
  void begin(int iteration, const std::string& split, std::function<void(RolloutWriter&)> write);

  // Waits for the set and says in the journal that its files are there. Returns the seconds that writing took; 0 where no set is under way. Errors: those of RolloutWriter and Journal.
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

  std::filesystem::path run_directory_;
  Journal& journal_;
  std::future<Written> writing_;  // of std::async, whose destructor waits
};

}  // namespace starpo
