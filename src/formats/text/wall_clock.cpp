// "2023-01-01 12:00:00,123", "2023/01/01 12:00:00", "2023-01-01T12:00:00.5Z", "Thu Dec 21 09:30:48 2017".
#include "formats/text/wall_clock.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "formats/times.h"
#include "osler/run/event.h"

namespace osler::text {
namespace {

/// How far into a line a date may start: behind a level, a rank, a line number.
constexpr std::size_t kPrefix = 48;
constexpr std::size_t kDateLength = 19;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// The date that starts at `at`, with a fraction of a second if there is one.
double numeric_date(std::string_view line, std::size_t at) {
  std::size_t end = at + kDateLength;
  if (end + 1 < line.size() && (line[end] == '.' || line[end] == ',') && is_digit(line[end + 1])) {
    for (++end; end < line.size() && is_digit(line[end]); ++end) {
    }
  }
  return read_date_time(line.substr(at, end - at));
}

/// "Dec 21 09:30:48 2017", as ctime writes it.
double named_date(std::string_view line, std::size_t at) {
  static constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  if (at + 20 > line.size() || line[at + 6] != ' ' || line[at + 15] != ' ') return kNoTime;
  const std::size_t month = kMonths.find(line.substr(at, 3));
  if (month == std::string_view::npos || month % 3 != 0) return kNoTime;
  std::array<char, kDateLength> date;
  const auto put = [&](std::size_t to, std::string_view text) {
    std::copy(text.begin(), text.end(), date.begin() + to);
  };
  put(0, line.substr(at + 16, 4));
  put(4, "-");
  date[5] = month / 3 >= 9 ? '1' : '0';
  date[6] = static_cast<char>('0' + (month / 3 + 1) % 10);
  put(7, "-");
  put(8, line.substr(at + 4, 2));
  if (date[8] == ' ') date[8] = '0';
  put(10, " ");
  put(11, line.substr(at + 7, 8));
  return read_date_time({date.data(), date.size()});
}

}  // namespace

double wall_time_of(std::string_view line) {
  for (std::size_t i = 0; i + kDateLength <= line.size() && i < kPrefix; ++i) {
    const char c = line[i];
    double time = kNoTime;
    if ((c == '1' || c == '2') && (i == 0 || !is_digit(line[i - 1])) && (line[i + 4] == '-' || line[i + 4] == '/')) {
      time = numeric_date(line, i);
    } else if (c >= 'A' && c <= 'S' && line[i + 3] == ' ') {
      time = named_date(line, i);
    }
    if (!std::isnan(time)) return time;
  }
  return kNoTime;
}

}  // namespace osler::text
