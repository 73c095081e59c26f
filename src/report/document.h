// A page of documentation for a terminal, of anything that has a title, an id and Markdown.
#pragma once

#include <string>
#include <string_view>

#include "report/layout.h"

namespace osler::layout {

/// What stands above a page.
struct Heading {
  std::string_view title;
  std::string_view kind;  ///< "finding", "cause", "format", ...
  std::string_view id;
};

void write_heading(Sheet& sheet, const Heading& heading);
[[nodiscard]] std::string render_document(const Heading& heading, std::string_view markdown,
                                          const TextOptions& options);

}  // namespace osler::layout
