// JSON lines become rows; a line that is damaged costs itself and nothing more.
#include "formats/json/lines.h"

#include <fmt/format.h>

#include "formats/bare_rows.h"
#include "formats/decoder.h"
#include "formats/json/config.h"
#include "formats/lines.h"
#include "formats/numbers.h"
#include "formats/table.h"
#include "run/mark_kind.h"

namespace osler {
namespace {

class JsonLinesReader final : public Reader {
 public:
  explicit JsonLinesReader(AdjustRow adjust) : adjust_(std::move(adjust)), row_(rows_) {}

  Result<void> feed(std::span<const std::byte> bytes, EventSink& sink, DamageReport& damage) override {
    lines_.feed(bytes, damage, [&](const Line& line) { take(line, sink, damage); });
    return {};
  }

  Result<void> finish(EventSink& sink, DamageReport& damage) override {
    lines_.finish(damage, [&](const Line& line) { take(line, sink, damage); });
    bare_rows_.finish(damage);
    rows_.finish(sink);
    return {};
  }

 private:
  void take(const Line& line, EventSink& sink, DamageReport& damage) {
    const std::string_view text = trim(line.text);
    if (text.empty()) return;
    if (!text.starts_with('{')) {
      damage.add({{}, 0, line.number, fmt::format("'{}' is no JSON object", quotable(text)), line.text.size()});
      return;
    }
    if (!holds_several(text)) return object(text, line.number, sink, damage);
    // Objects one after another on one line.
    for (std::size_t from = 0; from < text.size();) {
      const JsonExtent extent = find_json(text, from);
      if (!extent.found || !extent.closers.empty()) return object(text.substr(from), line.number, sink, damage);
      object(text.substr(extent.begin, extent.end - extent.begin), line.number, sink, damage);
      from = text.find_first_not_of(" \t,", extent.end);
    }
  }

  /// Whether an object may follow an object; what stands in quotes may look the same, which costs time and no more.
  static bool holds_several(std::string_view text) {
    for (const std::string_view seam : {"}{", "} {", "},{", "}, {"}) {
      if (text.find(seam) != std::string_view::npos) return true;
    }
    return false;
  }

  void object(std::string_view text, std::uint64_t number, EventSink& sink, DamageReport& damage) {
    row_.clear();
    // Our own lines say by their first two keys what the axis is; other counters in them are series.
    if (first_ && text.starts_with(R"({"step": )") && text.find(R"(, "wall_time": )") == text.find(',')) {
      rows_.tell_axis(rows_.column("step"));
    }
    first_ = first_ && text.find("\"step\"") == std::string_view::npos;
    const auto walked = walker_.walk(text, row_);
    if (!walked) {
      damage.add({{}, 0, number, walked.error().message, text.size()});
      return;
    }
    if (adjust_) adjust_(row_, rows_);
    for (const auto& [key, value] : row_.settings()) sink.config(key, value);
    if (row_.row().cells.empty() || row_.is_configuration()) {
      if (mark(sink)) return;
      // A line of texts only describes the run (mmdetection opens with one).
      for (const auto& [key, value] : row_.texts()) {
        if (key == "config" && value.starts_with('{')) {
          json_to_config(value, sink);  // as older versions wrote it
        } else {
          sink.config(key, value);
        }
      }
      for (const auto& [key, value] : row_.written_numbers()) sink.config(key, value);
      return;
    }
    bare_rows_.row(text.find("null") != std::string_view::npos && rows_.only_counts(row_.row()), number);
    rows_.row(row_.row(), sink);
  }

  /// A mark as our own sink writes it: {"mark": "crashed", "at": "step 9", "text": "..."}.
  bool mark(EventSink& sink) const {
    Mark mark;
    bool found = false;
    for (const auto& [key, value] : row_.texts()) {
      if (key == "text") mark.text = value;
      if (key == "at" && value.starts_with("step ")) {
        const CellValue step = read_cell(std::string_view(value).substr(5));
        if (step.kind == CellKind::number) mark.step = static_cast<std::int64_t>(step.value);
      }
      if (key != "mark") continue;
      found = true;
      mark.kind = mark_kind(value);
    }
    if (found && !mark.text.empty()) sink.add(std::move(mark));
    return found;
  }

  AdjustRow adjust_;
  LineSplitter lines_;
  JsonWalker walker_;
  RowAssembler rows_;
  JsonRow row_;
  BareRows bare_rows_;
  bool first_ = true;  // no line with a step has come
};

/// Accepts any document.
class NullVisitor final : public JsonVisitor {
 public:
  void begin_object() override {}
  void key(std::string_view) override {}
  void end_object() override {}
  void begin_array() override {}
  void end_array() override {}
  void number(double) override {}
  void text(std::string_view) override {}
  void nothing() override {}
  void truth(bool) override {}
};

bool is_json(std::string_view text) {
  JsonWalker walker;
  NullVisitor visitor;
  return walker.walk(text, visitor).has_value();
}

/// Whether the object at `first` is followed by another one on the same line.
bool follows_itself(std::string_view head, std::size_t first) {
  if (head[first] != '{') return false;
  const JsonExtent extent = find_json(head, first);
  if (!extent.found || !extent.closers.empty()) return false;
  const std::size_t next = head.find_first_not_of(" \t", extent.end);
  return next != std::string_view::npos && head[next] == '{' && is_json(head.substr(first, extent.end - first));
}

bool named_lines(const std::filesystem::path& path) {
  return path.extension() == ".jsonl" || path.extension() == ".ndjson";
}

}  // namespace

std::unique_ptr<Reader> make_json_lines_reader(AdjustRow adjust) {
  return std::make_unique<JsonLinesReader>(std::move(adjust));
}

JsonShape json_shape(const Peek& peek) {
  TextDecoder decoder;
  std::string head(decoder.decode(std::as_bytes(std::span(peek.head))));
  head += decoder.finish();
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || (head[first] != '{' && head[first] != '[')) return JsonShape::none;
  if (follows_itself(head, first)) return JsonShape::lines;
  std::size_t objects = 0;
  std::size_t others = 0;
  for (const std::string& line : first_lines(peek)) {
    const std::string_view text = trim(line);
    if (text.empty()) continue;
    const bool object = text.starts_with('{') && is_json(text);
    objects += object ? 1 : 0;
    others += object ? 0 : 1;
  }
  // A single object may be the first line of many, or a document; the name tells.
  if (objects > others && (objects + others > 1 || named_lines(peek.path))) return JsonShape::lines;
  const JsonExtent extent = find_json(head, first);
  if (!extent.closers.empty() && peek.whole && peek.path.extension() != ".json") return JsonShape::none;
  const std::string document = head.substr(extent.begin, extent.end - extent.begin) + extent.closers;
  // Text that begins with a number in brackets, "[3] loss=0.5", is no document: more of them may follow, nothing else.
  const std::size_t rest = extent.closers.empty() ? head.find_first_not_of(" \t\r\n,", extent.end) : std::string::npos;
  if (rest != std::string::npos && head[rest] != '{' && head[rest] != '[') return JsonShape::none;
  // Settings as JSON, and below them what Python prints: {'loss': 0.5}.
  if (rest != std::string::npos && head.compare(rest, 2, "{'") == 0) return JsonShape::none;
  const bool too_little = !extent.closers.empty() && extent.end < head.size() / 2;
  return !too_little && is_json(document) ? JsonShape::document : JsonShape::none;
}

}  // namespace osler
