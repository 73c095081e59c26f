// Reading numbers: fast for the plain ones, patient with the rest.
#include "formats/numbers.h"

#include <fast_float/fast_float.h>

#include <algorithm>
#include <array>
#include <limits>

namespace osler {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
           return (x >= 'A' && x <= 'Z' ? x - 'A' + 'a' : x) == y;
         });
}

bool says_nothing(std::string_view text) {
  constexpr std::array<std::string_view, 10> kWords = {"",    "-",  "--",   "none", "null",
                                                       "n/a", "na", "<na>", "nil",  "#n/a"};
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view word) { return equal_ignoring_case(text, word); });
}

/// All of `text` as a plain number.
bool plain_number(std::string_view text, double& value) {
  const char* end = text.data() + text.size();
  const auto parsed = fast_float::from_chars(text.data(), end, value);
  // A number too large for a double is infinite, one too small is zero: from_chars has stored that.
  return parsed.ptr == end && parsed.ec != std::errc::invalid_argument;
}

/// `1,234,567.8` without its separators; empty when the groups are not groups of three.
std::string without_thousands(std::string_view text, char separator) {
  std::string plain;
  std::size_t digits = 0;  // since the last separator
  bool separated = false;
  std::size_t i = 0;
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) plain += text[i++];
  for (; i < text.size() && (is_digit(text[i]) || text[i] == separator); ++i) {
    if (text[i] == separator) {
      if (digits == 0 || digits > 3 || (separated && digits != 3)) return {};
      separated = true;
      digits = 0;
    } else {
      plain += text[i];
      ++digits;
    }
  }
  if (!separated || digits != 3) return {};
  plain += text.substr(i);
  return plain;
}

/// The Windows runtime writes 1.#INF, -1.#IND, 1.#QNAN, and zeros behind them.
bool windows_nonfinite(std::string_view text, double& value) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  if (!text.starts_with("1.#")) return false;
  text.remove_prefix(3);
  const std::size_t letters = std::min(text.find('0'), text.size());
  if (text.find_first_not_of('0', letters) != std::string_view::npos) return false;
  const std::string_view word = text.substr(0, letters);
  const double infinity = std::numeric_limits<double>::infinity();
  value = word == "INF" ? (negative ? -infinity : infinity) : std::numeric_limits<double>::quiet_NaN();
  return word == "INF" || word == "IND" || word == "QNAN" || word == "SNAN";
}

/// The spellings that are seldom enough to be tried last.
bool odd_number(std::string_view text, bool decimal_comma, double& value) {
  constexpr std::string_view kTensor = "tensor(";
  if (text.starts_with(kTensor)) {
    text.remove_prefix(kTensor.size());
    text = trim(text.substr(0, text.find_first_of(",)")));
  }
  if (text.ends_with('%')) text = trim(text.substr(0, text.size() - 1));
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text.empty()) return false;
  if (plain_number(text, value)) return true;
  if (text.size() > 64) return false;
  if (windows_nonfinite(text, value)) return true;
  if (decimal_comma && std::count(text.begin(), text.end(), ',') == 1) {
    const bool grouped = text.find('.') != std::string_view::npos;  // 1.234,5
    std::string plain = grouped ? without_thousands(text, '.') : std::string(text);
    std::replace(plain.begin(), plain.end(), ',', '.');
    if (!plain.empty()) return plain_number(plain, value);
  }
  for (const char separator : {',', '\''}) {  // 1'234.5 is Swiss
    const std::string plain = without_thousands(text, separator);
    if (!plain.empty()) return plain_number(plain, value);
  }
  return false;
}

}  // namespace

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

CellValue read_cell(std::string_view text, bool decimal_comma) {
  CellValue cell;
  text = trim(text);
  if (text.empty()) return cell;
  if (plain_number(text, cell.value) || (!says_nothing(text) && odd_number(text, decimal_comma, cell.value))) {
    cell.kind = CellKind::number;
    return cell;
  }
  cell.kind = says_nothing(text) ? CellKind::absent : CellKind::text;
  return cell;
}

std::string quotable(std::string_view text, std::size_t limit) {
  std::string quoted;
  for (const char c : text) {
    if (quoted.size() >= limit) return quoted + "...";
    const auto byte = static_cast<unsigned char>(c);
    // Bytes above 0x7f may be any encoding, or the middle of a character once cut: a message cannot show them safely.
    quoted += byte < 0x20 || byte >= 0x7f ? '?' : c;
  }
  return quoted;
}

}  // namespace osler
