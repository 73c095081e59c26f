// Taking rows and cells out of HTML, without a parser: trainers write plain tables.
#include "formats/notebook/html_table.h"

#include <algorithm>
#include <array>
#include <utility>

namespace osler {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Whether the tag at `at` (behind its '<') is called `name`.
bool is_tag(std::string_view html, std::size_t at, std::string_view name) {
  if (html.size() - at < name.size()) return false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (lower(html[at + i]) != name[i]) return false;
  }
  const char next = at + name.size() < html.size() ? html[at + name.size()] : '>';
  return next == '>' || next == ' ' || next == '/' || next == '\n' || next == '\t';
}

void append_text(std::string_view text, std::string& cell) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kEntities = {
      {{"&nbsp;", " "}, {"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}, {"&quot;", "\""}}};
  for (std::size_t i = 0; i < text.size();) {
    bool replaced = false;
    for (const auto& [entity, character] : kEntities) {
      if (!text.substr(i).starts_with(entity)) continue;
      cell += character;
      i += entity.size();
      replaced = true;
      break;
    }
    if (replaced) continue;
    const char c = text[i++];
    cell += c == '\n' || c == '\r' || c == '\t' || c == '|' ? ' ' : c;
  }
}

/// Collects the rows of one table after another.
class Tables {
 public:
  std::string take(std::string_view html) {
    for (std::size_t at = 0; at < html.size();) {
      const std::size_t open = std::min(html.find('<', at), html.size());
      if (in_cell_) append_text(html.substr(at, open - at), cell_);
      if (open == html.size()) break;
      tag(html, open + 1);
      const std::size_t close = html.find('>', open);
      at = close == std::string_view::npos ? html.size() : close + 1;
    }
    return std::move(text_);
  }

 private:
  void tag(std::string_view html, std::size_t at) {
    if (is_tag(html, at, "table")) table_.clear(), headed_ = false;
    if (is_tag(html, at, "tr")) row_.clear();
    if (is_tag(html, at, "th") || is_tag(html, at, "td")) {
      headed_ |= is_tag(html, at, "th");
      in_cell_ = true;
      cell_.clear();
    }
    if (is_tag(html, at, "/th") || is_tag(html, at, "/td")) {
      in_cell_ = false;
      row_ += "| " + cell_ + ' ';
    }
    if (is_tag(html, at, "/tr") && !row_.empty()) table_ += row_ + "|\n";
    // A blank line parts one table from the next.
    if (is_tag(html, at, "/table") && headed_) text_ += table_ + "\n.\n";
  }

  std::string text_;
  std::string table_;
  std::string row_;
  std::string cell_;
  bool headed_ = false;
  bool in_cell_ = false;
};

}  // namespace

std::string tables_of_html(std::string_view html) {
  return Tables().take(html);
}

}  // namespace osler
