// Where a learner's progress is kept, and how it gets there.
#pragma once

#include <functional>
#include <string>

#include "learn/progress.h"
#include "osler/base/result.h"

namespace osler::cli {

/// The file named by the user, or the usual one in the folder for state. Fails where neither is known.
[[nodiscard]] Result<std::string> progress_file(const std::string& named);

/// What is kept there; nothing yet where there is no file.
[[nodiscard]] Result<learn::Progress> kept_progress(const std::string& path);

/// Reads what is kept, changes it and writes it back, making the folder where it is missing.
[[nodiscard]] Result<learn::Progress> keep_progress(const std::string& path,
                                                    const std::function<void(learn::Progress&)>& change);

}  // namespace osler::cli
