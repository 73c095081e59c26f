// RecordingSink: an EventSink that keeps everything it is told, for tests to look at.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "osler/run/event.h"

namespace osler::testing {

/// Keeps all events, marks and configuration in order. For one thread.
class RecordingSink final : public EventSink {
 public:
  SeriesId series(std::string_view name) override {
    const auto [entry, fresh] = ids_.try_emplace(std::string(name), static_cast<SeriesId>(names.size()));
    if (fresh) names.emplace_back(name);
    return entry->second;
  }
  void add(const Event& event) override { events.push_back(event); }
  void add(Mark mark) override { marks.push_back(std::move(mark)); }
  void config(std::string_view key, std::string_view value) override { configuration[std::string(key)] = value; }
  void distribution(const Histogram& histogram) override { histograms.push_back(histogram); }

  /// The steps and values of the series called `name`, in the order they came; empty when there is none.
  [[nodiscard]] std::vector<std::int64_t> steps(const std::string& name) const {
    std::vector<std::int64_t> found;
    for (const Event& event : events) {
      if (names[event.series] == name) found.push_back(event.step);
    }
    return found;
  }
  [[nodiscard]] std::vector<double> values(const std::string& name) const {
    std::vector<double> found;
    for (const Event& event : events) {
      if (names[event.series] == name) found.push_back(event.value);
    }
    return found;
  }

  std::vector<std::string> names;  ///< by series id
  std::vector<Event> events;
  std::vector<Mark> marks;
  std::vector<Histogram> histograms;
  std::map<std::string, std::string> configuration;

 private:
  std::map<std::string, SeriesId> ids_;
};

}  // namespace osler::testing
