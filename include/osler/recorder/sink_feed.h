// SinkFeed: lets anything that emits events write into a sink, as converting a log does.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "osler/base/result.h"
#include "osler/recorder/sink.h"
#include "osler/run/event.h"

namespace osler {

/// Passes events on to a sink in batches. One thread at a time.
class SinkFeed final : public EventSink {
 public:
  explicit SinkFeed(SinkPointer sink) : sink_(std::move(sink)) {}

  SeriesId series(std::string_view name) override;
  void add(const Event& event) override;
  void add(Mark mark) override;
  void config(std::string_view key, std::string_view value) override;
  void distribution(const Histogram& histogram) override;

  /// Passes on the rest and closes the sink; the first failure of it all.
  Result<void> close();

 private:
  void pass_on();
  void pass_on_when_full();

  static constexpr std::size_t kBatch = 65'536;

  SinkPointer sink_;
  std::unordered_map<std::string, SeriesId> ids_;
  std::vector<std::string> names_;
  std::vector<std::pair<std::string, std::string>> config_;
  std::vector<Mark> marks_;
  std::vector<Histogram> histograms_;
  std::vector<Event> events_;
  Result<void> outcome_;
};

}  // namespace osler
