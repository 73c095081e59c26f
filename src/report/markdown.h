// Markdown for a terminal: the subset that the catalogue's pages use.
#pragma once

#include <string>
#include <string_view>

#include "report/layout.h"

namespace osler::layout {

/// Writes headings, paragraphs, lists (nested by indentation), tables, quotes, fenced code and rules on a sheet.
void write_markdown(Sheet& sheet, std::string_view markdown);

/// The inline part of Markdown: `code`, **strong**, *emphasis*, [text](address). `text` must be clean already.
[[nodiscard]] std::string inline_markdown(const Sheet& sheet, std::string_view text);

}  // namespace osler::layout
