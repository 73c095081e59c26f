// One pass over a line with a table of character classes; no memory is taken once the vectors have grown.
#include "formats/text/scan.h"

#include <fast_float/fast_float.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "formats/text/vocabulary.h"

namespace osler::text {
namespace {

constexpr std::uint8_t kSpace = 1;
constexpr std::uint8_t kDigit = 2;
constexpr std::uint8_t kLetter = 4;
constexpr std::uint8_t kOther = 0;

constexpr std::array<std::uint8_t, 256> kClasses = [] {
  std::array<std::uint8_t, 256> classes{};
  for (int c = 0; c < 256; ++c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '@' || c >= 0x80;
    if (letter) classes[static_cast<std::size_t>(c)] = kLetter;
    if (c >= '0' && c <= '9') classes[static_cast<std::size_t>(c)] = kDigit;
    if (c == ' ' || c == '\t' || c == 0) classes[static_cast<std::size_t>(c)] = kSpace;
  }
  return classes;
}();

std::uint8_t class_of(char c) {
  return kClasses[static_cast<unsigned char>(c)];
}
bool is_digit(char c) {
  return class_of(c) == kDigit;
}

/// More numbers than this in one line are data, not a log.
constexpr std::size_t kMostNumbers = 512;

/// Mixes stretches of text into 64 bits.
class ShapeHash {
 public:
  void add(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    while (text.size() >= 8) {
      mix(load(text, 8));
      text.remove_prefix(8);
    }
    mix(load(text, text.size()) ^ (text.size() << 56));
  }
  void mark(char kind) { mix(static_cast<std::uint64_t>(kind) << 32); }
  [[nodiscard]] std::uint64_t value() const { return state_; }

 private:
  static std::uint64_t load(std::string_view text, std::size_t bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), bytes);
    return word;
  }
  void mix(std::uint64_t word) {
    const std::uint64_t product = (state_ ^ word) * 0x9E3779B97F4A7C15U;
    state_ = product ^ (product >> 29);
  }
  std::uint64_t state_ = 0x243F6A8885A308D3U;
};

/// What a stretch that starts with a digit, a sign or a point turned out to be.
struct Token {
  enum class Kind { number, moment, word } kind = Kind::word;
  std::size_t end = 0;  // of all of it
  Number number;
};

class LineScanner {
 public:
  LineScanner(std::string_view line, Scan& scan) : line_(line), scan_(scan) {}

  void run() {
    scan_.numbers.clear();
    while (at_ < line_.size()) {
      switch (class_of(line_[at_])) {
        case kSpace:
          ++at_;
          break;
        case kDigit:
          if (indexes_word()) {
            at_ = end_of_word(line_, at_);
          } else {
            take(read_number(at_));
          }
          break;
        case kLetter:
          word();
          break;
        default:
          punctuation();
      }
      if (scan_.numbers.size() >= kMostNumbers) break;
    }
    close_literal(std::min(at_, line_.size()), 'e');
    settle_commas();
    scan_.shape = hash_.value();
  }

 private:
  [[nodiscard]] char peek(std::size_t place) const { return place < line_.size() ? line_[place] : '\0'; }
  [[nodiscard]] std::size_t skip_digits(std::size_t place) const {
    while (is_digit(peek(place))) ++place;
    return place;
  }

  void close_literal(std::size_t end, char kind) {
    if (end > literal_) hash_.add(line_.substr(literal_, end - literal_));
    hash_.mark(kind);
  }

  void take(const Token& token) {
    if (token.kind == Token::Kind::number) {
      close_literal(token.number.begin, 'n');
      scan_.numbers.push_back(token.number);
      literal_ = token.number.end;
    } else if (token.kind == Token::Kind::moment) {
      close_literal(at_, 't');
      literal_ = token.end;
    }
    at_ = token.end;
  }

  /// Whether the digits here belong to the word before them and to the one behind, "top 5 accuracy", or end a remark on
  /// a name, "reward (last 10):".
  [[nodiscard]] bool indexes_word() const {
    if (at_ < 4 || line_[at_ - 1] != ' ' || class_of(line_[at_ - 2]) != kLetter) return false;
    const std::size_t end = skip_digits(at_);
    const bool remark = peek(end) == ')' && (peek(end + 1) == ':' || peek(end + 1) == '=');
    const bool within = peek(end) == ' ' && class_of(peek(end + 1)) == kLetter;
    if (end - at_ > 4 || (end - at_ > 3 && !remark) || !(remark || within)) return false;
    std::size_t start = at_ - 1;
    while (start > 0 && class_of(line_[start - 1]) == kLetter) --start;
    return takes_index(line_.substr(start, at_ - 1 - start));
  }

  void punctuation() {
    const char c = line_[at_];
    if (c == '-' || c == '+' || c == '.') {
      const char next = peek(at_ + 1);
      if (is_digit(next) || (c != '.' && next == '.' && is_digit(peek(at_ + 2)))) {
        take(read_number(at_));
        return;
      }
      // "-nan", and ".nan" and "-.inf" as YAML has them.
      const std::size_t letters = c != '.' && next == '.' ? at_ + 2 : at_ + 1;
      const char first = peek(letters);
      if ((first == 'n' || first == 'N' || first == 'i' || first == 'I') && nonfinite(at_, letters)) return;
    } else if (c == '[') {
      skip_bar(']', "=>.#- ");
      return;
    } else if (c == '(' && skip_digits(at_ + 1) > at_ + 1 && line_.substr(skip_digits(at_ + 1)).starts_with(", '")) {
      at_ = skip_digits(at_ + 1);  // "reward: [(0, '4.800')]": which policy earned it
      return;
    } else if (c == '|' && at_ > 0 && line_[at_ - 1] == '%') {
      skip_bar('|', "=>.#- []0123456789");
      return;
    }
    ++at_;
  }

  /// Leaves a progress bar out of the shape: between its ends stands nothing but `glyphs`.
  void skip_bar(char closing, std::string_view glyphs) {
    const std::size_t limit = std::min(line_.size(), at_ + 400);
    std::size_t end = at_ + 1;
    while (end < limit && glyphs.find(line_[end]) != std::string_view::npos) ++end;
    if (end >= limit || line_[end] != closing || end < at_ + 2) {
      ++at_;
      return;
    }
    close_literal(at_ + 1, 'b');
    literal_ = end;
    at_ = end + 1;
  }

  void word() {
    const char c = line_[at_];
    if ((c == 'n' || c == 'N' || c == 'i' || c == 'I') && nonfinite(at_, at_)) return;
    const std::size_t end = end_of_word(line_, at_);
    const std::size_t location = peek(end) == ':' ? end_of_location(at_, end) : 0;
    at_ = std::max(end, location);
  }

  /// The end of where in a program a line was written, "__main__:train:88 - ", or 0. Its line number stays part of the
  /// shape: other places write other lines.
  [[nodiscard]] std::size_t end_of_location(std::size_t begin, std::size_t module_end) const {
    if (begin > 0 && std::string_view(" [|(").find(line_[begin - 1]) == std::string_view::npos) return 0;
    const std::size_t function = module_end + 1;
    const bool angled = peek(function) == '<';  // <module>, <lambda>
    if (!angled && class_of(peek(function)) != kLetter) return 0;
    const std::size_t function_end =
        angled ? std::min(line_.find('>', function), line_.size()) + 1 : end_of_word(line_, function);
    const std::size_t digits = function_end + 1;
    const std::size_t end = skip_digits(digits);
    if (peek(function_end) != ':' || end == digits || end > line_.size()) return 0;
    const std::string_view rest = line_.substr(end);
    const bool fenced =
        rest.starts_with(" - ") || rest.starts_with(" |") || rest.starts_with(']') || rest.starts_with(')');
    const bool figure = describe_key(line_.substr(function, function_end - function)).metric;  // "val:acc:93 - "
    return fenced && !figure ? end : 0;
  }

  /// Takes nan, inf or infinity at `letters` (a sign may stand at `begin`) if it is a value there.
  bool nonfinite(std::size_t begin, std::size_t letters) {
    std::size_t end = letters;
    while (class_of(peek(end)) == kLetter && end < letters + 12) ++end;
    const std::string_view word = line_.substr(letters, end - letters);
    std::size_t length = 0;
    for (const std::string_view spelling : {"infinity", "inf", "nan"}) {
      if (length == 0 && starts_with_folded(word, spelling)) length = spelling.size();
    }
    if (length == 0 || is_digit(peek(end))) return false;
    const std::string_view unit = word.substr(length);
    if (!unit.empty() && !is_unit(unit)) return false;
    if (!stands_as_value(begin)) return false;
    Token token{Token::Kind::number, end, {}};
    token.number = {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(letters + length),
                    static_cast<std::uint32_t>(end), Written::nonfinite};
    take(token);
    return true;
  }

  /// After a separator, or directly after a word that names a figure of merit ("loss nan").
  [[nodiscard]] bool stands_as_value(std::size_t begin) const {
    std::size_t before = begin;
    while (before > 0 && class_of(line_[before - 1]) == kSpace) --before;
    if (before == 0) return false;
    const char previous = line_[before - 1];
    if (std::string_view(":=|([{,\"'").find(previous) != std::string_view::npos) return true;
    if (before == begin || class_of(previous) == kOther) return false;
    std::size_t start = before;
    while (start > 0 && class_of(line_[start - 1]) >= kDigit) --start;
    return describe_key(line_.substr(start, before - start)).metric;
  }

  Token read_number(std::size_t begin) {
    std::size_t end = begin;
    if (line_[end] == '-' || line_[end] == '+') ++end;
    Number number{static_cast<std::uint32_t>(begin), 0, 0, Written::integer};
    const std::size_t digits = end;
    end = skip_digits(end);
    if (end > digits) end = thousands(digits, end, begin, number);
    if (end > digits && !number.thousands) end = decimals(digits, end, begin, number);
    if (peek(end) == '.' && is_digit(peek(end + 1))) {
      end = skip_digits(end + 1);
      number.written = Written::real;
    }
    // "1e-4", and "5.e-06" as numpy prints it.
    const std::size_t exponent = peek(end) == '.' ? end + 1 : end;
    if (peek(exponent) == 'e' || peek(exponent) == 'E') {
      const bool sign = peek(exponent + 1) == '-' || peek(exponent + 1) == '+';
      if (is_digit(peek(exponent + (sign ? 2 : 1)))) {
        end = skip_digits(exponent + 2);
        number.written = Written::real;
      }
    }
    if (peek(end) == '.' && peek(end + 1) == '#') return windows_nonfinite(number, end);
    if (const std::size_t moment = end_of_moment(end, number.written); moment != 0) {
      return {Token::Kind::moment, moment, {}};
    }
    return with_unit(number, end);
  }

  /// Digits in groups of three; not within a list, where commas part numbers.
  std::size_t thousands(std::size_t digits, std::size_t end, std::size_t begin, Number& number) const {
    const auto group_at = [&](std::size_t place) {
      return peek(place) == ',' && is_digit(peek(place + 1)) && is_digit(peek(place + 2)) &&
             is_digit(peek(place + 3)) && !is_digit(peek(place + 4));
    };
    if (end - digits > 3 || line_[digits] == '0' || !group_at(end)) return end;
    if (begin > 0 && (line_[begin - 1] == ',' || line_[begin - 1] == '[' || line_[begin - 1] == '(')) return end;
    while (group_at(end)) end += 4;
    number.thousands = true;
    return end;
  }

  /// Digits behind a comma, as half of the world writes them: "loss: 0,693". Not within a list, where commas part
  /// numbers, and not at the front of a line, which may be a row of a table; three digits behind anything but a zero
  /// are a group of thousands.
  std::size_t decimals(std::size_t digits, std::size_t end, std::size_t begin, Number& number) const {
    if (peek(end) != ',' || begin == 0) return end;
    const std::size_t last = skip_digits(end + 1);
    const std::size_t count = last - end - 1;
    const bool group = count == 3 && !(line_[digits] == '0' && end - digits == 1);
    const bool goes_on = (peek(last) == ',' || peek(last) == '.') && is_digit(peek(last + 1));
    const bool listed = goes_on || std::string_view(",[(").find(line_[begin - 1]) != std::string_view::npos;
    if (count < 2 || group || listed) return end;
    number.decimal_comma = true;
    number.written = Written::real;
    return last;
  }

  /// Where one number of a line has a decimal comma, all have.
  void settle_commas() {
    const auto decimal = [](const Number& number) { return number.decimal_comma; };
    if (std::none_of(scan_.numbers.begin(), scan_.numbers.end(), decimal)) return;
    for (Number& number : scan_.numbers) {
      const std::string_view digits = line_.substr(number.begin, number.end - number.begin);
      const bool one = std::count(digits.begin(), digits.end(), ',') == 1 && digits.find('.') == std::string_view::npos;
      if (!number.thousands || !one) continue;
      number.thousands = false;
      number.decimal_comma = true;
      number.written = Written::real;
    }
  }

  /// The Windows runtime writes 1.#INF, -1.#IND and 1.#QNAN.
  Token windows_nonfinite(Number number, std::size_t end) const {
    while (end < line_.size() && (line_[end] == '.' || line_[end] == '#' || class_of(line_[end]) >= kDigit)) ++end;
    number.end = number.unit_end = static_cast<std::uint32_t>(end);
    number.written = Written::nonfinite;
    return {Token::Kind::number, end, number};
  }

  /// "10:27 PM": what stands behind the time belongs to it.
  [[nodiscard]] std::size_t behind_half_of_day(std::size_t end) const {
    const std::size_t half = peek(end) == ' ' ? end + 1 : end;
    const bool named = starts_with_folded(line_.substr(std::min(half, line_.size())), "am") ||
                       starts_with_folded(line_.substr(std::min(half, line_.size())), "pm");
    return named && class_of(peek(half + 2)) < kDigit ? half + 2 : end;
  }

  /// The end of a date, clock time, version, address or chain of ratios that starts with this number, or 0.
  [[nodiscard]] std::size_t end_of_moment(std::size_t end, Written written) const {
    const char next = peek(end);
    const char after = peek(end + 1);
    const auto run = [&](std::size_t from, std::string_view extra) {
      while (is_digit(peek(from)) || (extra.find(peek(from)) != std::string_view::npos && is_digit(peek(from + 1)))) {
        ++from;
      }
      return from;
    };
    if (next == '.' && is_digit(after)) return end_of_word(line_, run(end, "."));
    if (next == '/' && is_digit(after)) {
      std::size_t second = skip_digits(end + 1);
      if (peek(second) == '.' && is_digit(peek(second + 1))) second = skip_digits(second + 1);
      return peek(second) == '/' && is_digit(peek(second + 1)) ? run(end, "./") : 0;
    }
    if (written != Written::integer) return 0;
    const bool minutes =
        next == ':' && after >= '0' && after <= '5' && is_digit(peek(end + 2)) && !is_digit(peek(end + 3));
    if (minutes) return behind_half_of_day(run(end, ":.,"));
    if (next == '-' && is_digit(after)) return run(end, "-:.,_T");
    return 0;
  }

  Token with_unit(Number number, std::size_t end) const {
    number.end = number.unit_end = static_cast<std::uint32_t>(end);
    if (peek(end) == '%') {
      number.unit_end = static_cast<std::uint32_t>(end + 1);
      return {Token::Kind::number, end + 1, number};
    }
    if (class_of(peek(end)) < kDigit) return {Token::Kind::number, end, number};
    std::size_t unit_end = end;
    while (class_of(peek(unit_end)) == kLetter || (peek(unit_end) == '/' && class_of(peek(unit_end + 1)) == kLetter)) {
      ++unit_end;
    }
    if (!is_unit(line_.substr(end, unit_end - end)) || is_digit(peek(unit_end))) {
      return {Token::Kind::word, end_of_word(line_, end), {}};
    }
    number.unit_end = static_cast<std::uint32_t>(unit_end);
    return {Token::Kind::number, unit_end, number};
  }

  std::string_view line_;
  Scan& scan_;
  ShapeHash hash_;
  std::size_t at_ = 0;
  std::size_t literal_ = 0;  // start of the text not hashed yet
};

double scale_of(std::string_view unit) {
  if (unit.empty()) return 1;
  if (unit.size() > 1 && unit != "GB" && unit != "MB" && unit != "KB" && unit != "kB" && unit != "TB") return 1;
  switch (unit.front()) {
    case 'k':
    case 'K':
      return 1e3;
    case 'M':
      return 1e6;
    case 'G':
    case 'B':
      return 1e9;
    case 'T':
      return 1e12;
    default:
      return 1;
  }
}

double nonfinite_value(std::string_view text) {
  const bool negative = text.front() == '-';
  const bool infinite = text.find_first_of("fF") != std::string_view::npos;
  if (!infinite) return std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  return negative ? -infinity : infinity;
}

}  // namespace

bool is_word_character(char character) {
  return class_of(character) >= kDigit;
}

std::size_t end_of_word(std::string_view line, std::size_t from) {
  while (from < line.size()) {
    if (class_of(line[from]) >= kDigit) {
      ++from;
      continue;
    }
    const char c = line[from];
    const bool joiner = c == '-' || c == '.' || c == '/' || c == '\'' || c == '+';
    if (!joiner || from + 1 >= line.size() || class_of(line[from + 1]) < kDigit) break;
    from += 2;
  }
  return from;
}

void scan_line(std::string_view line, Scan& scan) {
  LineScanner(line, scan).run();
}

double value_of(std::string_view line, const Number& number) {
  std::string_view digits = line.substr(number.begin, number.end - number.begin);
  if (number.written == Written::nonfinite) return nonfinite_value(digits);
  const double scale = scale_of(line.substr(number.end, number.unit_end - number.end));
  if (digits.front() == '+') digits.remove_prefix(1);
  std::array<char, 64> plain;
  if ((number.thousands || number.decimal_comma) && digits.size() <= plain.size()) {
    const auto end = number.thousands ? std::remove_copy(digits.begin(), digits.end(), plain.begin(), ',')
                                      : std::replace_copy(digits.begin(), digits.end(), plain.begin(), ',', '.');
    digits = {plain.data(), static_cast<std::size_t>(end - plain.begin())};
  }
  double value = 0;
  fast_float::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value * scale;
}

}  // namespace osler::text
