// The gallery as a page of documentation, written from visits that were made.
#pragma once

#include <filesystem>
#include <vector>

#include "cli/gallery/show.h"
#include "osler/base/result.h"

namespace osler::cli {

/// Writes a page in Markdown and, into a folder of the page's name beside it, a figure of every patient: the losses
/// before and after the treatment. `command` is what the reader types to get the same.
[[nodiscard]] Result<void> write_page(const std::vector<Made>& all, const std::filesystem::path& page,
                                      const std::string& command);

}  // namespace osler::cli
