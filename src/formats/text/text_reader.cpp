// From lines to events.
#include "formats/text/text_reader.h"

#include <algorithm>
#include <cmath>

#include "formats/numbers.h"
#include "formats/text/line_kind.h"
#include "formats/text/plain_text.h"
#include "formats/text/records.h"
#include "formats/text/settings.h"
#include "formats/text/wall_clock.h"

namespace osler::text {
namespace {

constexpr std::int64_t kLargestRank = 63;
/// What lies further behind in a line belongs to no training log; plans would be costly to make for it.
constexpr std::size_t kLongestRead = 64 * 1024;
constexpr double kLargestCount = 1e15;       // larger numbers are no counters
constexpr std::size_t kClearingBlanks = 20;  // with which a progress bar wipes itself out

std::string_view without_end_spaces(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// Where other output starts right behind a progress bar that was not cleared ("[00:05<04:12, 1.9it/s]{'loss': ..."),
/// or 0.
std::size_t end_of_bar(std::string_view text) {
  const std::size_t percent = text.find("%|");
  if (percent == std::string_view::npos) return 0;
  const std::size_t times = text.find('<', percent);
  if (times == std::string_view::npos) return 0;
  const std::size_t close = text.find(']', times);
  return close == std::string_view::npos || close + 1 >= text.size() ? 0 : close + 1;
}

/// Whether the line says that this step's gradient was clipped: "grad_norm=1.0000[CLIPPED]".
bool says_clipped(std::string_view text) {
  for (const std::string_view mark : {"[CLIPPED]", "[clipped]", "(CLIPPED)", "(clipped)"}) {
    if (text.find(mark) != std::string_view::npos) return true;
  }
  return false;
}

bool has_norm(const LinePlan& plan) {
  return std::any_of(plan.slots.begin(), plan.slots.end(), [](const Slot& slot) {
    return slot.use != Slot::Use::skip && slot.name.find("norm") != std::string::npos;
  });
}

bool blank(std::string_view text) {
  return text.find_first_not_of(" \t") == std::string_view::npos;
}

}  // namespace

Result<void> TextReader::feed(std::span<const std::byte> bytes, EventSink& sink, DamageReport& damage) {
  sink_ = &sink;
  splitter_.feed(bytes, damage, [this](const Line& line) { take(line.text); });
  tell_when_full(damage);
  return {};
}

Result<void> TextReader::finish(EventSink& sink, DamageReport& damage) {
  sink_ = &sink;
  splitter_.finish(damage, [this](const Line& line) { take(line.text); });
  if (lengths_.waits()) release_doubtful();
  if (tables_.end_block(row_)) table_row(row_, false);
  flush_pending();
  book_.finish(sink);
  tell_when_full(damage);
  return {};
}

void TextReader::tell_when_full(DamageReport& damage) {
  if (!book_.full() || full_told_) return;
  full_told_ = true;
  damage.add({{}, 0, 0, "more than 100000 different series; further ones were left out", 0});
}

void TextReader::take(std::string_view text) {
  if (text.size() >= kClearingBlanks && blank(text)) note_cleared_bar();
  text = without_end_spaces(bare_numbers(plain_text(text, scratch_), unwrapped_));
  for (std::size_t end = end_of_bar(text); end != 0; end = end_of_bar(text)) {
    read(text.substr(0, end));
    text.remove_prefix(end);
  }
  // Old progress bars draw themselves anew behind backspaces.
  for (std::size_t back = text.find('\b'); back != std::string_view::npos; back = text.find('\b')) {
    if (back > 0) read(text.substr(0, back));
    text.remove_prefix(back + 1);
  }
  bool several = false;
  while (!text.empty()) read(take_record(text, several));
}

void TextReader::read(std::string_view text) {
  text = text.substr(0, kLongestRead);
  if (lengths_.waits()) {
    hold_in_doubt(text);
    return;
  }
  if (Tables::fenced(text)) {
    if (tables_.fenced_line(text, row_)) table_row(row_, false);
    return;
  }
  if (tables_.end_block(row_)) table_row(row_, false);
  scan_line(text, scan_);
  if (scan_.numbers.empty()) {
    plain_line(text);
  } else {
    numbered_line(text);
  }
}

/// Keeps a line until it is clear what "steps: 21, reward: 30" means.
void TextReader::hold_in_doubt(std::string_view text) {
  lengths_.hold(text);
  scan_line(text, scan_);
  if (!scan_.numbers.empty()) {
    const LinePlan& plan = plan_for(text);
    if (plan.may_be_length) lengths_.number(value_of(text, scan_.numbers[static_cast<std::size_t>(plan.step)]));
  }
  if (lengths_.enough()) release_doubtful();
}

void TextReader::release_doubtful() {
  for (const std::string& line : lengths_.settle()) read(line);
}

void TextReader::plain_line(std::string_view text) {
  watch_traceback(text);
  note_code(text);
  if (code_ > 0) return;
  if (const Split split = announced_split(text); split != Split::none) {
    block_ = is_evaluation(split) ? split : Split::none;
  }
  tables_.offer_header(text);
  find_word_settings(text, *sink_);
}

void TextReader::watch_traceback(std::string_view text) {
  const bool inside = traceback_.inside();
  const std::optional<std::string> exception = traceback_.line(text);
  if (exception && exception->starts_with("KeyboardInterrupt")) {
    sink_->add(Mark{Mark::Kind::note, axis_.current(), kNoTime, "stopped by hand (KeyboardInterrupt)"});
  } else if (exception) {
    note_crash(kind_of_exception(*exception), *exception);
  } else if (!inside && !traceback_.inside()) {
    if (const auto kind = crash_of_line(text)) note_crash(*kind, text);
  }
}

void TextReader::note_crash(CrashKind kind, std::string_view text) {
  Mark mark{Mark::Kind::crashed, axis_.current(), kNoTime, crash_text(kind, text)};
  if (last_crash_ && last_crash_->second.step == mark.step) {
    const auto& [before, told] = *last_crash_;
    if (before == kind && (kind != CrashKind::exception || told.text == mark.text)) return;
    if (adds_nothing(kind, text, before)) return;
  }
  last_crash_ = {kind, mark};
  sink_->add(std::move(mark));
}

void TextReader::note_cleared_bar() {
  const bool trainers = bar_total_ > 0 && (trainer_bar_ == 0 || bar_total_ == trainer_bar_);
  if (trainers && cleared_.size() < kMostCleared) cleared_.push_back(bar_step_);
}

/// The step of a line that a trainer printed between states of its bar.
std::int64_t TextReader::logged_step() {
  if (cleared_.empty()) return bar_step_;
  const std::int64_t step = cleared_.front();
  cleared_.pop_front();
  return step;
}

void TextReader::note_code(std::string_view text) {
  if (opens_code(text)) {
    code_ = kCodeLines;
  } else if (code_ > 0) {
    code_ = looks_like_code(text) ? kCodeLines : code_ - 1;
  }
}

void TextReader::numbered_line(std::string_view text) {
  if (book_.crowded()) {
    // Entry numbers change: what refers to them ends or starts afresh.
    flush_pending();
    book_.tidy();
    plans_.clear();
    planned_slots_ = 0;
    last_plan_ = nullptr;
  }
  LinePlan& plan = plan_for(text);
  if (traceback_.inside() || plan.crash) watch_traceback(text);
  if (plan.code) {
    if (code_ > 0 || opens_code(text)) code_ = kCodeLines;
    return;
  }
  if (code_ > 0) {
    // Within a listing only a line that counts and measures ends the listing.
    if (!plan.counted() || !plan.values || plan.named < 2) {
      --code_;
      return;
    }
    code_ = 0;
  }
  follow(plan, text);
}

LinePlan& TextReader::plan_for(std::string_view text) {
  if (last_plan_ != nullptr && last_shape_ == scan_.shape) return *last_plan_;
  last_shape_ = scan_.shape;
  const auto known = plans_.find(scan_.shape);
  if (known != plans_.end() && known->second->slots.size() == scan_.numbers.size()) {
    last_plan_ = known->second.get();
    return *last_plan_;
  }
  if (plans_.size() >= kMostPlans || planned_slots_ >= kMostSlots) {
    plans_.clear();
    planned_slots_ = 0;
  }
  planned_slots_ += scan_.numbers.size();
  auto plan = std::make_unique<LinePlan>(plan_line(text, scan_));
  if (dialect_.refine != nullptr) dialect_.refine(text, scan_, *plan);
  plan->crash = crash_of_line(text).has_value();
  plan->norm = has_norm(*plan);
  plan->clipped = plan->norm && says_clipped(text);
  if (!plan->code && !plan->counted() && code_ == 0) {
    plan->settings = find_settings(text, scan_);
    if (!plan->values) find_word_settings(text, *sink_);
  }
  last_plan_ = plan.get();
  plans_[scan_.shape] = std::move(plan);
  return *last_plan_;
}

Counters TextReader::counters_of(const LinePlan& plan, std::string_view text) const {
  Counters counters;
  const auto count_at = [&](std::int16_t index) -> std::optional<double> {
    if (index < 0) return std::nullopt;
    const double value = value_of(text, scan_.numbers[static_cast<std::size_t>(index)]);
    if (!(std::fabs(value) < kLargestCount)) return std::nullopt;
    return value;
  };
  if (const auto step = count_at(plan.step)) counters.step = static_cast<std::int64_t>(*step);
  if (const auto total = count_at(plan.total)) counters.total = static_cast<std::int64_t>(*total);
  counters.epoch = count_at(plan.epoch);
  if (const auto epochs = count_at(plan.epochs)) counters.epochs = static_cast<std::int64_t>(*epochs);
  counters.fractional_epoch = plan.fractional_epoch;
  counters.kind = plan.counter_kind;
  counters.name = plan.counter;
  counters.shape = scan_.shape;
  counters.evaluation = plan.evaluation;
  counters.batches = plan.batches;
  const bool length = plan.may_be_length && lengths_.verdict() == LengthWatch::Verdict::lengths;
  if (length) counters.step = episodes_;
  return counters;
}

void TextReader::follow(LinePlan& plan, std::string_view text) {
  if (plan.may_be_length && lengths_.verdict() == LengthWatch::Verdict::open) {
    hold_in_doubt(text);
    return;
  }
  if (plan.possible_step) {
    possible_step(plan, text);
    return;
  }
  Counters counters = counters_of(plan, text);
  const bool own_name = counters.kind == CounterKind::named || plan.epoch >= 0;
  const bool below_heading = !plan.counted() || (!own_name && plan.split == Split::none);
  const Split block = below_heading ? block_ : Split::none;
  if (plan.counted() && is_evaluation(block)) counters.evaluation = true;
  note_length(counters);
  for (const Setting& setting : plan.settings) {
    const Number& number = scan_.numbers[setting.number];
    sink_->config(setting.name, text.substr(number.begin, number.unit_end - number.begin));
  }
  if (!plan.values && !plan.counted()) note_part(text);
  if (!plan.values) {
    line_without_values(plan, text, counters);
    return;
  }
  if (tables_.has_header() && !plan.metric && !own_name && tables_.column_line(text, row_)) {
    table_row(row_, false);
    return;
  }
  if (plan.counted()) block_ = counters.evaluation && is_evaluation(plan.split) ? plan.split : Split::none;
  if (plan.fractional_epoch && !counters.step && bar_total_ > 0) {
    if (trainer_bar_ == 0) trainer_bar_ = bar_total_;
    const bool buffered = !cleared_.empty();
    const std::int64_t step = logged_step();
    if (bar_total_ == trainer_bar_ && (buffered || !counters.evaluation)) axis_.move_to(step);
  }
  if (plan.may_be_length) ++episodes_;
  const Place place = axis_.place(counters);
  if (plan.bar == Bar::keras) {
    keras_state(plan, text, counters, place, block);
    return;
  }
  if (plan.bar == Bar::none) flush_pending();
  collect(plan, text, place, block, false);
  const double wall_time = plan.dated ? wall_time_of(text) : kNoTime;
  if (plan.bar == Bar::tqdm) {
    hold(place, wall_time);
  } else {
    emit(values_, place, wall_time);
  }
}

/// "Epoch 3/50", "step 200/20000": how long the run is to be. Where epochs are counted, a number of steps is that of
/// one.
void TextReader::note_length(const Counters& counters) {
  const auto tell = [&](std::string_view name, std::int64_t length, std::int64_t& told) {
    if (length > 1 && length != told) sink_->config(name, std::to_string(length));
    told = length;
  };
  if (counters.epochs) tell("epochs", *counters.epochs, epochs_);
  counts_epochs_ |= counters.epoch.has_value();
  const bool of_run = counters.kind == CounterKind::named && !counters.evaluation && !counts_epochs_;
  if (of_run && counters.total) tell("total_steps", *counters.total, steps_);
}

/// "Batch = 100" above "Correct = 14 %": something that was chosen where it stands once, the step of the lines below
/// where it rises.
void TextReader::possible_step(LinePlan& plan, std::string_view text) {
  const double count = value_of(text, scan_.numbers.front());
  plan.rose = plan.rose || (plan.count && count > *plan.count);
  plan.count = count;
  if (!plan.rose) return;
  if (!(std::fabs(count) < kLargestCount)) return;
  Counters counters;
  counters.step = static_cast<std::int64_t>(count);
  counters.kind = CounterKind::named;
  counters.name = scan_.shape;
  axis_.heading(counters);
}

/// "Fold 2/5", "Training layer 2 ...": what follows is another curve than what came before. Numbers that do not rise
/// from one part that was measured to the next, as in the summary of a model, tell of none.
void TextReader::note_part(std::string_view text) {
  const std::optional<int> part = announced_part(text);
  if (!part || part_ == 0) return;
  const bool next = part_ && *part > *part_ && measured_in_part_;
  part_ = part_ && *part < *part_ ? 0 : *part;
  measured_in_part_ = false;
  if (!next) return;
  flush_pending();
  axis_.begin_part();
  sink_->add(
      Mark{Mark::Kind::note, axis_.current(), kNoTime, "another part of the training: " + std::string(trim(text))});
}

void TextReader::line_without_values(const LinePlan& plan, std::string_view text, const Counters& counters) {
  if (!plan.counted() || plan.bar == Bar::tqdm) {
    if (tables_.column_line(text, row_)) {
      table_row(row_, plan.bar == Bar::tqdm);
      return;
    }
    if (plan.bar == Bar::tqdm) {
      tables_.offer_header(text);
      remember_bar(plan, text, counters);
      return;
    }
  }
  const Split split = announced_split(text);
  if (split != Split::none) block_ = is_evaluation(split) ? split : Split::none;
  if (!plan.counted()) return;
  if (split == Split::none && plan.epoch >= 0) block_ = Split::none;
  if (plan.epoch >= 0 || plan.heading) axis_.heading(counters);
}

void TextReader::remember_bar(const LinePlan& plan, std::string_view text, const Counters& counters) {
  const std::string_view description = text.substr(0, scan_.numbers.front().begin);
  if (!blank(description) || plan.epoch >= 0 || !counters.step || !counters.total) return;
  if (trainer_bar_ != 0 && *counters.total != trainer_bar_) return;
  bar_step_ = *counters.step;
  bar_total_ = *counters.total;
}

std::uint32_t TextReader::entry_of(Slot& slot, const Place& place, Split block, std::int64_t rank, bool running) {
  const Split split = slot.split != Split::none ? slot.split : slot.takes_block ? block : Split::none;
  const auto context = static_cast<std::uint32_t>(split) | static_cast<std::uint32_t>(place.lane) << 4 |
                       static_cast<std::uint32_t>(place.grain) << 8 | static_cast<std::uint32_t>(rank) << 12 |
                       static_cast<std::uint32_t>(running) << 24;
  for (const auto& [known, entry] : slot.series) {
    if (known == context) return entry;
  }
  std::string name;
  if (split != Split::none) name.append(to_string(split)).append("/");
  name += slot.name;
  if (running) name += " (running)";
  if (rank > 0) name += " (rank " + std::to_string(rank) + ")";
  if (place.lane > 0) name += " #" + std::to_string(place.lane + 1);
  const std::uint32_t entry = book_.entry(name, place.grain);
  slot.series.emplace_back(context, entry);
  return entry;
}

void TextReader::collect(LinePlan& plan, std::string_view text, const Place& place, Split block, bool running) {
  values_.clear();
  std::int64_t rank = 0;
  if (plan.rank >= 0) {
    const double written = value_of(text, scan_.numbers[static_cast<std::size_t>(plan.rank)]);
    rank = static_cast<std::int64_t>(std::clamp(written, 0.0, static_cast<double>(kLargestRank)));
  }
  if (plan.fixed_rank > 0) rank = std::min<std::int64_t>(plan.fixed_rank, kLargestRank);
  for (std::size_t k = 0; k < plan.slots.size(); ++k) {
    Slot& slot = plan.slots[k];
    if (slot.use == Slot::Use::skip) continue;
    double value = value_of(text, scan_.numbers[k]);
    if (slot.use == Slot::Use::ratio) value /= value_of(text, scan_.numbers[k + 1]);
    if (slot.drops_nonfinite && !std::isfinite(value)) continue;
    values_.push_back({entry_of(slot, place, block, rank, running), value, slot.trust});
  }
  marks_clipping_ = marks_clipping_ || plan.clipped;
  if (marks_clipping_ && plan.norm && !running && rank == 0)
    values_.push_back({book_.entry("clipped", place.grain), plan.clipped ? 1.0 : 0.0, Trust::certain});
  // Other processes may have reached another epoch; the first one's is the run's.
  if (plan.epoch >= 0 && !plan.slots.empty() && place.grain != Grain::none && !running && rank == 0) {
    Slot& slot = plan.slots[static_cast<std::size_t>(plan.epoch)];
    slot.name = "epoch";
    const double epoch = value_of(text, scan_.numbers[static_cast<std::size_t>(plan.epoch)]);
    if (plan.bar == Bar::none && epoch == last_epoch_ && place.step == last_epoch_step_) return;
    last_epoch_ = epoch;
    last_epoch_step_ = place.step;
    values_.push_back({entry_of(slot, {place.step, Grain::step, place.own, place.lane}, Split::none, 0, false), epoch,
                       Trust::certain});
  }
}

void TextReader::emit(const std::vector<Pending::Value>& values, const Place& place, double wall_time) {
  measured_in_part_ |= !values.empty();
  RowFigures figures;
  for (const Pending::Value& value : values) figures.count(book_.merit(value.entry), value.value);
  for (const Pending::Value& value : values) {
    const bool others = figures.beside(book_.merit(value.entry), value.value);
    book_.add(value.entry, {place.step, wall_time, value.value, others}, place.own, value.trust, axis_.generation(),
              *sink_);
  }
}

void TextReader::hold(const Place& place, double wall_time) {
  if (pending_.active && pending_.place.step != place.step) flush_pending();
  pending_.active = true;
  pending_.place = place;
  pending_.wall_time = wall_time;
  pending_.values.swap(values_);
}

void TextReader::flush_pending() {
  if (!pending_.active) return;
  pending_.active = false;
  emit(pending_.values, pending_.place, pending_.wall_time);
}

void TextReader::keras_state(LinePlan& plan, std::string_view text, const Counters& counters, const Place& place,
                             Split block) {
  const bool full = counters.step && counters.total && *counters.step >= *counters.total;
  const double wall_time = plan.dated ? wall_time_of(text) : kNoTime;
  if (full && text.find("ETA:") == std::string_view::npos) {
    pending_.active = false;
    epoch_completed_ = true;
    collect(plan, text, place, block, false);
    emit(values_, place, wall_time);
    return;
  }
  if (!epoch_completed_ && !full) {
    // Until an epoch is over its running means are all there is to see.
    collect(plan, text, place, block, true);
    emit(values_, place, wall_time);
  }
  // The states of one epoch replace each other; what the last epoch left unfinished is its result.
  const bool same_epoch = counters.step && pending_step_ <= *counters.step;
  if (pending_.active && !same_epoch) flush_pending();
  pending_.active = false;
  pending_step_ = counters.step.value_or(0);
  collect(plan, text, place, block, false);
  hold(place, wall_time);
}

const KeyTraits& TextReader::traits_of(const std::string& name) {
  if (const auto known = table_names_.find(name); known != table_names_.end()) return known->second;
  if (table_names_.size() >= kMostPlans) table_names_.clear();
  return table_names_.emplace(name, describe_key(name)).first->second;
}

void TextReader::table_row(const TableRow& row, bool refreshed) {
  Counters counters;
  counters.kind = CounterKind::named;
  std::uint8_t best_tier = 255;
  for (const TableCell& cell : row) {
    const KeyTraits& traits = traits_of(cell.name);
    if (!(std::fabs(cell.value) < kLargestCount)) continue;
    if (traits.epoch) {
      counters.epoch = cell.value;
      counters.fractional_epoch = !cell.integer;
    } else if (traits.step != 0 && traits.step < best_tier && std::floor(cell.value) == cell.value) {
      best_tier = traits.step;
      counters.step = static_cast<std::int64_t>(cell.value);
      counters.name = traits.step;
    }
  }
  const bool counted = counters.step || counters.epoch;
  const bool metric =
      std::any_of(row.begin(), row.end(), [&](const TableCell& cell) { return traits_of(cell.name).metric; });
  const Place place = axis_.place(counters);
  const Split block = counted ? Split::none : block_;
  values_.clear();
  for (const TableCell& cell : row) {
    const KeyTraits& traits = traits_of(cell.name);
    if (traits.ignored || traits.step == best_tier) continue;
    const Trust trust = counted || metric ? Trust::certain : Trust::doubtful;
    const bool heading = metric && traits.split == Split::none && block != Split::none;
    const Grain grain = traits.epoch ? Grain::step : place.grain;
    const std::uint32_t entry = heading ? book_.entry(std::string(to_string(block)) + "/" + cell.name, grain)
                                        : book_.entry(traits.epoch ? "epoch" : cell.name, grain);
    values_.push_back({entry, cell.value, trust});
  }
  if (refreshed) {
    hold(place, kNoTime);
  } else {
    emit(values_, place, kNoTime);
  }
}

}  // namespace osler::text
