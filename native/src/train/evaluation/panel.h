#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "rollout/episode.h"
#include "rollout/settings.h"

namespace starpo {

// The code of the error of record_panel if the levels differ.
inline constexpr auto kPanelChanged = "panel_changed";

// Returns the panel of an evaluation, the levels that its episodes were played on, as a file's content
// (docs/formats/panels.md). `files_digest`: Environment::files_digest.
std::string panel_of(const EnvironmentConfig&, const std::string& files_digest, std::span<const Episode* const>);

// Writes panels/<label>.json with the first evaluation of a run and compares it with the later ones. Returns the
// SHA-256 of the file. Errors: panel_changed, file_unreadable, disk_full, file_unwritable.
std::string record_panel(const std::filesystem::path& run_directory, const std::string& label,
                         const std::string& panel);

}  // namespace starpo
