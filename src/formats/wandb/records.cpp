// Protocol buffers of W&B, read field by field: key, nested keys and a value in JSON.
#include "formats/wandb/records.h"

#include <protozero/exception.hpp>
#include <protozero/pbf_message.hpp>

#include <algorithm>
#include <cmath>

#include "formats/json/config.h"
#include "formats/numbers.h"
#include "formats/tensorboard/tensors.h"

namespace osler {
namespace {

enum class RecordField : protozero::pbf_tag_type { history = 2, config = 5, stats = 7, run = 17, exit = 18 };
// "distribution" and "runtime_told" are Osler's own: a histogram as exact as it was, and that "_runtime" is a series.
enum class HistoryField : protozero::pbf_tag_type { item = 1, step = 2, distribution = 15001, runtime_told = 15002 };
enum class DistributionField : protozero::pbf_tag_type { name = 1, step = 2, figures = 3, limits = 4, counts = 5 };
enum class ItemField : protozero::pbf_tag_type { key = 1, nested_key = 2, value_json = 16 };
enum class StatsField : protozero::pbf_tag_type { timestamp = 2, item = 3 };
enum class TimeField : protozero::pbf_tag_type { seconds = 1, nanoseconds = 2 };
// "untold" and "words" are Osler's own: that nobody said how the run ended, and how it was said.
enum class ExitField : protozero::pbf_tag_type { code = 1, untold = 15001, words = 15002 };
enum class ConfigField : protozero::pbf_tag_type { update = 1 };
// "steps_told" is Osler's own: "_step" is the axis, and other counters are series.
enum class RunField : protozero::pbf_tag_type {
  run_id = 1,
  project = 3,
  config = 4,
  display_name = 8,
  steps_told = 15001
};

constexpr std::size_t kLongestName = 400;
constexpr std::size_t kMostStatistics = 2000;
constexpr std::string_view kLightningStep = "trainer/global_step";

using protozero::pbf_wire_type;

std::string_view view(protozero::data_view data) {
  return {data.data(), data.size()};
}

/// One entry of a history, a configuration or a summary.
struct Item {
  std::vector<std::string_view> path;
  std::string_view json;
};

Item decode_item(std::string_view bytes) {
  Item item;
  protozero::pbf_message<ItemField> message(bytes.data(), bytes.size());
  while (message.next()) {
    switch (message.tag()) {
      case ItemField::key:
      case ItemField::nested_key:
        // Either a key or the nested keys are filled, never both.
        if (const std::string_view part = view(message.get_view()); !part.empty()) item.path.push_back(part);
        break;
      case ItemField::value_json:
        item.json = view(message.get_view());
        break;
      default:
        message.skip();
    }
  }
  return item;
}

std::vector<double> decode_doubles(protozero::pbf_message<DistributionField>& message) {
  const auto range = message.get_packed_double();
  return {range.begin(), range.end()};
}

/// A histogram that Osler wrote; nothing when it cannot be one.
std::optional<Histogram> decode_distribution(std::string_view bytes, std::string& name) {
  Histogram histogram;
  std::vector<double> figures;
  protozero::pbf_message<DistributionField> message(bytes.data(), bytes.size());
  while (message.next()) {
    const bool packed = message.wire_type() == pbf_wire_type::length_delimited;
    if (message.tag() == DistributionField::step && message.wire_type() == pbf_wire_type::varint) {
      histogram.step = message.get_int64();
    } else if (message.tag() == DistributionField::name && packed) {
      name = view(message.get_view());
    } else if (message.tag() == DistributionField::figures && packed) {
      figures = decode_doubles(message);
    } else if (message.tag() == DistributionField::limits && packed) {
      histogram.limits = decode_doubles(message);
    } else if (message.tag() == DistributionField::counts && packed) {
      histogram.counts = decode_doubles(message);
    } else {
      message.skip();
    }
  }
  constexpr std::size_t kFigures = 6;
  if (name.empty() || name.size() > kLongestName || figures.size() != kFigures ||
      histogram.limits.size() != histogram.counts.size() ||
      !std::is_sorted(histogram.limits.begin(), histogram.limits.end()) ||
      std::any_of(histogram.limits.begin(), histogram.limits.end(), [](double limit) { return std::isnan(limit); })) {
    return std::nullopt;
  }
  histogram.min = figures[0];
  histogram.max = figures[1];
  histogram.count = figures[2];
  histogram.sum = figures[3];
  histogram.sum_squares = figures[4];
  histogram.wall_time = figures[5];
  return histogram;
}

double decode_time(std::string_view bytes) {
  double seconds = 0;
  protozero::pbf_message<TimeField> message(bytes.data(), bytes.size());
  while (message.next()) {
    if (message.wire_type() != pbf_wire_type::varint) {
      message.skip();
      continue;
    }
    const auto count = static_cast<double>(message.get_int64());
    if (message.tag() == TimeField::seconds) seconds += count;
    if (message.tag() == TimeField::nanoseconds) seconds += 1e-9 * count;
  }
  return seconds;
}

/// Whether Osler wrote that "_runtime" is a series of the run.
bool tells_runtime(std::string_view bytes) {
  protozero::pbf_message<HistoryField> message(bytes.data(), bytes.size());
  while (message.next()) {
    if (message.tag() == HistoryField::runtime_told) return true;
    message.skip();
  }
  return false;
}

std::string joined(const std::vector<std::string_view>& path) {
  std::string name;
  for (const std::string_view part : path) {
    if (!name.empty()) name += '/';
    name += part;
  }
  return name;
}

std::string quoted(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') json += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) json += c;
  }
  return json + '"';
}

/// Collects the numbers of an object, and what a histogram needs.
class ValueVisitor final : public JsonVisitor {
 public:
  void begin_object() override { path_.push_back(std::exchange(key_, {})); }
  void key(std::string_view name) override { key_ = name; }
  void end_object() override {
    path_.pop_back();
    key_.clear();
  }
  void begin_array() override { ++arrays_; }
  void end_array() override { --arrays_; }
  void number(double value) override {
    if (arrays_ == 1 && path_.size() == 1) {
      if (key_ == "values") counts.push_back(value);
      if (key_ == "bins") bins.push_back(value);
    }
    if (arrays_ == 0 && numbers.size() < kMostNumbers) numbers.emplace_back(name(), value);
  }
  void text(std::string_view value) override {
    if (arrays_ > 0) return;
    if (key_ == "_type" && path_.size() == 1) {
      type = value;
    } else if (const CellValue cell = read_cell(value); cell.kind == CellKind::number) {
      number(cell.value);
    }
  }
  void nothing() override {}
  void truth(bool) override {}

  std::string type;  // of media: "histogram", "images/separated", ...
  std::vector<double> counts;
  std::vector<double> bins;
  std::vector<std::pair<std::string, double>> numbers;  // by path

  [[nodiscard]] double find(std::string_view name) const {
    for (const auto& [path, value] : numbers) {
      if (path == name) return value;
    }
    return 0;
  }

 private:
  static constexpr std::size_t kMostNumbers = 10'000;

  [[nodiscard]] std::string name() const {
    std::string full;
    for (std::size_t i = 1; i < path_.size(); ++i) full += path_[i] + "/";
    return full + key_;
  }

  std::vector<std::string> path_;
  std::string key_;
  int arrays_ = 0;
};

/// Rows of (left, right, count) from edges and counts, or from the first edge and a width.
std::vector<double> histogram_rows(const ValueVisitor& value) {
  std::vector<double> rows;
  const double width = value.find("packedBins/size");
  const bool packed = value.bins.empty() && width > 0;
  if (!packed && value.bins.size() != value.counts.size() + 1) return rows;
  for (std::size_t i = 0; i < value.counts.size(); ++i) {
    const double left = packed ? value.find("packedBins/min") + width * static_cast<double>(i) : value.bins[i];
    rows.insert(rows.end(), {left, packed ? left + width : value.bins[i + 1], value.counts[i]});
  }
  return rows;
}

}  // namespace

void WandbRecords::record(std::string_view bytes, std::uint64_t offset, EventSink& sink, DamageReport& damage) {
  try {
    protozero::pbf_message<RecordField> message(bytes.data(), bytes.size());
    while (message.next()) {
      switch (message.tag()) {
        case RecordField::history:
          history(view(message.get_view()), sink);
          break;
        case RecordField::config:
          config(view(message.get_view()), sink);
          break;
        case RecordField::stats:
          statistics(view(message.get_view()), sink);
          break;
        case RecordField::run:
          run(view(message.get_view()), sink);
          break;
        case RecordField::exit:
          exit(view(message.get_view()), sink);
          break;
        default:
          message.skip();
      }
    }
  } catch (const std::exception&) {
    damage.add({{}, offset, 0, "a record is malformed and was left out", bytes.size()});
  }
}

void WandbRecords::history(std::string_view bytes, EventSink& sink) {
  cells_.clear();
  ++row_;
  bool has_step = false;
  bool lightning = false;
  std::optional<std::int64_t> step;
  const bool runtime_told = steps_told_ && tells_runtime(bytes);
  protozero::pbf_message<HistoryField> message(bytes.data(), bytes.size());
  while (message.next()) {
    if (message.tag() == HistoryField::item && message.wire_type() == protozero::pbf_wire_type::length_delimited) {
      const Item item = decode_item(view(message.get_view()));
      const std::string name = joined(item.path);
      if (name.empty() || name.size() > kLongestName) continue;
      has_step |= name == "_step";
      lightning |= !steps_told_ && name == kLightningStep;
      // Other names with an underscore in front are W&B's own: run time, parts of tables. Osler adds the run time
      // alone.
      const bool own = steps_told_ ? name == "_runtime" && !runtime_told : name.front() == '_';
      if (own && name != "_step" && name != "_timestamp") continue;
      value(name, item.json);
    } else if (steps_told_ && message.tag() == HistoryField::distribution &&
               message.wire_type() == protozero::pbf_wire_type::length_delimited) {
      std::string name;
      if (auto histogram = decode_distribution(view(message.get_view()), name)) {
        histogram->series = sink.series(name);
        sink.distribution(*histogram);
      }
    } else if (message.tag() == HistoryField::step &&
               message.wire_type() == protozero::pbf_wire_type::length_delimited) {
      protozero::pbf_reader inner = message.get_message();
      step = 0;  // a step of zero is not written out
      while (inner.next()) {
        if (inner.tag_and_type() == protozero::tag_and_type(1, protozero::pbf_wire_type::varint)) {
          step = inner.get_int64();
        } else {
          inner.skip();
        }
      }
    } else {
      message.skip();
    }
  }
  if (cells_.empty()) return;
  if (!has_step && step) cell("_step", static_cast<double>(*step));
  const std::uint32_t axis = rows_.column(lightning ? kLightningStep : "_step");
  for (const Cell& one : cells_) {
    if (one.column == axis && std::fabs(one.value) < 9e15) last_step_ = static_cast<std::int64_t>(one.value);
  }
  if (lightning) {
    // The trainer's own step is the axis; "_step" counts calls, "global_step" comes now and then from a callback.
    std::erase_if(cells_, [this](const Cell& one) {
      return one.column == rows_.column("_step") || one.column == rows_.column("global_step");
    });
  }
  rows_.row({cells_, kNoTime, {}}, sink);
}

/// What the machine did, at the step that was logged last: it is measured by the clock. Of several measurements at one
/// step the first is kept.
void WandbRecords::statistics(std::string_view bytes, EventSink& sink) {
  double time = kNoTime;
  std::vector<std::pair<std::string, double>> values;
  protozero::pbf_message<StatsField> message(bytes.data(), bytes.size());
  while (message.next()) {
    const bool nested = message.wire_type() == pbf_wire_type::length_delimited;
    if (nested && message.tag() == StatsField::timestamp) {
      time = decode_time(view(message.get_view()));
    } else if (nested && message.tag() == StatsField::item) {
      const Item item = decode_item(view(message.get_view()));
      const std::string name = joined(item.path);
      const CellValue number = read_cell(trim(item.json));
      if (name.empty() || name.size() > kLongestName || number.kind != CellKind::number) continue;
      values.emplace_back("system/" + name, number.value);
    } else {
      message.skip();
    }
  }
  for (const auto& [name, value] : values) {
    const auto known = measured_.find(name);
    if (known == measured_.end() ? measured_.size() >= kMostStatistics : known->second == last_step_) continue;
    measured_[name] = last_step_;
    sink.add(Event{sink.series(name), last_step_, time, value});
  }
}

void WandbRecords::cell(const std::string& name, double value) {
  const std::uint32_t column = rows_.column(name);
  if (in_row_.size() <= column) in_row_.resize(column + 1, 0);
  in_row_[column] = row_;
  cells_.push_back({column, value});
}

bool WandbRecords::has_cell(const std::string& name) {
  const std::uint32_t column = rows_.column(name);
  return column < in_row_.size() && in_row_[column] == row_;
}

void WandbRecords::value(const std::string& name, std::string_view json) {
  json = trim(json);
  if (json.empty()) return;
  if (json.front() != '{') {
    if (json.front() == '[' || json == "true" || json == "false") return;
    if (json.front() == '"' && json.size() > 1) json = json.substr(1, json.size() - 2);
    if (const CellValue number = read_cell(json); number.kind == CellKind::number) cell(name, number.value);
    return;
  }
  ValueVisitor found;
  if (!walker_.walk(json, found)) return;
  if (found.type.empty()) {
    for (const auto& [path, number] : found.numbers) cell(name + "/" + path, number);
  } else if (found.type == "histogram") {
    const auto figures = figures_of_rows(histogram_rows(found));
    if (!figures) return;
    // Our own files have the figures as numbers, too, as exact as they were.
    const auto told = [&](const char* figure, double number) {
      if (!has_cell(name + figure)) cell(name + figure, number);
    };
    told("#mean", figures->mean);
    told("#std", figures->std);
    told("#min", figures->min);
    told("#max", figures->max);
    told("#norm", figures->norm);
    if (figures->zero_share) told("#zero-share", *figures->zero_share);
  }
}

void WandbRecords::config(std::string_view bytes, EventSink& sink) {
  protozero::pbf_message<ConfigField> message(bytes.data(), bytes.size());
  while (message.next()) {
    if (message.tag() != ConfigField::update) {
      message.skip();
      continue;
    }
    const Item item = decode_item(view(message.get_view()));
    if (item.path.empty() || item.path.front() == "_wandb" || item.json.empty()) continue;
    std::string text;
    for (const std::string_view part : item.path) text += "{" + quoted(part) + ":";
    text += item.json;
    text.append(item.path.size(), '}');
    json_to_config(text, sink);
  }
}

void WandbRecords::run(std::string_view bytes, EventSink& sink) {
  protozero::pbf_message<RunField> message(bytes.data(), bytes.size());
  while (message.next()) {
    switch (message.tag()) {
      case RunField::run_id:
        sink.config("wandb/id", view(message.get_view()));
        break;
      case RunField::project:
        sink.config("wandb/project", view(message.get_view()));
        break;
      case RunField::display_name:
        sink.config("wandb/name", view(message.get_view()));
        break;
      case RunField::config:
        config(view(message.get_view()), sink);
        break;
      case RunField::steps_told:
        message.skip();
        steps_told_ = true;
        rows_.tell_axis(rows_.column("_step"));
        break;
      default:
        message.skip();
    }
  }
}

void WandbRecords::exit(std::string_view bytes, EventSink& sink) const {
  std::int32_t code = 0;
  std::string words;
  protozero::pbf_message<ExitField> message(bytes.data(), bytes.size());
  while (message.next()) {
    if (message.tag() == ExitField::untold) return;
    if (message.tag() == ExitField::code && message.wire_type() == pbf_wire_type::varint) {
      code = message.get_int32();
    } else if (message.tag() == ExitField::words && message.wire_type() == pbf_wire_type::length_delimited) {
      words = message.get_string();
    } else {
      message.skip();
    }
  }
  const Mark::Kind kind = code == 0 ? Mark::Kind::finished : Mark::Kind::crashed;
  if (words.empty()) words = code == 0 ? "the program ended" : "exit code " + std::to_string(code);
  sink.add(Mark{kind, last_step_, kNoTime, words});
}

}  // namespace osler
