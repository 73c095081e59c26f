// A simulated training as it happens: what is written to its log, when, and what befalls it on the way.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulate/simulated_run.h"
#include "watching/simulated_world.h"

namespace osler::watching {

/// What can happen to a training that is none of its illness.
struct Mishaps {
  bool gaps = false;       ///< it stands still for minutes or hours
  bool resumes = false;    ///< it breaks off and goes on from an earlier step, in the same log
  bool rotations = false;  ///< its log gets another name and a new one takes its place
  bool restarts = false;   ///< its log is emptied and it begins from its first step
  bool clock = false;      ///< somebody sets the clock of the machine
};

/// How its log is written.
enum class LogStyle {
  csv,          ///< empty cells where nothing was measured
  csv_nan,      ///< "nan" there
  csv_timed,    ///< with a column of Unix times
  json,         ///< one object per line
  json_nan,     ///< NaN where nothing was measured
  alternating,  ///< training and validation in rows of their own, "nan" in the other columns
  text_nan,     ///< lines for people, "nan" where nothing was measured
};
inline constexpr int kStyles = 7;

/// Lets a training begin to learn only after a warm-up: before it, `rows` rows in which every series stands where it
/// begins, but for some noise.
void begin_late(simulate::SimulatedRun& run, std::int64_t rows, simulate::Random& random);

/// Writes the log of a training as the clock goes on.
class Script {
 public:
  Script(const simulate::SimulatedRun& run, LogStyle style, const Mishaps& mishaps, simulate::Random& random);

  /// Does all that is due. Nothing more happens when it is over.
  void play(SimulatedClock& clock, MemoryFiles& files);
  [[nodiscard]] bool over() const { return next_ == acts_.size(); }
  [[nodiscard]] const std::string& file() const { return file_; }
  /// When the row with this step was first written, on the steady clock; nothing before that.
  [[nodiscard]] std::optional<double> written(std::int64_t step) const;
  [[nodiscard]] std::size_t rows() const { return rows_.size(); }

 private:
  struct Row {
    std::int64_t step = 0;
    std::vector<std::optional<double>> cells;
  };
  struct Act {
    enum class Kind { row, rotate, empty, set_clock } kind = Kind::row;
    double at = 0;
    std::size_t row = 0;
    double seconds = 0;
  };

  void plan(const Mishaps& mishaps, simulate::Random& random);
  void begin_file(MemoryFiles& files) const;
  [[nodiscard]] std::string text_of(const Row& row, double wall) const;
  [[nodiscard]] std::string csv_text(const Row& row, double wall) const;
  [[nodiscard]] std::string json_text(const Row& row) const;
  [[nodiscard]] std::string line_text(const Row& row) const;

  LogStyle style_;
  std::string file_;
  std::vector<std::string> names_;
  std::vector<Row> rows_;
  std::vector<double> written_;  // by row; below 0: not yet
  std::vector<Act> acts_;
  std::size_t next_ = 0;
  int rotations_ = 0;
};

}  // namespace osler::watching
