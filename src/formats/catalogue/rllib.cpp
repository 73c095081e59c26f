// result.json of Ray RLlib and Ray Tune.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "formats/json/lines.h"

namespace osler::catalogue {
namespace {

using Path = std::filesystem::path;

Sniff sniff(const Peek& peek) {
  const std::string_view line = peek.head.substr(0, peek.head.find('\n'));
  const auto has = [&](std::string_view key) { return line.find(key) != std::string_view::npos; };
  const bool ours = has("\"training_iteration\"") && (has("\"trial_id\"") || has("\"time_this_iter_s\""));
  if (!ours) return Sniff::no;
  return peek.path.filename() == "result.json" || json_shape(peek) == JsonShape::lines ? Sniff::certain : Sniff::no;
}

/// Every line repeats the whole configuration and tells of the machine: settings go where settings belong, the rest is
/// left out.
class ResultSink final : public EventSink {
 public:
  void speak_to(EventSink& sink) { sink_ = &sink; }

  SeriesId series(std::string_view name) override {
    constexpr std::string_view kConfig = "config/";
    const bool setting = name.starts_with(kConfig);
    names_.push_back({setting ? std::string(name.substr(kConfig.size())) : std::string(name), 0,
                      setting            ? Kind::setting
                      : is_machine(name) ? Kind::dropped
                                         : Kind::unnamed});
    return static_cast<SeriesId>(names_.size() - 1);
  }
  void add(const Event& event) override {
    Name& name = names_[event.series];
    if (name.kind == Kind::dropped) return;
    if (name.kind == Kind::setting) {
      sink_->config(name.text, fmt::format("{}", event.value));
      name.kind = Kind::dropped;
      return;
    }
    if (name.kind == Kind::unnamed) {
      name.id = sink_->series(name.text);
      name.kind = Kind::named;
    }
    Event passed = event;
    passed.series = name.id;
    sink_->add(passed);
  }
  void add(Mark mark) override { sink_->add(std::move(mark)); }
  void config(std::string_view key, std::string_view value) override { sink_->config(key, value); }

 private:
  enum class Kind : std::uint8_t { unnamed, named, setting, dropped };
  struct Name {
    std::string text;
    SeriesId id = 0;
    Kind kind = Kind::unnamed;
  };

  static bool is_machine(std::string_view name) {
    constexpr std::array<std::string_view, 6> kMachine = {"pid",
                                                          "iterations_since_restore",
                                                          "timesteps_since_restore",
                                                          "time_since_restore",
                                                          "num_healthy_workers",
                                                          "timesteps_this_iter"};
    return name.starts_with("perf/") || std::find(kMachine.begin(), kMachine.end(), name) != kMachine.end();
  }

  EventSink* sink_ = nullptr;
  std::vector<Name> names_;
};

class ResultReader final : public Reader {
 public:
  Result<void> feed(std::span<const std::byte> bytes, EventSink& sink, DamageReport& damage) override {
    sink_.speak_to(sink);
    return lines_->feed(bytes, sink_, damage);
  }
  Result<void> finish(EventSink& sink, DamageReport& damage) override {
    sink_.speak_to(sink);
    return lines_->finish(sink_, damage);
  }

 private:
  ResultSink sink_;
  std::unique_ptr<Reader> lines_ = make_json_lines_reader();
};

std::unique_ptr<Reader> open(const Path&) {
  return std::make_unique<ResultReader>();
}

Path run_of(const Path& path) {
  return path.parent_path();
}

constexpr std::string_view kDoc = R"(
`result.json` in a trial's folder, as Ray RLlib and Ray Tune write it: one JSON object per training iteration.

**What is read.** Every number, nested ones as `info/learner/default_policy/learner_stats/total_loss`; `timesteps_total` is the
step where there is one, else the training iteration. Numbers under `config/`, which every line repeats, become
configuration; process numbers and machine load are left out.

**Quirks.** `progress.csv` beside it holds the same numbers and is left out.
)";

}  // namespace

Format rllib() {
  return {"rllib", "RLlib result.json", kDoc, "json-lines", sniff, open, run_of};
}

}  // namespace osler::catalogue
