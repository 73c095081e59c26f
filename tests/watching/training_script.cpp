// The acts of a training are planned at its beginning and played as they fall due.
#include "watching/training_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace osler::watching {
namespace {

constexpr double kMinute = 60;
constexpr double kHour = 3600;

std::string number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return fmt::format("{:.6g}", value);
}

std::string json_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return fmt::format("{:.6g}", value);
}

std::string file_of(LogStyle style) {
  if (style == LogStyle::text_nan) return "train.log";
  return style == LogStyle::json || style == LogStyle::json_nan ? "train.jsonl" : "train.csv";
}

}  // namespace

void begin_late(simulate::SimulatedRun& run, std::int64_t rows, simulate::Random& random) {
  if (run.curves.empty() || run.curves.front().samples.size() < 2) return;
  const auto& leading = run.curves.front().samples;
  const std::int64_t every = leading[1].step - leading[0].step;
  for (simulate::Curve& curve : run.curves) {
    if (curve.samples.size() < 2) continue;
    const simulate::Sample first = curve.samples.front();
    const std::int64_t apart = std::max<std::int64_t>(1, curve.samples[1].step - first.step);
    const double scatter = 0.01 * std::fabs(first.value);
    std::vector<simulate::Sample> samples;
    for (std::int64_t step = first.step; step < first.step + rows * every; step += apart) {
      samples.push_back({step, first.value + scatter * random.normal()});
    }
    for (const simulate::Sample& sample : curve.samples) {
      samples.push_back({sample.step + rows * every, sample.value});
    }
    curve.samples = std::move(samples);
  }
}

Script::Script(const simulate::SimulatedRun& run, LogStyle style, const Mishaps& mishaps, simulate::Random& random)
    : style_(style), file_(file_of(style)) {
  std::map<std::int64_t, std::vector<std::optional<double>>> rows;
  for (std::size_t column = 0; column < run.curves.size(); ++column) {
    names_.push_back(run.curves[column].name);
    for (const simulate::Sample& sample : run.curves[column].samples) {
      auto& cells = rows[sample.step];
      cells.resize(run.curves.size());
      cells[column] = sample.value;
    }
  }
  for (auto& [step, cells] : rows) rows_.push_back({step, std::move(cells)});
  written_.assign(rows_.size(), -1);
  plan(mishaps, random);
}

void Script::plan(const Mishaps& mishaps, simulate::Random& random) {
  const auto count = static_cast<std::int64_t>(rows_.size());
  // Each mishap strikes once or twice, at rows that are drawn before.
  const auto draw = [&](bool wanted) {
    std::vector<std::int64_t> at;
    if (!wanted) return at;
    for (std::int64_t i = random.integer(1, 2); i > 0; --i) at.push_back(random.integer(count / 8, count - 1));
    return at;
  };
  auto gaps = draw(mishaps.gaps);
  auto resumes = draw(mishaps.resumes);
  auto rotations = draw(mishaps.rotations);
  auto clock = draw(mishaps.clock);
  auto restarts = draw(mishaps.restarts);
  restarts.resize(std::min<std::size_t>(restarts.size(), 1));
  const auto strikes = [](std::vector<std::int64_t>& at, std::int64_t row) {
    const auto found = std::find(at.begin(), at.end(), row);
    if (found == at.end()) return false;
    at.erase(found);
    return true;
  };
  // A row comes every second, or every half minute.
  const double every = random.log_uniform(1, 30);
  double now = random.uniform(0, 5);
  for (std::int64_t row = 0; row < count; ++row) {
    if (strikes(gaps, row)) now += random.log_uniform(2 * kMinute, 3 * kHour);
    if (strikes(clock, row)) {
      acts_.push_back({Act::Kind::set_clock, now, 0, random.pick({-1.0, 1.0}) * random.log_uniform(10, 24 * kHour)});
    }
    if (strikes(rotations, row)) acts_.push_back({Act::Kind::rotate, now, 0, 0});
    if (strikes(restarts, row)) {
      now += random.uniform(10, 5 * kMinute);
      acts_.push_back({Act::Kind::empty, now, 0, 0});
      row = 0;
    }
    if (strikes(resumes, row)) {
      now += random.uniform(10, 20 * kMinute);
      row = std::max<std::int64_t>(0, row - random.integer(0, std::max<std::int64_t>(1, count / 10)));
    }
    acts_.push_back({Act::Kind::row, now, static_cast<std::size_t>(row), 0});
    now += every * random.uniform(0.8, 1.2);
  }
}

void Script::begin_file(MemoryFiles& files) const {
  if (file_ != "train.csv") return;
  std::string header = "step";
  if (style_ == LogStyle::csv_timed) header += ",time";
  for (const std::string& name : names_) header += "," + name;
  files.append(file_, header + "\n");
}

std::string Script::csv_text(const Row& row, double wall) const {
  const std::string empty = style_ == LogStyle::csv_nan || style_ == LogStyle::alternating ? "nan" : "";
  std::string text = std::to_string(row.step);
  if (style_ == LogStyle::csv_timed) text += fmt::format(",{:.3f}", wall);
  for (const auto& cell : row.cells) text += "," + (cell ? number(*cell) : empty);
  return text + "\n";
}

std::string Script::json_text(const Row& row) const {
  std::string text = fmt::format("{{\"step\": {}", row.step);
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    if (!row.cells[i] && style_ == LogStyle::json) continue;
    text += fmt::format(", \"{}\": {}", names_[i], row.cells[i] ? json_number(*row.cells[i]) : "NaN");
  }
  return text + "}\n";
}

std::string Script::line_text(const Row& row) const {
  std::string text = fmt::format("step {}", row.step);
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    text += fmt::format(" | {}: {}", names_[i], row.cells[i] ? number(*row.cells[i]) : "nan");
  }
  return text + "\n";
}

std::string Script::text_of(const Row& row, double wall) const {
  if (style_ == LogStyle::text_nan) return line_text(row);
  if (style_ == LogStyle::json || style_ == LogStyle::json_nan) return json_text(row);
  if (style_ != LogStyle::alternating) return csv_text(row, wall);
  // What was validated stands in a second row of the same step.
  Row trained{row.step, std::vector<std::optional<double>>(row.cells.size())};
  Row validated = trained;
  bool second = false;
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const bool validation = names_[i].find("val") != std::string::npos || names_[i].find("test") != std::string::npos;
    (validation ? validated : trained).cells[i] = row.cells[i];
    second = second || (validation && row.cells[i]);
  }
  return csv_text(trained, wall) + (second ? csv_text(validated, wall) : "");
}

void Script::play(SimulatedClock& clock, MemoryFiles& files) {
  for (; next_ < acts_.size() && acts_[next_].at <= clock.steady(); ++next_) {
    const Act& act = acts_[next_];
    switch (act.kind) {
      case Act::Kind::set_clock:
        clock.set_by(act.seconds);
        break;
      case Act::Kind::rotate:
        files.move(file_, fmt::format("{}.{}", file_, ++rotations_));
        break;
      case Act::Kind::empty:
        files.empty(file_);
        begin_file(files);
        break;
      case Act::Kind::row: {
        const Row& row = rows_[act.row];
        if (const auto there = files.info("/training/" + file_); !there || there->size_bytes == 0) begin_file(files);
        files.append(file_, text_of(row, clock.wall()));
        if (written_[act.row] < 0) written_[act.row] = clock.steady();
        break;
      }
    }
  }
}

std::optional<double> Script::written(std::int64_t step) const {
  const auto row = std::lower_bound(rows_.begin(), rows_.end(), step,
                                    [](const Row& one, std::int64_t wanted) { return one.step < wanted; });
  if (row == rows_.end()) return std::nullopt;
  const double at = written_[static_cast<std::size_t>(row - rows_.begin())];
  return at < 0 ? std::nullopt : std::optional(at);
}

}  // namespace osler::watching
