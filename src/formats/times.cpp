// Reading dates with times.
#include "formats/times.h"

#include <chrono>
#include <limits>

#include "osler/run/event.h"

namespace osler {
namespace {

/// Takes `digits` digits off the front of `text`, or sets `good` to false.
int take_digits(std::string_view& text, std::size_t digits, bool& good) {
  int number = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    if (i >= text.size() || text[i] < '0' || text[i] > '9') {
      good = false;
      return 0;
    }
    number = number * 10 + (text[i] - '0');
  }
  text.remove_prefix(digits);
  return number;
}

void take_one_of(std::string_view& text, std::string_view characters, bool& good) {
  good = good && !text.empty() && characters.find(text.front()) != std::string_view::npos;
  if (good) text.remove_prefix(1);
}

/// The fraction of a second and the offset from UTC, in seconds to be added.
double take_rest(std::string_view text, bool& good) {
  double seconds = 0;
  if (!text.empty() && (text.front() == '.' || text.front() == ',')) {
    text.remove_prefix(1);
    for (double unit = 0.1; !text.empty() && text.front() >= '0' && text.front() <= '9'; unit /= 10) {
      seconds += unit * (text.front() - '0');
      text.remove_prefix(1);
    }
  }
  if (text.empty() || text == "Z") return seconds;
  const double sign = text.front() == '-' ? 1 : -1;
  take_one_of(text, "+-", good);
  const int hours = take_digits(text, 2, good);
  if (good && !text.empty() && text.front() == ':') text.remove_prefix(1);
  const int minutes = text.empty() ? 0 : take_digits(text, 2, good);
  good = good && text.empty();
  return seconds + sign * (hours * 3600 + minutes * 60);
}

}  // namespace

double read_date_time(std::string_view text) {
  bool good = true;
  const int year = take_digits(text, 4, good);
  take_one_of(text, "-/", good);
  const int month = take_digits(text, 2, good);
  take_one_of(text, "-/", good);
  const int day = take_digits(text, 2, good);
  take_one_of(text, " T_", good);
  const int hour = take_digits(text, 2, good);
  take_one_of(text, ":", good);
  const int minute = take_digits(text, 2, good);
  take_one_of(text, ":", good);
  const int second = take_digits(text, 2, good);
  const double rest = good ? take_rest(text, good) : 0;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!good || !date.ok() || hour > 23 || minute > 59 || second > 60) return kNoTime;
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  return static_cast<double>(days) * 86400 + hour * 3600 + minute * 60 + second + rest;
}

}  // namespace osler
