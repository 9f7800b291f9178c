#pragma once

#include <exception>
#include <filesystem>
#include <string_view>

#include "base/error.h"

namespace starpo {

// Writes all bytes, repeating partial writes. Returns 0 or errno.
int write_all(int descriptor, std::string_view bytes);

// Returns disk_full or file_unwritable, depending on errno. The trainer opens its files with O_NOFOLLOW, which fails
// with ELOOP for a link: a link in a downloaded run folder could make the trainer overwrite any file of the user.
Error write_error(const std::filesystem::path& file, int error_number);

// Returns the error for an exception that no caller handled: file_unusable or out_of_threads if the operating system
// rejected a file or thread, else internal_error.
Error unhandled_error(const std::exception& exception);

// Returns lock_unavailable: locking failed, but not because another process holds the lock.
Error lock_error(const std::filesystem::path& file, int error_number);

}  // namespace starpo
