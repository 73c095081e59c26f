// Telling training output from other text and from what is no text.
#include <algorithm>

#include "formats/text/plain_text.h"
#include "formats/text/text_reader.h"

namespace osler::text {
namespace {

/// Text holds hardly any control characters; colour codes, tabs and carriage returns do not count.
bool is_text(std::string_view head) {
  if (head.starts_with("\xFF\xFE") || head.starts_with("\xFE\xFF")) return true;
  const auto strange = std::count_if(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 32 && c != '\n' && c != '\r' && c != '\t' && c != '\b' && c != '\x1b' && c != '\f' && c != '\a';
  });
  return static_cast<std::size_t>(strange) * 200 <= head.size();
}

/// A line that counts and measures, or measures by itself.
class TrainingLines {
 public:
  void line(std::string_view raw) {
    const std::string_view text = plain_text(raw, scratch_);
    if (found_ || text.size() > 4000) return;
    crashed_ = crashed_ || traceback_.line(text) || crash_of_line(text);
    if (Tables::fenced(text)) {
      tables_.fenced_line(text, row_);
      return;
    }
    if (tables_.end_block(row_)) {
      found_ |= std::any_of(row_.begin(), row_.end(), [](const TableCell& cell) {
        const KeyTraits traits = describe_key(cell.name);
        return traits.metric || traits.step != 0;
      });
    }
    scan_line(text, scan_);
    if (scan_.numbers.empty()) {
      tables_.offer_header(text);
      return;
    }
    const LinePlan plan = plan_line(text, scan_);
    found_ |= plan.values && (plan.metric || plan.counted());
    found_ |= tables_.column_line(text, row_);
  }
  [[nodiscard]] bool found() const { return found_; }
  /// It tells of the end of a program.
  [[nodiscard]] bool crashed() const { return crashed_; }

 private:
  Scan scan_;
  std::string scratch_;
  Tables tables_;
  TableRow row_;
  TracebackWatch traceback_;
  bool found_ = false;
  bool crashed_ = false;
};

}  // namespace

Sniff sniff_text(const Peek& peek) {
  if (peek.head.empty() || !is_text(peek.head)) return Sniff::no;
  TrainingLines lines;
  LineSplitter splitter;
  DamageReport damage;
  const auto take = [&](const Line& line) { lines.line(line.text); };
  splitter.feed(std::as_bytes(std::span(peek.head)), damage, take);
  if (peek.whole) splitter.finish(damage, take);
  if (lines.found()) return Sniff::possible;
  // A banner may be longer than the head.
  const std::string ending = peek.path.extension().string();
  const bool named_like_a_log = peek.path == "-" || ending == ".log" || ending == ".out" || ending == ".txt";
  return (!peek.whole || lines.crashed()) && named_like_a_log ? Sniff::possible : Sniff::no;
}

}  // namespace osler::text
