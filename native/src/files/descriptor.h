#pragma once

#include <filesystem>
#include <string_view>

#include "base/error.h"

namespace starpo {

// Writes everything, however often the kernel takes less. Returns 0 or errno.
int write_all(int descriptor, std::string_view bytes);

// disk_full where errno says so, else file_unwritable. The trainer opens its own files with O_NOFOLLOW, for which a
// link is ELOOP: through one, a run folder from elsewhere could have any file of this person's cut and written to.
Error write_error(const std::filesystem::path& file, int error_number);

// lock_unavailable: a lock that can't be had for another reason than that somebody holds it.
Error lock_error(const std::filesystem::path& file, int error_number);

}  // namespace starpo
