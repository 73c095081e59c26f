// How rows of named numbers find their step axis and become events.
#include "formats/rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "osler/run/foreign_names.h"
#include "osler/run/role.h"

namespace osler {
namespace {

constexpr SeriesId kUnnamed = std::numeric_limits<SeriesId>::max();
constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint8_t kEpisodeTier = 3;
constexpr std::uint8_t kEpochTier = 4;
// Largest number of cells kept while the axis is unknown; rows can be very wide.
constexpr std::size_t kWindowCells = 200'000;
// Step columns that are looked at; logs with one counter per tag can have thousands.
constexpr std::size_t kMostCandidates = 16;
// Share of points that may fall on the step of their predecessor before the column is no axis: loggers repeat the last
// step once or twice at the end, while a counter that stands still (an epoch over many rows) repeats nearly all.
constexpr double kToleratedRepeats = 0.2;

struct CounterName {
  std::string_view name;
  std::uint8_t tier;
};

// Names of step counters seen in the wild, best first: counts of the whole training, steps, iterations (which may
// count within an epoch), episodes, epochs.
constexpr std::array kCounterNames = {
    CounterName{"global_step", 0},
    CounterName{"global_steps", 0},
    CounterName{"globalstep", 0},
    CounterName{"total_timesteps", 0},
    CounterName{"num_timesteps", 0},
    CounterName{"timesteps_total", 0},
    CounterName{"totalenvinteracts", 0},
    CounterName{"timestepssofar", 0},
    CounterName{"iter_num", 0},
    CounterName{"num_updates", 0},
    CounterName{"global_iter", 0},
    CounterName{"num_env_steps", 0},
    CounterName{"step", 1},
    CounterName{"steps", 1},
    CounterName{"_step", 1},
    CounterName{"current_steps", 1},
    CounterName{"train_step", 1},
    CounterName{"training_step", 1},
    CounterName{"train_steps", 1},
    CounterName{"timesteps", 1},
    CounterName{"timestep", 1},
    CounterName{"env_step", 1},
    CounterName{"env_steps", 1},
    CounterName{"frame", 1},
    CounterName{"frames", 1},
    CounterName{"n_iter", 1},
    CounterName{"n_steps", 1},
    CounterName{"num_steps", 1},
    CounterName{"total_step", 1},
    CounterName{"total_steps", 1},
    CounterName{"step_num", 1},
    CounterName{"training_steps", 1},
    CounterName{"optimizer_step", 1},
    CounterName{"gradient_step", 1},
    CounterName{"gradient_steps", 1},
    CounterName{"iter", 2},
    CounterName{"iters", 2},
    CounterName{"iteration", 2},
    CounterName{"iterations", 2},
    CounterName{"training_iteration", 2},
    CounterName{"itr", 2},
    CounterName{"update", 2},
    CounterName{"updates", 2},
    CounterName{"n_updates", 2},
    CounterName{"nupdates", 2},
    CounterName{"batch", 2},
    CounterName{"batches", 2},
    CounterName{"batch_idx", 2},
    CounterName{"batch_id", 2},
    CounterName{"episode", kEpisodeTier},
    CounterName{"episodes", kEpisodeTier},
    CounterName{"num_episodes", kEpisodeTier},
    CounterName{"epoch", kEpochTier},
    CounterName{"epochs", kEpochTier},
    CounterName{"epoch_num", kEpochTier},
    CounterName{"epoch_idx", kEpochTier},
    CounterName{"current_epoch", kEpochTier},
    CounterName{"round", kEpochTier},
};

constexpr std::array<std::string_view, 8> kTimeNames = {"time",     "timestamp", "wall_time",      "_timestamp",
                                                        "walltime", "unix_time", "unix_timestamp", "timestamp_ms"};
constexpr std::array<std::string_view, 10> kPhaseColumns = {"phase",  "mode",    "split", "stage",     "subset",
                                                            "_split", "dataset", "set",   "partition", "type"};
constexpr std::array<std::string_view, 9> kUnits = {"ms", "s", "sec", "us", "seconds", "tokens", "samples", "min", "h"};
constexpr std::array<std::string_view, 2> kTrainingPhases = {"train", "training"};
constexpr std::array<std::string_view, 9> kEvaluationPhases = {
    "val", "valid", "validation", "eval", "evaluation", "test", "testing", "dev", "valid_test"};

/// Lower case, trimmed, with '_' for spaces and dashes: how names are compared.
std::string comparable(std::string_view name) {
  while (!name.empty() && (name.front() == ' ' || name.front() == '\t')) name.remove_prefix(1);
  while (!name.empty() && (name.back() == ' ' || name.back() == '\t')) name.remove_suffix(1);
  std::string text(name);
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == ' ' || c == '-') c = '_';
  }
  return text;
}

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& words, std::string_view text) {
  return std::find(words.begin(), words.end(), comparable(text)) != words.end();
}

std::optional<std::uint8_t> counter_tier(std::string_view name) {
  std::string text = comparable(in_english(name));
  // "time/total_timesteps" and "trainer/global_step" count training; "val/step" does not.
  if (const auto slash = text.rfind('/'); slash != std::string::npos) {
    if (is_evaluation_phase(text.substr(0, text.find('/')))) return std::nullopt;
    if (is_one_of(kUnits, text.substr(0, slash))) return std::nullopt;  // "ms/step"
    text.erase(0, slash + 1);
  }
  // "global_episode" counts on where "episode" begins anew with each stage.
  constexpr std::string_view kWhole = "global_";
  const bool whole = text.starts_with(kWhole);
  for (const CounterName& counter : kCounterNames) {
    if (counter.name == text) return counter.tier;
    if (whole && counter.name == std::string_view(text).substr(kWhole.size())) return 0;
  }
  return std::nullopt;
}

/// A whole number that can be a step; -1 is what some writers put where they have none.
bool is_step(double value) {
  constexpr double kLargest = 9.0e15;
  return value >= -kLargest && value <= kLargest && value == std::floor(value) && value != -1;
}

/// A name under which the length of an episode stands in the logs of agents, besides the count of all steps.
bool could_name_length(std::string_view name) {
  static constexpr std::array<std::string_view, 9> kLengths = {
      "step", "steps", "n_steps", "num_steps", "total_steps", "timestep", "timesteps", "frame", "frames"};
  return is_one_of(kLengths, name);
}

/// Whether a column of that name stands in the logs of agents.
bool tells_of_agent(Role role) {
  return role == Role::reward || role == Role::evaluation_reward || role == Role::exploration_rate;
}

/// Seconds since 1970, when `value` can be a time at all: seconds, ms, us or ns between 2001 and 2065.
double to_seconds(double value) {
  for (const double unit : {1.0, 1e3, 1e6, 1e9}) {
    if (value >= 1e9 * unit && value < 3e9 * unit) return value / unit;
  }
  return kNoTime;
}

}  // namespace

bool is_phase_column(std::string_view name) {
  return is_one_of(kPhaseColumns, name);
}
bool is_evaluation_phase(std::string_view text) {
  return is_one_of(kEvaluationPhases, text);
}
bool is_phase(std::string_view text) {
  return is_one_of(kTrainingPhases, text) || is_evaluation_phase(text);
}

struct RowAssembler::Trial {
  std::size_t rows = 0;  // rows that tell the axis
  std::size_t distinct = 0;
  std::size_t points = 0;
  std::size_t repeats = 0;  // points at the step of their predecessor
  bool whole = true;        // all values are whole numbers
  bool rising = true;
  bool falling = true;  // from each row to the next
  std::size_t falls = 0;

  /// Falls too often for a training that began anew now and then.
  [[nodiscard]] bool goes_up_and_down() const { return !falling && falls > 1 && falls * 5 >= rows; }
  [[nodiscard]] bool accepted() const {
    return rows > 0 && whole && static_cast<double>(repeats) <= kToleratedRepeats * static_cast<double>(points);
  }
};

std::uint32_t RowAssembler::column(std::string_view name) {
  if (const auto known = ids_.find(name); known != ids_.end()) return known->second;
  if (columns_.size() >= kMostColumns) return kMostColumns;
  const auto id = static_cast<std::uint32_t>(columns_.size());
  Column column{std::string(name), 0};
  Kind kind = Kind::plain;
  if (const auto tier = counter_tier(name)) {
    kind = *tier == kEpochTier ? Kind::epoch : axis_told_ ? Kind::plain : Kind::step;
    column.tier = *tier;
    if (candidates_.size() < kMostCandidates) candidates_.push_back(id);
    acts_ = acts_ || *tier == kEpisodeTier;
    has_epoch_ = has_epoch_ || *tier == kEpochTier;
  } else if (is_one_of(kTimeNames, name)) {
    kind = Kind::time;
  }
  const Role role = kind == Kind::plain ? guess_role(name).role : Role::other;
  acts_ = acts_ || tells_of_agent(role) || comparable(name) == "score";
  merits_.push_back(merit_of(role));
  skipped_.add_column(role);
  columns_.push_back(std::move(column));
  kinds_.push_back(kind);
  ids_.emplace(std::string(name), id);
  return id;
}

bool RowAssembler::only_counts(const Row& row) const {
  return std::all_of(row.cells.begin(), row.cells.end(), [this](const Cell& cell) {
    if (cell.column >= kinds_.size()) return false;
    const Kind kind = kinds_[cell.column];
    return kind == Kind::step || kind == Kind::counter || kind == Kind::epoch;
  });
}

void RowAssembler::tell_axis(std::uint32_t column) {
  if (chosen_ || !kept_.empty() || column >= columns_.size()) return;
  chosen_ = axis_told_ = true;
  axis_ = column;
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    if (kinds_[i] == Kind::step) kinds_[i] = i == column ? Kind::counter : Kind::plain;
  }
}

void RowAssembler::row(const Row& row, EventSink& sink) {
  if (row.cells.empty()) return;
  if (newest_first_ && falls(row) && kept_cells_.size() < kMostTurned) {
    keep(row);
    return;
  }
  if (newest_first_) turn(sink);
  if (chosen_) {
    take(row, sink);
    return;
  }
  keep(row);
  if (kept_.size() >= kWindowRows || kept_cells_.size() >= kWindowCells || axis_is_clear()) flush(sink);
}

void RowAssembler::keep(const Row& row) {
  kept_.push_back({static_cast<std::uint32_t>(kept_cells_.size()), static_cast<std::uint32_t>(row.cells.size()),
                   row.wall_time, std::string(row.prefix), segment_starts_});
  segment_starts_ = false;
  kept_cells_.insert(kept_cells_.end(), row.cells.begin(), row.cells.end());
}

void RowAssembler::finish(EventSink& sink) {
  if (!chosen_) flush(sink);
  if (newest_first_) turn(sink);
  if (doubt_) end_doubt(sink);
  gaps_.finish(axis_ && kinds_[*axis_] == Kind::epoch, sink);
}

/// Whether the row goes on with falling steps; rows without a step go along.
bool RowAssembler::falls(const Row& row) {
  for (const Cell& cell : row.cells) {
    if (cell.column != axis_) continue;
    if (!(cell.value < lowest_axis_)) return false;
    lowest_axis_ = cell.value;
  }
  return true;
}

void RowAssembler::turn(EventSink& sink) {
  newest_first_ = false;
  for (auto kept = kept_.rbegin(); kept != kept_.rend(); ++kept) emit(kept_row(*kept), sink);
  kept_ = {};
  kept_cells_ = {};
}

void RowAssembler::flush(EventSink& sink) {
  choose_axis();
  if (newest_first_) return;
  release(&RowAssembler::take, sink);
}

/// Passes on what was kept; what is kept anew meanwhile stays.
void RowAssembler::release(void (RowAssembler::*pass_on)(const Row&, EventSink&), EventSink& sink) {
  const bool starts = segment_starts_;
  const std::vector<KeptRow> rows = std::exchange(kept_, {});
  const std::vector<Cell> cells = std::exchange(kept_cells_, {});
  for (const KeptRow& kept : rows) {
    segment_starts_ = kept.starts_segment;
    (this->*pass_on)({std::span(cells).subspan(kept.first_cell, kept.cells), kept.wall_time, kept.prefix}, sink);
  }
  segment_starts_ = starts;
}

/// The counter of a row that could tell of a second writer: not of an evaluation, and not one that an epoch explains.
std::optional<double> RowAssembler::lone_counter(const Row& row) const {
  if (!axis_ || axis_told_ || segment_starts_ || is_evaluation_phase(row.prefix)) return std::nullopt;
  std::optional<double> value;
  for (const Cell& cell : row.cells) {
    if (cell.column >= kMostColumns) continue;
    if (cell.column == axis_) {
      value = cell.value;
    } else if (kinds_[cell.column] == Kind::epoch || cell.column == episode_) {
      return std::nullopt;
    }
  }
  return value && is_step(*value) ? value : std::nullopt;
}

/// Where the counter falls it is not yet clear whether training began anew or a second writer has a say: the rows wait
/// for a moment.
void RowAssembler::take(const Row& row, EventSink& sink) {
  if (segment_starts_ && !doubt_) newest_.reset();
  const std::optional<double> value = lone_counter(row);
  if (!doubt_) {
    if (!value || !newest_ || *value >= *newest_) {
      if (value && newest_ && *value > *newest_) stride_ = *value - *newest_;
      if (value) newest_ = value;
      emit(row, sink);
      return;
    }
    doubt_ = Doubt{.front = *newest_, .stride = stride_};
  }
  keep(row);
  Doubt& doubt = *doubt_;
  if (value && *value < *newest_) {
    ++doubt.falls;
    doubt.rising = 0;
  } else if (value) {
    // Back to where the first writer stands, by more than a step or two of its own.
    const bool returns = *newest_<doubt.front&& * value >= doubt.front&& * value - *newest_> 2 * doubt.stride;
    doubt.returns += returns ? 1 : 0;
    doubt.rising = returns ? 0 : doubt.rising + 1;
  }
  if (value) {
    doubt.front = std::max(doubt.front, *value);
    newest_ = value;
  }
  if (doubt.mixed() || doubt.rising >= kRisingRows || kept_.size() >= kWindowRows) end_doubt(sink);
}

void RowAssembler::end_doubt(EventSink& sink) {
  if (doubt_->mixed()) {
    sink.add(Mark{Mark::Kind::note, current_step_, kNoTime,
                  "several writers share this file: from here on its rows count in their order, not by '" +
                      columns_[*axis_].name + "'"});
    axis_.reset();
    order_ = current_step_;
  }
  doubt_.reset();
  release(&RowAssembler::emit, sink);
}

Row RowAssembler::kept_row(const KeptRow& kept) const {
  return {std::span(kept_cells_).subspan(kept.first_cell, kept.cells), kept.wall_time, kept.prefix};
}

RowAssembler::Trial RowAssembler::try_axis(std::optional<std::uint32_t> axis) const {
  Trial trial;
  std::unordered_map<std::uint64_t, double> last_steps;  // by prefix and column
  double step = kAbsent;
  for (const KeptRow& kept : kept_) {
    const Row row = kept_row(kept);
    const std::uint64_t prefix = std::hash<std::string_view>{}(row.prefix) << 20;
    for (const Cell& cell : row.cells) {
      if (cell.column != axis || cell.value == -1) continue;
      trial.whole = trial.whole && is_step(cell.value);
      trial.rising = trial.rising && !(cell.value < step);
      trial.falling = trial.falling && !(cell.value >= step);
      trial.falls += cell.value < step ? 1 : 0;
      trial.distinct += cell.value != step ? 1 : 0;
      ++trial.rows;
      step = cell.value;
    }
    for (const Cell& cell : row.cells) {
      if (cell.column >= kMostColumns || kinds_[cell.column] != Kind::plain) continue;
      const auto [entry, fresh] = last_steps.try_emplace(prefix ^ cell.column, step);
      // Rows before the first step stand together at the start, so NaN equals NaN here.
      const bool repeats = !fresh && (entry->second == step || (std::isnan(step) && std::isnan(entry->second)));
      trial.repeats += repeats ? 1 : 0;
      entry->second = step;
      ++trial.points;
    }
  }
  return trial;
}

bool RowAssembler::axis_is_clear() const {
  constexpr std::size_t kClearRows = 3;
  constexpr std::size_t kHopelessRows = 8;
  constexpr std::size_t kOrderRows = 16;
  if (kept_.size() < kClearRows) return false;
  if (candidates_.empty()) return kept_.size() >= kOrderRows;
  std::vector<std::uint32_t> ranked = candidates_;
  std::stable_sort(ranked.begin(), ranked.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return columns_[a].tier < columns_[b].tier; });
  for (const std::uint32_t candidate : ranked) {
    if (may_be_length(candidate) && kept_.size() < kOrderRows) return false;
    const Trial trial = try_axis(candidate);
    if (trial.rows == kept_.size() && trial.whole && trial.rising && trial.repeats == 0) {
      const std::size_t needed = columns_[candidate].tier == kEpochTier ? kClearRows + 1 : kClearRows;
      return trial.distinct >= needed;
    }
    if (kept_.size() < kHopelessRows || fits(candidate, trial)) return false;
  }
  return false;
}

/// Whether the column may hold the length of each episode instead of a count of all steps.
bool RowAssembler::may_be_length(std::uint32_t column) const {
  return acts_ && !has_epoch_ && could_name_length(columns_[column].name);
}

bool RowAssembler::fits(std::uint32_t candidate, const Trial& trial) const {
  return trial.accepted() && !(may_be_length(candidate) && trial.goes_up_and_down());
}

void RowAssembler::choose_axis() {
  chosen_ = true;
  std::vector<Trial> trials;
  for (const std::uint32_t candidate : candidates_) trials.push_back(try_axis(candidate));
  std::optional<std::uint32_t> best;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const std::uint32_t candidate = candidates_[i];
    const bool better = !best || columns_[candidate].tier < columns_[*best].tier;
    if (better && fits(candidate, trials[i])) best = candidate;
  }
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const std::uint32_t candidate = candidates_[i];
    if (kinds_[candidate] != Kind::step) continue;
    // Another way to count steps, or a sentinel, tells nothing; but "update" may be a norm.
    const bool length = may_be_length(candidate) && trials[i].goes_up_and_down();
    const bool counts = trials[i].whole && columns_[candidate].tier < kEpisodeTier && !length;
    kinds_[candidate] = counts || candidate == best ? Kind::counter : Kind::plain;
  }
  axis_ = best;
  if (!best) return;
  for (const std::uint32_t candidate : candidates_) {
    if (!has_epoch_ && columns_[candidate].tier == kEpisodeTier && candidate != best) episode_ = candidate;
  }
  const Trial trial = try_axis(best);
  constexpr std::size_t kFewestFalling = 3;
  newest_first_ = trial.falling && trial.rows >= kFewestFalling && trial.rows == kept_.size();
  for (const Cell& cell : kept_cells_) {
    if (cell.column == best) lowest_axis_ = cell.value;
  }
}

void RowAssembler::move_offset(double axis_value, double epoch) {
  const auto value = static_cast<std::int64_t>(axis_value);
  // Once it is known that the counter counts within the epoch, standing still is a fall too (one row per epoch).
  const bool falls = counter_ && (value < *counter_ || (within_epoch_ && value == *counter_));
  if (falls && counter_epoch_ && epoch > *counter_epoch_) {
    within_epoch_ = true;
    epoch_length_ = *counter_ + (value <= 0 ? counter_gap_ : 0);
    constexpr double kMostEpochs = 1000;  // skipped at once; more would be a broken column
    const double epochs = std::clamp(std::floor(epoch - *counter_epoch_), 1.0, kMostEpochs);
    constexpr std::int64_t kLargestOffset = std::int64_t{1} << 60;
    const double moved = static_cast<double>(offset_) + epochs * static_cast<double>(epoch_length_);
    if (moved < static_cast<double>(kLargestOffset)) offset_ += static_cast<std::int64_t>(epochs) * epoch_length_;
  } else if (counter_ && counter_epoch_ && epoch < *counter_epoch_ && offset_ != 0) {
    // Training went back to an earlier epoch: so does the offset.
    const double epochs = std::max(0.0, std::floor(epoch - first_epoch_.value_or(epoch)));
    offset_ = std::min(offset_, static_cast<std::int64_t>(std::min(epochs * static_cast<double>(epoch_length_), 1e18)));
  }
  if (counter_ && value > *counter_) counter_gap_ = value - *counter_;
  counter_ = value;
  if (!std::isnan(epoch)) {
    if (!first_epoch_) first_epoch_ = epoch;
    counter_epoch_ = epoch;
  }
}

std::int64_t RowAssembler::step_of(double axis_value, double epoch, bool evaluation) {
  if (!axis_) {
    if (segment_starts_) order_ = -1;
    segment_starts_ = false;
    return ++order_;
  }
  segment_starts_ = false;
  if (!is_step(axis_value)) return current_step_;
  if (axis_told_) return current_step_ = static_cast<std::int64_t>(axis_value);
  if (evaluation && counter_) {
    const bool same_epoch = epoch_ && epoch == *epoch_;
    return offset_ != 0 || same_epoch ? current_step_ : static_cast<std::int64_t>(axis_value);
  }
  if (!evaluation && !std::isnan(epoch)) epoch_ = epoch;
  // When the epoch is the axis itself, its fall is a restart and nothing else.
  const bool epoch_apart = kinds_[*axis_] != Kind::epoch;
  if (!evaluation) move_offset(axis_value, epoch_apart ? epoch_.value_or(kAbsent) : kAbsent);
  current_step_ = static_cast<std::int64_t>(axis_value) + offset_;
  return current_step_;
}

std::vector<SeriesId>& RowAssembler::series_of(std::string_view prefix) {
  if (prefix_ >= prefixes_.size() || prefixes_[prefix_].text != prefix) {
    const auto known =
        std::find_if(prefixes_.begin(), prefixes_.end(), [&](const Prefix& entry) { return entry.text == prefix; });
    prefix_ = static_cast<std::size_t>(known - prefixes_.begin());
    if (known == prefixes_.end()) prefixes_.push_back({std::string(prefix), is_evaluation_phase(prefix), {}});
  }
  std::vector<SeriesId>& series = prefixes_[prefix_].series;
  if (series.size() < columns_.size()) series.resize(columns_.size(), kUnnamed);
  return series;
}

SeriesId RowAssembler::name_series(std::uint32_t column, std::string_view prefix, EventSink& sink) {
  const std::string& name = columns_[column].name;
  const bool has_prefix = name.size() > prefix.size() && name.starts_with(prefix) &&
                          (name[prefix.size()] == '/' || name[prefix.size()] == '_');
  if (prefix.empty() || has_prefix || kinds_[column] == Kind::epoch) return sink.series(name);
  return sink.series(std::string(prefix) + "/" + name);
}

void RowAssembler::emit(const Row& row, EventSink& sink) {
  std::vector<SeriesId>& series = series_of(row.prefix);
  double axis_value = kAbsent;
  double epoch = kAbsent;
  double wall_time = row.wall_time;
  for (const Cell& cell : row.cells) {
    if (cell.column == episode_) epoch = cell.value;
    if (cell.column >= kMostColumns || kinds_[cell.column] == Kind::plain) continue;
    if (cell.column == axis_) axis_value = cell.value;
    if (kinds_[cell.column] == Kind::epoch) epoch = cell.value;
    if (kinds_[cell.column] == Kind::time && std::isnan(wall_time)) wall_time = to_seconds(cell.value);
  }
  skipped_.judge(axis_told_ || !row.prefix.empty() ? std::span<const Cell>{} : row.cells);
  Event event;
  event.step = step_of(axis_value, epoch, prefixes_[prefix_].evaluation);
  event.wall_time = wall_time;
  RowFigures figures;
  for (const Cell& cell : row.cells) {
    if (cell.column >= kMostColumns) continue;
    const Kind kind = kinds_[cell.column];
    if (kind == Kind::counter || (kind == Kind::time && !std::isnan(to_seconds(cell.value)))) continue;
    if (skipped_.skips(cell.column)) continue;
    if (series[cell.column] == kUnnamed) series[cell.column] = name_series(cell.column, row.prefix, sink);
    figures.count(merits_[cell.column], cell.value);
  }
  emit_cells(row, event, series, figures, sink);
}

void RowAssembler::emit_cells(const Row& row, Event event, const std::vector<SeriesId>& series,
                              const RowFigures& figures, EventSink& sink) {
  for (const Cell& cell : row.cells) {
    if (cell.column >= kMostColumns) continue;
    const Kind kind = kinds_[cell.column];
    if (kind == Kind::counter || (kind == Kind::time && !std::isnan(to_seconds(cell.value)))) continue;
    if (skipped_.skips(cell.column)) continue;
    event.series = series[cell.column];
    event.value = cell.value;
    const Merit merit = kind == Kind::plain ? merits_[cell.column] : Merit::none;
    if (merit == Merit::none || axis_told_) {  // who tells the axis leaves gaps empty
      sink.add(event);
      continue;
    }
    gaps_.take(event, figures.beside(merit, cell.value), sink);
  }
}

}  // namespace osler
