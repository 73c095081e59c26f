// A page of documentation for a terminal, of anything that has a title, an id and Markdown.
#include "report/document.h"

#include <fmt/format.h>

#include "report/markdown.h"

namespace osler::layout {

void write_heading(Sheet& sheet, const Heading& heading) {
  sheet.paragraph("", sheet.text(heading.title, Ink::strong));
  sheet.paragraph("", sheet.text(fmt::format("{} {} {}", heading.kind, sheet.glyphs().dot, heading.id), Ink::faint));
}

std::string render_document(const Heading& heading, std::string_view markdown, const TextOptions& options) {
  Sheet sheet(options);
  write_heading(sheet, heading);
  sheet.blank();
  write_markdown(sheet, markdown);
  return sheet.str();
}

}  // namespace osler::layout
