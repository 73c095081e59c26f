// The catalogue as resources: a Markdown page for each finding, cause, format and guide.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "osler/base/result.h"

namespace osler::cli::mcp {

/// A page without its text.
struct Page {
  std::string uri;   ///< "osler://finding/overfitting"
  std::string kind;  ///< "finding", "cause", "format", "guide"
  std::string id;
  std::string title;
};

/// Every page, kind by kind.
[[nodiscard]] const std::vector<Page>& pages();
/// The kinds, each with what it holds in a few words.
struct PageKind {
  std::string_view name;
  std::string_view about;
};
[[nodiscard]] const std::vector<PageKind>& page_kinds();

/// The page at an address, as Markdown.
[[nodiscard]] Result<std::string> read_page(std::string_view uri);

/// What `explain` says of an id: every page that has it, or a setting ("loss-diverging.stays"). Short: the title and
/// the sections that say what it is and when it is harmless. Fails with what may have been meant.
[[nodiscard]] Result<std::string> explain(const std::string& id, bool whole);

}  // namespace osler::cli::mcp
