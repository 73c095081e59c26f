// Progress: one line on standard error while a long read goes on.
#pragma once

#include <chrono>
#include <string>

#include "osler/formats/read.h"

namespace osler::cli {

/// "metrics.csv  43 %  512 MB of 1.2 GB  3.1 M events/s" without the name.
[[nodiscard]] std::string progress_text(const ReadProgress& progress, double seconds);

/// Draws progress over itself, a few times a second, from the first half second on. Silent when not `shown`.
class Progress {
 public:
  Progress(const std::string& name, bool shown);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(const ReadProgress& progress);

 private:
  using Clock = std::chrono::steady_clock;

  std::string name_;
  bool shown_;
  bool drawn_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_;
};

}  // namespace osler::cli
