// Working out what the numbers of a line mean.
#include "formats/text/line_plan.h"

#include <algorithm>
#include <cmath>

#include "formats/numbers.h"
#include "formats/text/key.h"
#include "formats/text/line_kind.h"
#include "formats/text/line_parts.h"
#include "formats/text/wall_clock.h"

namespace osler::text {
namespace {

constexpr std::size_t kMostSplits = 64;   // per line; no line needs more
constexpr std::size_t kLongestList = 16;  // "lr=[...]": more are data, not a handful of parameter groups

bool only(std::string_view text, std::string_view allowed) {
  return text.find_first_not_of(allowed) == std::string_view::npos;
}

class Planner {
 public:
  Planner(std::string_view line, const Scan& scan) : line_(line), numbers_(scan.numbers) {}

  LinePlan run() {
    plan_.slots.resize(numbers_.size());
    if (const CocoLine coco = coco_line(line_); coco.is_one) return plan_coco(coco.figure);
    plan_.code = looks_like_code(line_);
    if (plan_.code) return std::move(plan_);
    plan_.dated = !std::isnan(wall_time_of(line_));
    parts_ = parts_of(line_, numbers_, plan_.named);
    if (only_prepares()) return std::move(plan_);
    find_splits();
    find_bar();
    find_counters();
    note_possible_counter();
    assign_values();
    settle_trust();
    tell_counters_apart();
    return std::move(plan_);
  }

 private:
  /// "Processing 100/2000 files, 120 files/s": neither steps of a training nor what it measures.
  [[nodiscard]] bool only_prepares() const {
    const auto trains = [](const Part& part) { return part.traits.metric || part.traits.epoch; };
    return prepares_data(line_) && std::none_of(parts_.begin(), parts_.end(), trains);
  }

  /// Of such a line only the last number is a result.
  LinePlan plan_coco(std::string_view figure) {
    if (figure.empty() || numbers_.empty()) return std::move(plan_);
    Slot& slot = plan_.slots.back();
    slot.name = figure;
    slot.use = Slot::Use::value;
    slot.split = Split::eval;
    slot.trust = Trust::certain;
    plan_.metric = plan_.values = plan_.evaluation = true;
    return std::move(plan_);
  }
  [[nodiscard]] char after(std::size_t k) const {
    const std::size_t end = numbers_[k].unit_end;
    return end < line_.size() ? line_[end] : '\0';
  }
  [[nodiscard]] bool integer(std::size_t k) const { return numbers_[k].written == Written::integer; }
  [[nodiscard]] std::string_view rest_after(std::size_t k) const { return line_.substr(numbers_[k].unit_end); }
  [[nodiscard]] std::string_view unit_of(std::size_t k) const { return osler::text::unit_of(line_, numbers_[k]); }
  [[nodiscard]] bool lasts(std::size_t k) const { return osler::text::lasts(line_, numbers_[k]); }
  [[nodiscard]] bool is_counter(std::size_t k) const {
    const auto index = static_cast<std::int16_t>(k);
    return index == plan_.epoch || index == plan_.step || index == plan_.total || index == plan_.rank;
  }

  /// Words like "train" or "[valid]" that stand for themselves, with their places.
  void find_splits() {
    for (std::size_t at = 0; at < line_.size();) {
      if (!is_word_character(line_[at])) {
        ++at;
        continue;
      }
      const std::size_t end = end_of_word(line_, at);
      const std::string_view word = line_.substr(at, end - at);
      const Split split = split_of(word);
      if (split != Split::none && splits_.size() < kMostSplits) splits_.emplace_back(at, split);
      if (word.size() > 4 && word.size() < 8 && starts_with_folded(word, "rank")) note_rank(word.substr(4));
      at = end;
    }
    if (line_.find("Saving dict for ") != line_.npos) splits_.assign(1, {0, Split::eval});  // TensorFlow's Estimator
    // "train 2.1s" says how long training took, not on what data the other figures were measured.
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      if (!parts_[k].traits.bare_split || !lasts(k)) continue;
      std::erase_if(splits_, [&](const auto& split) { return split.first == parts_[k].key.begin; });
    }
    if (!splits_.empty()) plan_.split = splits_.front().second;
  }

  void note_rank(std::string_view digits) {
    std::int16_t rank = 0;
    for (const char c : digits) {
      if (c < '0' || c > '9') return;
      rank = static_cast<std::int16_t>(rank * 10 + (c - '0'));
    }
    plan_.fixed_rank = rank;
  }

  [[nodiscard]] Split split_before(std::size_t place) const {
    Split found = Split::none;
    for (const auto& [at, split] : splits_) {
      if (at < place) found = split;
    }
    return found;
  }

  void find_bar() {
    for (std::size_t k = 0; k + 2 < numbers_.size(); ++k) {
      if (unit_of(k) == "%" && after(k) == '|' && parts_[k + 1].numerator) {
        set_step(k + 1, CounterKind::bar, "bar");
        plan_.bar = Bar::tqdm;
        description_ = k;
        return;
      }
    }
    if (numbers_.size() < 2 || !parts_[0].numerator || !trim(parts_[0].gap).empty()) return;
    std::string_view rest = trim(rest_after(1));
    const bool drawn = rest.size() > 2 && rest[0] == '[' && only(rest.substr(1, 1), "=>.#-");
    if (drawn || rest.starts_with("- ")) {
      set_step(0, CounterKind::epoch_bar, "bar");
      plan_.bar = Bar::keras;
    }
  }

  void set_step(std::size_t k, CounterKind kind, std::string_view name) {
    plan_.step = static_cast<std::int16_t>(k);
    plan_.total = parts_[k].numerator ? static_cast<std::int16_t>(k + 1) : std::int16_t{-1};
    plan_.counter_kind = kind;
    plan_.counter = 0xCBF29CE484222325U;
    add_to_counter(name);
  }

  /// Counters of the same name may count different things in lines that tell different things.
  void tell_counters_apart() {
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      if (plan_.slots[k].use == Slot::Use::skip || parts_[k].key.text.empty()) continue;
      add_to_counter(plan_.slots[k].name);
      break;
    }
    if (plan_.values || plan_.step < 0) return;
    // "Step 100", "=== iteration 5/20 ===": not "Grad overflow on iteration 5" and not "STEPS: 14000".
    const auto counts = [](const Part& part) { return part.denominator || part.traits.epoch || part.traits.step != 0; };
    const std::string_view name = parts_[static_cast<std::size_t>(plan_.step)].key.text;
    const bool plural = !name.empty() && (name.back() == 's' || name.back() == 'S');
    plan_.heading = !plural && line_.size() < 100 && std::all_of(parts_.begin(), parts_.end(), counts) &&
                    only_date_and_level(line_.substr(0, parts_.front().key.begin));
  }

  void add_to_counter(std::string_view name) {
    for (const char c : name) plan_.counter = (plan_.counter ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  }

  /// "episode: 3, score: 21, steps: 187", "Ep 3 | Steps 187 | Reward 21": episodes are counted; the steps are how long
  /// this one was.
  [[nodiscard]] bool length_of_episode(std::size_t k) const {
    const auto counts_one = [&](const Part& part) {
      const std::string_view name = part.key.text;
      const bool one = starts_with_folded(name, "episode") && !is_word(name, "episodes");
      return (part.traits.step != 0 && one) || (part.traits.epoch && is_word(name, "ep") && rewards());
    };
    return could_be_length(k) && std::any_of(parts_.begin(), parts_.end(), counts_one);
  }

  static bool is_word(std::string_view name, std::string_view word) {
    return name.size() == word.size() && starts_with_folded(name, word);
  }

  [[nodiscard]] bool could_be_length(std::size_t k) const {
    const std::string_view name = parts_[k].key.text;
    return is_word(name, "steps") || is_word(name, "timesteps") || is_word(name, "frames");
  }

  /// Whether a number is what an agent earned.
  [[nodiscard]] bool rewards() const {
    return std::any_of(parts_.begin(), parts_.end(), [](const Part& part) {
      const std::string_view name = part.key.text;
      const std::string_view last = name.substr(name.find_last_of(" _/") + 1);
      return is_word(last, "reward") || is_word(last, "return") || is_word(last, "score");
    });
  }

  /// "iterations:20000 warmup_steps:20", "Batch=192, Filters=32": what is to be done, not what was.
  [[nodiscard]] bool is_chosen(std::size_t k) const {
    if (any_metric() || plan_.epoch >= 0 || parts_[k].numerator) return false;
    const std::string_view name = parts_[k].key.text;
    const bool plural = !name.empty() && (name.back() == 's' || name.back() == 'S');
    const bool beside = std::any_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.traits.setting; });
    const bool batch = starts_with_folded(name, "batch") && parts_[k].key.separated;
    return batch || (plural && beside && parts_[k].key.separated);
  }

  /// "Episode 3 - Truncated at step 1000": where an episode is counted before, the step is a remark on it.
  [[nodiscard]] bool is_remark(std::size_t k) const {
    if (parts_[k].name_for_next.empty() || describe_key(parts_[k].name_for_next).metric) return false;
    return std::any_of(parts_.begin(), parts_.begin() + static_cast<std::ptrdiff_t>(k), [](const Part& part) {
      return part.traits.step != 0 && part.name_for_next.empty() && part.key.text.size() >= 7 &&
             starts_with_folded(part.key.text.substr(part.key.text.size() - 7), "episode");
    });
  }

  /// "Batch = 100" on a line of its own: what is to be done, unless it comes again and rises.
  void note_possible_counter() {
    if (parts_.size() != 1 || plan_.counted() || parts_[0].traits.step == 0 || !integer(0) || !is_chosen(0)) return;
    if (!trim(rest_after(0)).empty() || !only_date_and_level(line_.substr(0, parts_[0].key.begin))) return;
    plan_.possible_step = true;
    plan_.counter_kind = CounterKind::named;
  }

  void find_counters() {
    std::uint8_t best_tier = 255;
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      const KeyTraits& traits = parts_[k].traits;
      if (numbers_[k].written == Written::nonfinite) continue;
      if (((traits.epoch && !lasts(k)) || unit_of(k) == "epoch") && plan_.epoch < 0) {
        plan_.epoch = static_cast<std::int16_t>(k);
        plan_.fractional_epoch = !integer(k);
      }
      if (traits.step != 0 && traits.step < best_tier && plan_.bar == Bar::none && integer(k) &&
          !length_of_episode(k) && !is_chosen(k) && !is_remark(k)) {
        best_tier = traits.step;
        set_step(k, CounterKind::named, parts_[k].key.text);
      }
      const std::string_view name = parts_[k].key.text;
      const bool letter = k == 0 && (name == "s" || name == "i") && parts_[k].key.begin == 0 && numbers_.size() > 1;
      if (letter && integer(k) && plan_.step < 0) set_step(k, CounterKind::named, name);  // llm.c: "s:100 trl:3.5"
      if (parts_[k].key.text.size() == 4 && starts_with_folded(parts_[k].key.text, "rank") && integer(k)) {
        plan_.rank = static_cast<std::int16_t>(k);
      }
    }
    if (plan_.step < 0 && plan_.epoch < 0) find_counter_before_value();
    if (plan_.step < 0) find_bare_counter();
    plan_.batches = counts_batches();
    const bool alone = plan_.step >= 0 && plan_.epoch < 0 && plan_.total < 0;
    plan_.may_be_length = alone && could_be_length(static_cast<std::size_t>(plan_.step)) && rewards();
    const bool of_all = plan_.epoch >= 0 && parts_[static_cast<std::size_t>(plan_.epoch)].numerator;
    if (of_all) plan_.epochs = static_cast<std::int16_t>(plan_.epoch + 1);
  }

  /// "[Epoch 1/300] [Batch 300/940]", "Epoch: 1 [300/940]"
  [[nodiscard]] bool counts_batches() const {
    if (plan_.epoch < 0 || plan_.step < 0) return false;
    constexpr std::string_view kBatch = "batch";
    const std::string_view name = parts_[static_cast<std::size_t>(plan_.step)].key.text;
    const bool named =
        name.size() >= kBatch.size() && starts_with_folded(name.substr(name.size() - kBatch.size()), kBatch);
    return named || plan_.counter_kind == CounterKind::bare;
  }

  /// "Train loss 100 0.53", "Validation loss 100: 0.61": the integer counts, the name belongs to the number behind it.
  void find_counter_before_value() {
    for (std::size_t k = 0; k + 1 < parts_.size(); ++k) {
      Part& part = parts_[k];
      Part& next = parts_[k + 1];
      const bool pair = part.traits.metric && !part.key.separated && integer(k) && !part.numerator &&
                        next.key.text.empty() && !integer(k + 1) && only(next.gap, " :");
      if (!pair) continue;
      set_step(k, CounterKind::named, part.key.text);
      next.key = part.key;
      next.traits = part.traits;
      part.key = {};
      return;
    }
  }

  /// Counters without a name, known by where they stand.
  void find_bare_counter() {
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      if (!parts_[k].numerator) continue;
      const bool after_epoch = plan_.epoch >= 0 && only(parts_[k].gap, " \t[]():,-|=") &&
                               (k == static_cast<std::size_t>(plan_.epoch) + 1 ||
                                (k == static_cast<std::size_t>(plan_.epoch) + 2 && parts_[k - 1].denominator));
      if (after_epoch) return set_step(k, CounterKind::bare, "bare");
      // "Train: 3 [100/600 ...]"
      if (k > 0 && plan_.epoch < 0 && parts_[k - 1].traits.bare_split && integer(k - 1) && trim(parts_[k].gap) == "[") {
        plan_.epoch = static_cast<std::int16_t>(k - 1);
        return set_step(k, CounterKind::bare, "bare");
      }
      // "Train: [3/10][100/600]", "val[10/157]"
      if (parts_[k].traits.bare_split && parts_[k].key.in_list) {
        const bool pair =
            plan_.epoch < 0 && k + 2 < parts_.size() && parts_[k + 2].numerator && trim(parts_[k + 2].gap) == "][";
        if (pair) plan_.epoch = static_cast<std::int16_t>(k);
        return set_step(pair ? k + 2 : k, CounterKind::bare, "bare");
      }
    }
    if (plan_.epoch >= 0) return;
    if (parts_.size() > 4 && parts_[2].numerator && line_[0] == '[' && trim(parts_[2].gap) == "][") {
      plan_.epoch = 0;  // "[3/25][100/1583] Loss_D: 0.5"
      return set_step(2, CounterKind::bare, "bare");
    }
    // "[eval @ 5,000] reward= +252.00", "Train 100: loss:0.28"
    for (std::size_t k = 0; k + 1 < parts_.size(); ++k) {
      if (integer(k) && behind_evaluation_at(line_, numbers_[k].begin)) return set_step(k, CounterKind::named, "at");
      const bool before_figure = parts_[k + 1].traits.metric && after(k) == ':';
      if (parts_[k].traits.bare_split && !parts_[k].key.separated && integer(k) && before_figure) {
        return set_step(k, CounterKind::bare, parts_[k].key.text);
      }
    }
    // "logging_writer.py:48] [100] loss=0.5"
    for (std::size_t k = 0; k + 1 < parts_.size() && parts_[k].key.text.empty(); ++k) {
      const bool fenced = numbers_[k].begin > 0 && line_[numbers_[k].begin - 1] == '[' && after(k) == ']';
      const bool identity = line_[numbers_[k].begin] == '0' && line_[numbers_[k].begin + 1] != ']';  // "[01234]"
      if (fenced && !identity && integer(k) && !parts_[k + 1].key.text.empty())
        return set_step(k, CounterKind::bare, "leading");
    }
    if (leading_counter()) return set_step(0, CounterKind::bare, "leading");
    find_counter_behind();
  }

  [[nodiscard]] bool any_metric() const {
    return std::any_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.traits.metric; });
  }

  /// "[0]  train-auc: 0.9", "100: 1.5, 1.4 avg", "(3 ) Loss: 0.3", "[10/99] loss 0.3": the first number counts.
  [[nodiscard]] bool leading_counter() const {
    const bool countable = integer(0) && line_[numbers_[0].begin] != '-';
    if (parts_.size() < 2 || !parts_[0].key.text.empty() || !countable) return false;
    const std::string_view before = trim(parts_[0].gap);
    const std::size_t last = parts_[0].numerator ? 1 : 0;
    const std::string_view rest = trim(rest_after(last));
    if (numbers_[last].unit_end != numbers_[last].end || rest.empty() || plan_.named == 0) return false;
    if (!only(before, "[( ")) return false;
    if (before.ends_with('[') && rest.front() == ']') return any_metric();
    if (before.ends_with('(') && rest.front() == ')') return any_metric();
    if (!before.empty()) return false;
    if (parts_[0].numerator) return any_metric();
    return rest.front() == ':' || rest.front() == '|' || (only(rest.substr(0, 1), "[(-,;") && any_metric());
  }

  /// "After 100 training steps, loss is 0.3": the counter's name follows the number.
  void find_counter_behind() {
    if (parts_.size() < 2 || !integer(0) || !any_metric()) return;
    const std::string_view before = trim(parts_[0].gap);
    const bool opens = before.empty() || (before.size() == 5 && starts_with_folded(before, "after"));
    if (!opens) return;
    std::string_view rest = trim(rest_after(0));
    if (starts_with_folded(rest, "training ")) rest.remove_prefix(9);
    std::string_view word = rest.substr(0, end_of_word(rest, 0));
    if (word.size() > 3 && (word.back() == 's' || word.back() == 'S')) word.remove_suffix(1);
    const KeyTraits traits = describe_key(word);
    if (traits.step != 0) set_step(0, CounterKind::named, word);
    if (traits.epoch) plan_.epoch = 0;
  }

  /// "ppl: 5.45 --> 2.44" tells of a change.
  [[nodiscard]] bool starts_arrow(std::size_t k) const {
    const std::string_view rest = rest_after(k);
    const std::size_t start = rest.find_first_not_of(' ');
    return start != std::string_view::npos &&
           (rest.substr(start).starts_with("->") || rest.substr(start).starts_with("-->"));
  }

  void assign_values() {
    std::size_t list = numbers_.size();  // the number whose key a list belongs to
    std::size_t in_list = 0;
    const bool told = any_metric();
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      const Part& part = parts_[k];
      Slot& slot = plan_.slots[k];
      if (plan_.counted() && numbers_part(k)) continue;
      // "[train:88] step 3 loss 0.5": where a loss is named, a whole number behind a bare "train" is none.
      if (told && part.traits.bare_split && integer(k)) continue;
      if (is_counter(k) || part.denominator || (unit_of(k) == "%" && after(k) == '|')) continue;
      if (k < description_ && !part.traits.metric) continue;  // "DataLoader 0:  50%|..."
      if (starts_arrow(k)) continue;
      if (!part.key.text.empty()) {
        list = numbers_.size();
        if (part.traits.story || part.traits.ignored || part.traits.epoch || part.traits.step != 0) continue;
        slot.name = name_of(k);
        slot.use = part.numerator && part.traits.metric ? Slot::Use::ratio : Slot::Use::value;
        if (part.key.in_list) {
          list = k;
          in_list = 0;
        }
      } else if (list < numbers_.size() && only(part.gap, ", ") && in_list + 1 < kLongestList) {
        slot = plan_.slots[list];
        slot.name += "." + std::to_string(++in_list);
      } else if (k > 0 && plan_.slots[k - 1].use == Slot::Use::value && trim(part.gap) == "(" &&
                 numbers_[k].unit_end == numbers_[k].end && after(k) == ')' && (!integer(k) || integer(k - 1)) &&
                 !is_change(k)) {
        slot = plan_.slots[k - 1];
        slot.name += " (avg)";
      } else {
        list = numbers_.size();
        const std::string_view rate = rate_after(line_, numbers_[k].end, numbers_[k].unit_end);
        if (rate.empty()) continue;
        slot.name = rate;
        slot.use = Slot::Use::value;
      }
    }
  }

  /// "Fold 3 Epoch 2": where a line stands, and nothing that is measured.
  [[nodiscard]] bool numbers_part(std::size_t k) const {
    const std::string_view name = parts_[k].key.text;
    const std::string_view last = name.substr(name.find_last_of(' ') + 1);
    return integer(k) && (is_word(last, "fold") || is_word(last, "stage") || is_word(name, "layer") ||
                          is_word(name, "training layer") || is_word(last, "phase"));
  }

  [[nodiscard]] bool is_change(std::size_t k) const {  // "loss: 0.50 (-0.01)"
    return line_[numbers_[k].begin] == '-' && line_[numbers_[k - 1].begin] != '-';
  }

  /// "Epoch: 3, Loss: 0.8, Train: 0.91, Val: 0.79": the loss has a name of its own, so the splits tell of another
  /// figure.
  [[nodiscard]] bool names_loss_itself() const {
    return std::any_of(parts_.begin(), parts_.end(), [](const Part& part) {
      return part.traits.metric && part.traits.split == Split::none && part.key.text.size() == 4 &&
             starts_with_folded(part.key.text, "loss");
    });
  }

  std::string name_of(std::size_t k) {
    const Part& part = parts_[k];
    Slot& slot = plan_.slots[k];
    std::string name = part.behind ? without_points(part.key.text) : translated(part.key.text);
    const bool unit =
        numbers_[k].unit_end != numbers_[k].end || !rate_after(line_, numbers_[k].end, numbers_[k].unit_end).empty();
    if (part.traits.bare_split && lasts(k)) return name + " time";
    if (part.traits.bare_split && plan_.counted() && !unit) {
      parts_[k].traits.metric = true;
      return names_loss_itself() ? name : name + " loss";
    }
    if (part.traits.split == Split::none && part.traits.metric) {
      slot.split = split_before(part.key.begin);
      slot.takes_block = slot.split == Split::none;
      if (slot.takes_block && !plan_.counted()) return label_before(line_, numbers_[0].begin, part.key.begin) + name;
    } else if (part.traits.split == Split::none && !part.traits.signal && plan_.counted() && !unit &&
               is_evaluation(plan_.split)) {
      slot.split = split_before(part.key.begin);  // not the same as what training lines call by that name
    }
    return name;
  }

  void settle_trust() {
    bool tells = false;
    int settings = 0;
    int metrics = 0;
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      settings += parts_[k].traits.setting ? 1 : 0;
      if (plan_.slots[k].use == Slot::Use::skip) continue;
      const bool metric = parts_[k].traits.metric && !is_setting(k);
      metrics += metric ? 1 : 0;
      tells |= metric || (plan_.counted() && parts_[k].traits.signal);
    }
    plan_.metric = metrics > 0;
    // A dump of settings, in which even "loss" names one.
    const bool dump = !plan_.counted() && (settings > std::max(metrics, 1) || (metrics == 0 && holds_truths()) ||
                                           line_.find("Namespace(") != line_.npos);
    plan_.evaluation = evaluation();
    Trust previous = Trust::none;
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      Slot& slot = plan_.slots[k];
      if (slot.use == Slot::Use::skip) continue;
      const bool follower = parts_[k].key.text.empty();  // of a list or an average: as its leader
      slot.trust = dump ? Trust::none : follower && previous != Trust::none ? previous : trust_of(k, tells);
      slot.drops_nonfinite = parts_[k].traits.best;
      if (slot.trust == Trust::none) slot.use = Slot::Use::skip;
      previous = slot.trust;
      plan_.values |= slot.use != Slot::Use::skip && (!follower || plan_.bar == Bar::none);
    }
  }

  /// True, False and None stand in settings, hardly ever beside measurements.
  [[nodiscard]] bool holds_truths() const {
    return line_.find("True") != line_.npos || line_.find("False") != line_.npos || line_.find("None") != line_.npos;
  }

  /// "BASE_LR: 0.01", "Linear(in_features=128)": beside no counter such names belong to settings.
  [[nodiscard]] bool is_setting(std::size_t k) const {
    if (plan_.counted()) return false;
    const std::string_view name = parts_[k].key.text;
    const bool capitals = name.find('_') != std::string_view::npos &&
                          std::none_of(name.begin(), name.end(), [](char c) { return c >= 'a' && c <= 'z'; });
    return parts_[k].traits.setting || capitals;
  }

  /// "[host:1234:0]", "file:12]", "module:12 >>": where something happened.
  [[nodiscard]] bool is_place(std::size_t k) const {
    const std::size_t begin = numbers_[k].begin;
    const bool ends = after(k) == ':' || after(k) == ']' || after(k) == ')' || rest_after(k).starts_with(" >>");
    return begin > 0 && line_[begin - 1] == ':' && ends && integer(k);
  }

  /// The line says so at its start, or each of its figures of merit does.
  [[nodiscard]] bool evaluation() const {
    if (plan_.split != Split::none) return is_evaluation(plan_.split);
    bool any = false;
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      if (plan_.slots[k].use == Slot::Use::skip || !parts_[k].traits.metric) continue;
      if (!is_evaluation(parts_[k].traits.split)) return false;
      any = true;
    }
    return any;
  }

  [[nodiscard]] Trust trust_of(std::size_t k, bool tells) const {
    const Part& part = parts_[k];
    const bool counted = plan_.counted();
    const bool known = part.traits.metric || part.traits.signal;
    const bool option = part.key.begin >= 2 && line_.substr(part.key.begin - 2, 2) == "--";
    const bool number_of = numbers_[k].begin > 0 && line_[numbers_[k].begin - 1] == '#';  // "Testing net (#0)"
    const bool elsewhere = number_of || (!counted && in_call(line_, numbers_[k].begin)) || (!known && is_place(k));
    if (part.key.dotted || option || elsewhere) return Trust::none;
    // "y = 4", "the reward of x = 3": algebra in generated text.
    const std::string_view name = part.key.text;
    const bool letter = name.size() == 1 || (name.size() > 2 && name[name.size() - 2] == ' ');
    const bool network = !name.empty() && std::string_view("dgqvDGQV").find(name.back()) != std::string_view::npos;
    if (!counted && letter && !network) return Trust::none;
    if (is_setting(k)) return part.key.separated ? Trust::setting : Trust::none;
    if (part.traits.metric) return Trust::certain;
    if (tells && (part.key.separated || part.traits.signal || part.key.text.empty())) return Trust::certain;
    if (counted) return Trust::likely;
    return part.key.separated || part.traits.signal ? Trust::doubtful : Trust::none;
  }

  std::string_view line_;
  const std::vector<Number>& numbers_;
  std::vector<Part> parts_;
  std::vector<std::pair<std::size_t, Split>> splits_;
  std::size_t description_ = 0;  // how many numbers stand in front of a progress bar
  LinePlan plan_;
};

}  // namespace

LinePlan plan_line(std::string_view line, const Scan& scan) {
  return Planner(line, scan).run();
}

}  // namespace osler::text
