// HistogramPace: when histograms are worth their place: often at first, then in step with the length of the training.
#pragma once

#include <algorithm>
#include <cstdint>

namespace osler::monitor {

/// Steps are counted from the first that was watched.
class HistogramPace {
 public:
  /// Steps between two; 0: a dozen each time the training has become twice as long, -1: never.
  explicit HistogramPace(std::int64_t every = 0) : every_(every) {}

  [[nodiscard]] bool due(std::int64_t step) const { return every_ >= 0 && step >= next_; }
  void took(std::int64_t step) { next_ = step + (every_ > 0 ? every_ : std::max(kFewest, step / kParts)); }

 private:
  static constexpr std::int64_t kFewest = 10;
  static constexpr std::int64_t kParts = 12;

  std::int64_t every_;
  std::int64_t next_ = 0;
};

}  // namespace osler::monitor
