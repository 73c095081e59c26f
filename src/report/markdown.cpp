// Markdown for a terminal: the subset that the catalogue's pages use.
#include "report/markdown.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <vector>

#include "report/text_sections.h"

namespace osler::layout {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

/// A line without the sign of a quotation before it.
std::string_view unquoted(std::string_view line) {
  line = trimmed(line);
  return line.starts_with('>') ? trimmed(line.substr(1)) : line;
}

std::size_t indentation(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

int heading_level(std::string_view line) {
  const std::size_t hashes = std::min(line.find_first_not_of('#'), line.size());
  return hashes >= 1 && hashes <= 6 && hashes < line.size() && line[hashes] == ' ' ? static_cast<int>(hashes) : 0;
}

bool is_fence(std::string_view line) {
  return trimmed(line).starts_with("```");
}
bool is_table_row(std::string_view line) {
  return trimmed(line).starts_with('|');
}

bool is_table_rule(std::string_view line) {
  const std::string_view text = trimmed(line);
  return text.starts_with('|') && text.find('-') != std::string_view::npos &&
         text.find_first_not_of("|-: ") == std::string_view::npos;
}

bool is_rule(std::string_view line) {
  const std::string_view text = trimmed(line);
  return text.size() >= 3 && text.find_first_not_of('-') == std::string_view::npos;
}

/// A list item: its marker as shown, and what follows.
struct Item {
  std::string marker;
  std::string_view text;
};
std::optional<Item> list_item(std::string_view line, std::string_view bullet) {
  const std::string_view text = trimmed(line);
  if (text.size() > 2 && (text[0] == '-' || text[0] == '*' || text[0] == '+') && text[1] == ' ') {
    return Item{std::string(bullet) + " ", trimmed(text.substr(2))};
  }
  std::size_t digits = 0;
  while (digits < text.size() && digits < 4 && std::isdigit(static_cast<unsigned char>(text[digits])) != 0) ++digits;
  if (digits == 0 || digits + 1 >= text.size() || text[digits] != '.' || text[digits + 1] != ' ') return std::nullopt;
  return Item{std::string(text.substr(0, digits)) + ". ", trimmed(text.substr(digits + 2))};
}

std::vector<std::string> cells_of(const Sheet& sheet, std::string_view row) {
  row = trimmed(row);
  if (row.starts_with('|')) row.remove_prefix(1);
  if (row.ends_with('|')) row.remove_suffix(1);
  std::vector<std::string> cells;
  bool code = false;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= row.size(); ++i) {
    if (i < row.size() && row[i] == '`') code = !code;
    const bool escaped = i > 0 && row[i - 1] == '\\';
    if (i < row.size() && (row[i] != '|' || code || escaped)) continue;
    cells.push_back(inline_markdown(sheet, clean(trimmed(row.substr(start, i - start)), sheet.unicode())));
    start = i + 1;
  }
  return cells;
}

/// Reads blocks one after another.
class MarkdownWriter {
 public:
  MarkdownWriter(Sheet& sheet, std::string_view markdown) : sheet_(sheet), lines_(lines_of(markdown)) {}

  void write() {
    while (at_ < lines_.size()) {
      const std::string_view line = lines_[at_];
      if (trimmed(line).empty()) {
        sheet_.blank();
        ++at_;
      } else if (is_fence(line)) {
        write_code();
      } else if (heading_level(line) > 0) {
        write_heading();
      } else if (is_rule(line)) {
        sheet_.blank();
        ++at_;
      } else if (is_table_row(line)) {
        write_table();
      } else if (list_item(line, sheet_.glyphs().bullet)) {
        write_item();
      } else {
        write_paragraph();
      }
    }
  }

 private:
  [[nodiscard]] std::string marked(std::string_view text) const {
    return inline_markdown(sheet_, clean(text, sheet_.unicode()));
  }

  void write_code() {
    for (++at_; at_ < lines_.size() && !is_fence(lines_[at_]); ++at_) {
      const std::string code = clean(lines_[at_], sheet_.unicode());
      // Code is cut, not wrapped: a wrapped command could be copied wrongly.
      sheet_.line("    " + sheet_.painted(clip(code, sheet_.width() - 4, sheet_.unicode()), Ink::second));
    }
    if (at_ < lines_.size()) ++at_;
  }

  void write_heading() {
    const int level = heading_level(lines_[at_]);
    const std::string_view text = trimmed(lines_[at_].substr(static_cast<std::size_t>(level)));
    sheet_.blank();
    for (const std::string& part : wrap(clean(text, sheet_.unicode()), sheet_.width())) {
      sheet_.line(sheet_.painted(part, Ink::strong));
    }
    ++at_;
  }

  void write_table() {
    std::vector<std::string> header;
    if (at_ + 1 < lines_.size() && is_table_rule(lines_[at_ + 1])) {
      header = cells_of(sheet_, lines_[at_]);
      at_ += 2;
    }
    std::vector<std::vector<std::string>> rows;
    for (; at_ < lines_.size() && is_table_row(lines_[at_]); ++at_) rows.push_back(cells_of(sheet_, lines_[at_]));
    table(sheet_, "  ", rows, header);
  }

  /// Whether a line carries on the block that began above it.
  [[nodiscard]] bool continues(std::string_view line) const {
    return !trimmed(line).empty() && !is_fence(line) && heading_level(line) == 0 && !is_table_row(line) &&
           !is_rule(line) && !list_item(line, sheet_.glyphs().bullet);
  }

  [[nodiscard]] std::string gathered(std::string_view first) {
    std::string text(first);
    for (++at_; at_ < lines_.size() && continues(lines_[at_]); ++at_) {
      text += ' ';
      text += unquoted(lines_[at_]);
    }
    return text;
  }

  void write_item() {
    const std::size_t depth = std::min<std::size_t>(indentation(lines_[at_]), 8);
    const Item item = *list_item(lines_[at_], sheet_.glyphs().bullet);
    const std::string lead = std::string(2 + depth, ' ') + item.marker;
    sheet_.paragraph(lead, marked(gathered(item.text)));
  }

  void write_paragraph() {
    const bool quote = trimmed(lines_[at_]).starts_with('>');
    sheet_.paragraph(quote ? "    " : "", marked(gathered(unquoted(lines_[at_]))));
  }

  Sheet& sheet_;
  std::vector<std::string_view> lines_;
  std::size_t at_ = 0;
};

/// The text between an opening sign at the front of `text` and its closing twin.
std::optional<std::string_view> between(std::string_view text, std::string_view sign) {
  if (!text.starts_with(sign) || text.size() <= sign.size() || text[sign.size()] == ' ') return std::nullopt;
  const std::size_t end = text.find(sign, sign.size());
  if (end == std::string_view::npos || end == sign.size()) return std::nullopt;
  return text.substr(sign.size(), end - sign.size());
}

struct Link {
  std::string_view text;
  std::string_view address;
  std::size_t bytes;
};
std::optional<Link> link_at(std::string_view text) {
  if (!text.starts_with('[')) return std::nullopt;
  const std::size_t middle = text.find("](");
  const std::size_t inner = text.find('[', 1);
  if (middle == std::string_view::npos || inner < middle) return std::nullopt;
  const std::size_t end = text.find(')', middle);
  if (end == std::string_view::npos) return std::nullopt;
  return Link{text.substr(1, middle - 1), text.substr(middle + 2, end - middle - 2), end + 1};
}

}  // namespace

std::string inline_markdown(const Sheet& sheet, std::string_view text) {
  std::string out;
  // A sign without a twin is looked for once, not again at each place: otherwise many of them cost quadratic time.
  bool no_tick = false, no_strong = false, no_emphasis = false, no_link = false;
  while (!text.empty()) {
    const auto styled = [&](std::string_view sign, Ink ink, bool& none) {
      if (none || !text.starts_with(sign)) return false;
      const auto inner = between(text, sign);
      if (!inner) {
        none = text.find(sign, sign.size()) == std::string_view::npos;
        return false;
      }
      out += sheet.painted(*inner, ink);
      text.remove_prefix(inner->size() + 2 * sign.size());
      return true;
    };
    if (text.starts_with('\\') && text.size() > 1 && std::ispunct(static_cast<unsigned char>(text[1])) != 0) {
      out += text[1];
      text.remove_prefix(2);
      continue;
    }
    if (styled("`", Ink::second, no_tick) || styled("**", Ink::strong, no_strong)) continue;
    const bool starts_word = out.empty() || out.back() == ' ' || out.back() == '(';
    if (starts_word && styled("*", Ink::strong, no_emphasis)) continue;
    if (!no_link && text.starts_with('[')) {
      if (const auto link = link_at(text)) {
        out += link->text;
        if (link->address.starts_with("http"))
          out += sheet.painted(" <" + std::string(link->address) + ">", Ink::faint);
        text.remove_prefix(link->bytes);
        continue;
      }
      no_link = text.find("](") == std::string_view::npos;
    }
    out += text.front();
    text.remove_prefix(1);
  }
  return out;
}

void write_markdown(Sheet& sheet, std::string_view markdown) {
  MarkdownWriter(sheet, markdown).write();
}

}  // namespace osler::layout

namespace osler {

std::string render_markdown(std::string_view markdown, const TextOptions& options) {
  layout::Sheet sheet(options);
  layout::write_markdown(sheet, markdown);
  return sheet.str();
}

}  // namespace osler
