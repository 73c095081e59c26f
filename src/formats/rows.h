// RowAssembler: turns rows of named numbers (CSV lines, JSON objects, lines of text) into events.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/gaps.h"
#include "formats/skipped_evaluation.h"
#include "osler/run/event.h"

namespace osler {

/// One number of a row; absent cells are simply not there.
struct Cell {
  std::uint32_t column = 0;
  double value = 0;
};

/// Numbers that were recorded together.
struct Row {
  std::span<const Cell> cells;
  double wall_time = kNoTime;  ///< when the source tells it apart from the columns
  std::string_view prefix;     ///< "val" puts the row's numbers into "val/loss" and so on; usually empty
};

/// Whether a column of that name tells which phase a row belongs to (mode, split, phase, ...).
[[nodiscard]] bool is_phase_column(std::string_view name);
/// Whether `text` names a phase (train, val, valid, eval, test, ...).
[[nodiscard]] bool is_phase(std::string_view text);
/// Whether `text` names a phase other than training.
[[nodiscard]] bool is_evaluation_phase(std::string_view text);

/// Finds the step axis and the wall time among the columns of the rows it is given, and emits the rest as events.
///
/// The axis is chosen from the first rows alone (at most kWindowRows, fewer when the case is clear), so the result does
/// not depend on how the input was cut into pieces:
/// - A column called like a step counter (global_step, step, iter, ..., then episode, then epoch) is the axis if its
///   values are whole numbers and taking them would not overwrite points; a sentinel of -1 counts as absent.
/// - With no such column, or when all of them stand still while values go on, the order of the rows is the axis.
/// - In the log of an agent (a reward, an episode), steps that go up and down are the lengths of episodes: a series.
/// The
///   episode is the axis then, else the order of the rows.
/// - A counter that falls back while the epoch, or the episode, rises counts within its epoch: an offset keeps the
/// steps rising.
///   A counter that falls back otherwise is a restart, and is passed on as it is.
/// - A counter that keeps falling and leaping back to its front is that of several writers; from there on the order of
///   the rows is the axis, and a mark says so. Until that is clear a few rows wait.
/// - A row without the axis stands at the step of the row before it; so does an evaluation row of the current epoch,
///   whose own counter counts evaluation batches.
/// - Where the rows come newest first they are turned round, up to kMostTurned cells of them.
/// Columns that count steps are not emitted as series, except the epoch. A NaN in a figure of merit that means "not
/// measured" is left out (GapFilter), and so are the zeros of a validation that did not take place (SkippedEvaluation).
/// Time columns in seconds (or ms, us, ns) since 1970 become the wall time.
///
/// One assembler speaks to one sink for life. Columns beyond kMostColumns are ignored.
class RowAssembler {
 public:
  static constexpr std::size_t kWindowRows = 64;
  static constexpr std::uint32_t kMostColumns = 250'000;
  static constexpr std::size_t kMostTurned = 4'000'000;

  /// The number of the column called `name`, made on first use.
  std::uint32_t column(std::string_view name);
  /// Whether all that a row holds is a step or an epoch.
  [[nodiscard]] bool only_counts(const Row& row) const;
  /// Says that `column` is the axis and the rows are complete: its values are the steps as they are, all other counters
  /// are series like any other, and every NaN is one. Before the first row.
  void tell_axis(std::uint32_t column);
  /// Takes one row. Emits it, or keeps a copy until the axis is known.
  void row(const Row& row, EventSink& sink);
  /// The writer started anew here (a repeated header): where rows are counted, counting starts again.
  void new_segment() { segment_starts_ = true; }
  /// No more rows come: emits what was kept.
  void finish(EventSink& sink);

 private:
  enum class Kind : std::uint8_t { plain, step, counter, epoch, time };  // a step column counts, or is plain after all

  struct Column {
    std::string name;
    std::uint8_t tier = 0;  // of a step or epoch column; lower is better
  };
  struct KeptRow {
    std::uint32_t first_cell = 0;
    std::uint32_t cells = 0;
    double wall_time = kNoTime;
    std::string prefix;
    bool starts_segment = false;
  };
  /// The counter fell: training began anew, or rows of a second writer are mixed in.
  struct Doubt {
    double front = 0;   // the largest count
    double stride = 1;  // of the rows before the fall
    int falls = 0;
    int returns = 0;  // leaps back to the front
    int rising = 0;   // rows in a row

    [[nodiscard]] bool mixed() const { return returns >= kReturns && 2 * returns >= falls; }
  };
  static constexpr int kReturns = 3;     // that a single writer does not make
  static constexpr int kRisingRows = 5;  // after which a fall was a new beginning

  struct Trial;  // how well a column would do as the axis
  [[nodiscard]] bool may_be_length(std::uint32_t column) const;
  [[nodiscard]] bool fits(std::uint32_t candidate, const Trial& trial) const;

  [[nodiscard]] Row kept_row(const KeptRow& kept) const;
  [[nodiscard]] Trial try_axis(std::optional<std::uint32_t> axis) const;
  [[nodiscard]] bool axis_is_clear() const;
  void choose_axis();
  void flush(EventSink& sink);
  void keep(const Row& row);
  void turn(EventSink& sink);
  void release(void (RowAssembler::*pass_on)(const Row&, EventSink&), EventSink& sink);
  [[nodiscard]] std::optional<double> lone_counter(const Row& row) const;
  void take(const Row& row, EventSink& sink);
  void end_doubt(EventSink& sink);
  [[nodiscard]] bool falls(const Row& row);
  void emit(const Row& row, EventSink& sink);
  void emit_cells(const Row& row, Event event, const std::vector<SeriesId>& series, const RowFigures& figures,
                  EventSink& sink);
  [[nodiscard]] std::int64_t step_of(double axis_value, double epoch, bool evaluation);
  void move_offset(double axis_value, double epoch);
  std::vector<SeriesId>& series_of(std::string_view prefix);
  SeriesId name_series(std::uint32_t column, std::string_view prefix, EventSink& sink);

  struct Prefix {
    std::string text;
    bool evaluation = false;
    std::vector<SeriesId> series;  // by column, kUnnamed where none was made yet
  };

  struct NameHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>{}(name); }
  };

  std::unordered_map<std::string, std::uint32_t, NameHash, std::equal_to<>> ids_;
  std::vector<Column> columns_;
  std::vector<Kind> kinds_;
  std::vector<Merit> merits_;
  std::vector<std::uint32_t> candidates_;  // step and epoch columns, in the order they appeared
  std::vector<Prefix> prefixes_;
  std::size_t prefix_ = 0;  // of the newest row

  std::vector<KeptRow> kept_;
  std::vector<Cell> kept_cells_;
  std::optional<Doubt> doubt_;
  std::optional<double> newest_;  // count
  double stride_ = 1;             // from the count before
  bool chosen_ = false;
  bool axis_told_ = false;
  bool newest_first_ = false;  // rows are kept to be turned round
  double lowest_axis_ = 0;     // of the rows that are kept for that
  GapFilter gaps_;
  SkippedEvaluation skipped_;
  bool segment_starts_ = false;
  bool acts_ = false;                     // a column tells of an agent: a reward, an episode
  bool has_epoch_ = false;                // among the columns
  std::optional<std::uint32_t> episode_;  // beside an axis that may begin anew in each
  std::optional<std::uint32_t> axis_;     // none: the order of the rows

  std::int64_t order_ = -1;
  std::int64_t current_step_ = 0;
  std::optional<std::int64_t> counter_;  // the newest raw value of the axis in a training row
  std::int64_t counter_gap_ = 1;
  std::int64_t epoch_length_ = 0;  // as the counter counts
  std::int64_t offset_ = 0;
  bool within_epoch_ = false;    // the counter fell back while the epoch rose
  std::optional<double> epoch_;  // of the newest training row that told it
  std::optional<double> first_epoch_;
  std::optional<double> counter_epoch_;  // the epoch `counter_` was seen in
};

}  // namespace osler
