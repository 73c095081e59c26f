// Progress: one line on standard error while a long read goes on.
#include "cli/progress.h"

#include <fmt/format.h>

#include "cli/terminal.h"
#include "report/layout.h"
#include "report/numbers.h"

namespace osler::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 500ms;  // what is over sooner needs no progress
constexpr auto kPace = 100ms;
constexpr std::string_view kEraseLine = "\r\x1b[K";

}  // namespace

std::string progress_text(const ReadProgress& progress, double seconds) {
  std::string text = layout::byte_count(progress.bytes_read);
  if (progress.bytes_total > 0 && progress.bytes_read <= progress.bytes_total) {
    const double share = static_cast<double>(progress.bytes_read) / static_cast<double>(progress.bytes_total);
    text = fmt::format("{:3.0f} %  {} of {}", 100 * share, text, layout::byte_count(progress.bytes_total));
  }
  text += fmt::format("  {} events", layout::grouped(progress.events));
  if (seconds > 0) {
    text += fmt::format("  {}/s",
                        layout::grouped(static_cast<std::uint64_t>(static_cast<double>(progress.events) / seconds)));
  }
  return text;
}

Progress::Progress(const std::string& name, bool shown)
    : name_(layout::clip_middle(layout::clean(name, true), 30, true)), shown_(shown), next_(start_ + kPatience) {}

Progress::~Progress() {
  if (drawn_) print_error(kEraseLine);
}

void Progress::update(const ReadProgress& progress) {
  const Clock::time_point now = Clock::now();
  if (!shown_ || now < next_) return;
  next_ = now + kPace;
  drawn_ = true;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  print_error(fmt::format("{}{}  {}", kEraseLine, name_, progress_text(progress, seconds)));
}

}  // namespace osler::cli
