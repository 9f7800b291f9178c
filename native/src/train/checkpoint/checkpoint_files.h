#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "train/replica/replica.h"

// The names of a checkpoint's files and tensors, for reading and writing (docs/formats/checkpoint.md).
namespace starpo {

inline constexpr auto kStateJson = "trainer-state.json";
inline constexpr int kStateVersion = 1;
inline constexpr auto kReplayFile = "replay.cbor";
inline constexpr auto kReplayChecksum = "replay_crc32";  // in trainer-state.json

inline constexpr std::string_view kPartialSuffix = ".partial";    // being written
inline constexpr std::string_view kReplacedSuffix = ".replaced";  // moved aside to be replaced

// A flat tensor of trainer-state.safetensors and its source.
struct StateTensor {
  const char* name;
  Trainable& owner;
  StateVector which;

  std::vector<std::int64_t> shape() const { return {static_cast<std::int64_t>(owner.size())}; }
};

inline std::vector<StateTensor> state_tensors_of(Replica& replica) {
  Trainable& policy = replica.policy->trained();
  std::vector<StateTensor> tensors{{"optimizer.first_moment", policy, StateVector::first_moment},
                                   {"optimizer.second_moment", policy, StateVector::second_moment}};
  if (replica.critic) {
    Trainable& critic = replica.critic->trained();
    tensors.push_back({"critic.weights", critic, StateVector::weights});
    tensors.push_back({"critic.first_moment", critic, StateVector::first_moment});
    tensors.push_back({"critic.second_moment", critic, StateVector::second_moment});
  }
  return tensors;
}

}  // namespace starpo
