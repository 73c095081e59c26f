// TextReader: the general reader of training output, and the base of the named text formats.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "formats/lines.h"
#include "formats/text/crash.h"
#include "formats/text/length_watch.h"
#include "formats/text/line_kind.h"
#include "formats/text/line_plan.h"
#include "formats/text/series_book.h"
#include "formats/text/step_axis.h"
#include "formats/text/tables.h"
#include "osler/formats/format.h"

namespace osler::text {

/// What a named format knows beyond the general reader.
struct Dialect {
  /// Corrects the plan for a new shape of line; may be null.
  void (*refine)(std::string_view line, const Scan& scan, LinePlan& plan) = nullptr;
};

/// Reads any training output line by line. Lines of a shape that was seen before cost one pass and their numbers.
class TextReader final : public Reader {
 public:
  explicit TextReader(Dialect dialect = {}) : dialect_(dialect) {}

  [[nodiscard]] Result<void> feed(std::span<const std::byte> bytes, EventSink& sink, DamageReport& damage) override;
  [[nodiscard]] Result<void> finish(EventSink& sink, DamageReport& damage) override;

 private:
  static constexpr std::size_t kMostPlans = 8192;
  static constexpr std::size_t kMostSlots = 200'000;  // of all plans together
  static constexpr std::size_t kMostCleared = 4096;
  static constexpr int kCodeLines = 60;  // lines without code after which a listing is over

  /// Numbers of a progress bar that wait until its state is final.
  struct Pending {
    struct Value {
      std::uint32_t entry;
      double value;
      Trust trust;
    };
    bool active = false;
    Place place;
    double wall_time = kNoTime;
    std::vector<Value> values;
  };

  void take(std::string_view text);
  void tell_when_full(DamageReport& damage);
  void read(std::string_view text);
  void hold_in_doubt(std::string_view text);
  void release_doubtful();
  void plain_line(std::string_view text);
  void numbered_line(std::string_view text);
  LinePlan& plan_for(std::string_view text);
  [[nodiscard]] Counters counters_of(const LinePlan& plan, std::string_view text) const;
  void follow(LinePlan& plan, std::string_view text);
  void line_without_values(const LinePlan& plan, std::string_view text, const Counters& counters);
  void collect(LinePlan& plan, std::string_view text, const Place& place, Split block, bool running);
  std::uint32_t entry_of(Slot& slot, const Place& place, Split block, std::int64_t rank, bool running);
  void emit(const std::vector<Pending::Value>& values, const Place& place, double wall_time);
  void hold(const Place& place, double wall_time);
  void keras_state(LinePlan& plan, std::string_view text, const Counters& counters, const Place& place, Split block);
  void note_length(const Counters& counters);
  void possible_step(LinePlan& plan, std::string_view text);
  void note_part(std::string_view text);
  void remember_bar(const LinePlan& plan, std::string_view text, const Counters& counters);
  void table_row(const TableRow& row, bool refreshed);
  const KeyTraits& traits_of(const std::string& name);
  void flush_pending();
  void note_code(std::string_view text);
  void watch_traceback(std::string_view text);
  void note_crash(CrashKind kind, std::string_view text);
  void note_cleared_bar();
  [[nodiscard]] std::int64_t logged_step();

  Dialect dialect_;
  LineSplitter splitter_;
  EventSink* sink_ = nullptr;  // during feed and finish only

  std::string scratch_;
  std::string unwrapped_;
  Scan scan_;
  std::unordered_map<std::uint64_t, std::unique_ptr<LinePlan>> plans_;
  std::size_t planned_slots_ = 0;
  LinePlan* last_plan_ = nullptr;
  std::uint64_t last_shape_ = 0;

  StepAxis axis_;
  SeriesBook book_;
  LengthWatch lengths_;
  std::int64_t episodes_ = 0;  // lines with the length of one
  Tables tables_;
  TableRow row_;
  std::unordered_map<std::string, KeyTraits> table_names_;
  TracebackWatch traceback_;
  std::vector<Pending::Value> values_;
  Pending pending_;
  std::int64_t pending_step_ = 0;  // of a Keras bar, as written
  std::optional<int> part_;        // of the training, as announced last: 0 where the numbers tell of no parts
  bool measured_in_part_ = false;
  Split block_ = Split::none;     // announced by a heading
  int code_ = 0;                  // lines for which a listing is believed to go on
  bool epoch_completed_ = false;  // some Keras bar was full
  bool full_told_ = false;
  bool marks_clipping_ = false;  // some line said that its gradient was clipped: the others say that theirs was not
  std::int64_t epochs_ = 0;      // that are to be trained, as told last
  std::int64_t steps_ = 0;       // the same where no epochs are counted
  bool counts_epochs_ = false;
  double last_epoch_ = -1;  // told with the step beside it; not told again
  std::int64_t last_epoch_step_ = -1;
  // A bar without description: in the output of a trainer that prints no step it is the only one who knows.
  std::int64_t bar_step_ = 0;
  std::int64_t bar_total_ = 0;
  std::int64_t trainer_bar_ = 0;  // the total of the bar that was seen before the first such line
  // Where the bar was cleared to make room for such a line; the lines themselves may come later, out of a buffer.
  std::deque<std::int64_t> cleared_;
  std::optional<std::pair<CrashKind, Mark>> last_crash_;  // every process tells of the same one
};

/// Whether the head of a file looks like the output of a training; the sniffer of the general reader.
[[nodiscard]] Sniff sniff_text(const Peek& peek);

}  // namespace osler::text
