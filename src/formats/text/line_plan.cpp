// Working out what the numbers of a line mean.
#include "formats/text/line_plan.h"

#include <algorithm>
#include <cmath>

#include "formats/numbers.h"
#include "formats/text/key.h"
#include "formats/text/line_kind.h"
#include "formats/text/wall_clock.h"

namespace osler::text {
namespace {

constexpr std::size_t kLongestList = 16;  // "lr=[...]": more are data, not a handful of parameter groups

/// One number with what surrounds it.
struct Part {
  Key key;
  KeyTraits traits;
  std::string_view gap;    // the text between the number before and this one
  bool numerator = false;  // of "3/10"
  bool denominator = false;
};

bool only(std::string_view text, std::string_view allowed) {
  return text.find_first_not_of(allowed) == std::string_view::npos;
}

class Planner {
 public:
  Planner(std::string_view line, const Scan& scan) : line_(line), numbers_(scan.numbers) {}

  LinePlan run() {
    plan_.slots.resize(numbers_.size());
    plan_.code = looks_like_code(line_);
    if (plan_.code) return std::move(plan_);
    plan_.dated = !std::isnan(wall_time_of(line_));
    describe_parts();
    find_splits();
    find_bar();
    find_counters();
    assign_values();
    settle_trust();
    tell_counters_apart();
    return std::move(plan_);
  }

 private:
  [[nodiscard]] char after(std::size_t k) const {
    const std::size_t end = numbers_[k].unit_end;
    return end < line_.size() ? line_[end] : '\0';
  }
  [[nodiscard]] bool integer(std::size_t k) const { return numbers_[k].written == Written::integer; }
  [[nodiscard]] std::string_view rest_after(std::size_t k) const { return line_.substr(numbers_[k].unit_end); }
  [[nodiscard]] bool is_counter(std::size_t k) const {
    const auto index = static_cast<std::int16_t>(k);
    return index == plan_.epoch || index == plan_.step || index == plan_.total || index == plan_.rank;
  }

  void describe_parts() {
    parts_.resize(numbers_.size());
    std::size_t from = 0;
    for (std::size_t k = 0; k < numbers_.size(); ++k) {
      Part& part = parts_[k];
      part.gap = line_.substr(from, numbers_[k].begin - from);
      if (k > 0 && trim(part.gap) == "/" && integer(k) && integer(k - 1) && !parts_[k - 1].denominator) {
        part.denominator = true;
        parts_[k - 1].numerator = true;
      } else {
        part.key = key_before(line_, from, numbers_[k].begin);
        if (!part.key.text.empty()) part.traits = describe_key(part.key.text);
        if (part.key.sentence || part.traits.story) part.traits = {.story = true};
        if (!part.key.text.empty()) ++plan_.named;
      }
      from = numbers_[k].unit_end;
    }
  }

  /// Words like "train" or "[valid]" that stand for themselves, with their places.
  void find_splits() {
    for (std::size_t at = 0; at < line_.size();) {
      if (!is_word_character(line_[at])) {
        ++at;
        continue;
      }
      const std::size_t end = end_of_word(line_, at);
      const Split split = split_of(line_.substr(at, end - at));
      if (split != Split::none) splits_.emplace_back(at, split);
      at = end;
    }
    if (!splits_.empty()) plan_.split = splits_.front().second;
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
      const std::string_view unit = line_.substr(numbers_[k].end, numbers_[k].unit_end - numbers_[k].end);
      if (unit == "%" && after(k) == '|' && parts_[k + 1].numerator) {
        set_step(k + 1, CounterKind::bar, "bar");
        plan_.bar = Bar::tqdm;
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
    for (const Slot& slot : plan_.slots) {
      if (slot.use == Slot::Use::skip) continue;
      add_to_counter(slot.name);
      break;
    }
    if (plan_.values || plan_.step < 0) return;
    // "Step 100", "=== iteration 5/20 ===": not "Grad overflow on iteration 5" and not "STEPS: 14000".
    const Key& key = parts_[static_cast<std::size_t>(plan_.step)].key;
    const bool only_counter = numbers_.size() <= (plan_.total >= 0 ? 2U : 1U) + (plan_.epoch >= 0 ? 1U : 0U);
    const std::string_view before = line_.substr(0, key.begin);
    const bool first = std::none_of(before.begin(), before.end(), [](char c) { return is_word_character(c); });
    const bool plural = !key.text.empty() && (key.text.back() == 's' || key.text.back() == 'S');
    plan_.heading = only_counter && first && !plural && line_.size() < 80;
  }

  void add_to_counter(std::string_view name) {
    for (const char c : name) plan_.counter = (plan_.counter ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  }

  void find_counters() {
    std::uint8_t best_tier = 255;
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      const KeyTraits& traits = parts_[k].traits;
      if (numbers_[k].written == Written::nonfinite) continue;
      if (traits.epoch && plan_.epoch < 0) {
        plan_.epoch = static_cast<std::int16_t>(k);
        plan_.fractional_epoch = !integer(k);
      }
      if (traits.step != 0 && traits.step < best_tier && plan_.bar == Bar::none && integer(k)) {
        best_tier = traits.step;
        set_step(k, CounterKind::named, parts_[k].key.text);
      }
      const bool letter_s = k == 0 && parts_[k].key.text == "s" && parts_[k].key.begin == 0 && numbers_.size() > 1;
      if (letter_s && plan_.step < 0) set_step(k, CounterKind::named, "s");  // llm.c
      if (parts_[k].key.text.size() == 4 && starts_with_folded(parts_[k].key.text, "rank") && integer(k)) {
        plan_.rank = static_cast<std::int16_t>(k);
      }
    }
    if (plan_.step < 0) find_bare_counter();
  }

  /// Counters without a name, known by where they stand.
  void find_bare_counter() {
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      if (!parts_[k].numerator) continue;
      const bool after_epoch = plan_.epoch >= 0 && only(parts_[k].gap, " \t[]():,") &&
                               (k == static_cast<std::size_t>(plan_.epoch) + 1 ||
                                (k == static_cast<std::size_t>(plan_.epoch) + 2 && parts_[k - 1].denominator));
      if (after_epoch) {
        set_step(k, CounterKind::bare, "bare");
        return;
      }
      if (parts_[k].traits.bare_split && parts_[k].key.in_list) {
        const bool pair =
            plan_.epoch < 0 && k + 2 < parts_.size() && parts_[k + 2].numerator && trim(parts_[k + 2].gap) == "][";
        if (pair) plan_.epoch = static_cast<std::int16_t>(k);
        set_step(pair ? k + 2 : k, CounterKind::bare, "bare");
        return;
      }
    }
    if (plan_.epoch < 0 && leading_counter()) set_step(0, CounterKind::bare, "leading");
  }

  /// "[0]  train-auc: 0.9", "100: 1.5, 1.4 avg", "(3 ) Loss: 0.3": the first number of the line counts.
  [[nodiscard]] bool leading_counter() const {
    if (parts_.size() < 2 || !parts_[0].key.text.empty() || !integer(0) || line_[numbers_[0].begin] == '-')
      return false;
    const bool metric = std::any_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.traits.metric; });
    const std::string_view before = trim(parts_[0].gap);
    const std::string_view rest = trim(rest_after(0));
    if (parts_[0].numerator || numbers_[0].unit_end != numbers_[0].end || rest.empty()) return false;
    if (before.ends_with('[') && rest.front() == ']') return only(before, "[ ") && plan_.named > 0;
    if (before.ends_with('(') && rest.front() == ')') return metric && only(before, "[( ");
    return before.empty() && (rest.front() == ':' || rest.front() == '|') && plan_.named > 0;
  }

  void assign_values() {
    std::size_t list = numbers_.size();  // the number whose key a list belongs to
    std::size_t in_list = 0;
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      const Part& part = parts_[k];
      Slot& slot = plan_.slots[k];
      if (is_counter(k) || part.denominator) continue;
      if (!part.key.text.empty()) {
        list = numbers_.size();
        if (part.traits.story || part.traits.ignored || part.traits.epoch || part.traits.step != 0) continue;
        slot.name = name_of(k);
        slot.use = part.numerator && part.traits.metric ? Slot::Use::ratio : Slot::Use::value;
        if (part.key.in_list) list = k, in_list = 0;
      } else if (list < numbers_.size() && only(part.gap, ", ") && in_list + 1 < kLongestList) {
        slot = plan_.slots[list];
        slot.name += "." + std::to_string(++in_list);
      } else if (k > 0 && plan_.slots[k - 1].use == Slot::Use::value && trim(part.gap) == "(" &&
                 numbers_[k].unit_end == numbers_[k].end && after(k) == ')') {
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

  std::string name_of(std::size_t k) {
    const Part& part = parts_[k];
    Slot& slot = plan_.slots[k];
    std::string name = translated(part.key.text);
    const bool unit =
        numbers_[k].unit_end != numbers_[k].end || !rate_after(line_, numbers_[k].end, numbers_[k].unit_end).empty();
    if (part.traits.bare_split && plan_.counted() && !unit) {
      parts_[k].traits.metric = true;
      return name + " loss";
    }
    if (part.traits.split == Split::none && part.traits.metric) {
      slot.split = split_before(part.key.begin);
      slot.takes_block = slot.split == Split::none;
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

  /// Whether the number stands within the parentheses of a call, as in the description of a model's layers.
  [[nodiscard]] bool in_call(std::size_t k) const {
    int depth = 0;
    for (std::size_t i = numbers_[k].begin; i > 0; --i) {
      const char c = line_[i - 1];
      if (c == ')') ++depth;
      if (c != '(') continue;
      if (depth > 0) {
        --depth;
      } else if (i > 1 && is_word_character(line_[i - 2])) {
        return true;
      }
    }
    return false;
  }

  /// "[host:1234:0]", "file:12]": where something happened.
  [[nodiscard]] bool is_place(std::size_t k) const {
    const std::size_t begin = numbers_[k].begin;
    return begin > 0 && line_[begin - 1] == ':' && (after(k) == ':' || after(k) == ']') && integer(k);
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
    if (part.key.dotted || option || (!counted && in_call(k)) || (!known && is_place(k))) return Trust::none;
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
  LinePlan plan_;
};

}  // namespace

LinePlan plan_line(std::string_view line, const Scan& scan) {
  return Planner(line, scan).run();
}

}  // namespace osler::text
