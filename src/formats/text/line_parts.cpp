// Finding the names in front of numbers, between them and behind.
#include "formats/text/line_parts.h"

#include <algorithm>
#include <utility>

#include "formats/numbers.h"

namespace osler::text {
namespace {

class PartFinder {
 public:
  PartFinder(std::string_view line, const std::vector<Number>& numbers, std::uint8_t& named)
      : line_(line), numbers_(numbers), named_(named) {}

  std::vector<Part> run() {
    describe_parts();
    return std::move(parts_);
  }

 private:
  [[nodiscard]] bool integer(std::size_t k) const { return numbers_[k].written == Written::integer; }

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
        if (k > 0 && parts_[k - 1].counted_behind) take_name_before_after(k);
        if (k > 0 && part.key.text.empty()) take_name_before_counter(k);
        if (part.key.text.empty()) take_name(k, name_between(part.gap));
        if (!part.key.text.empty()) part.traits = describe_key(part.key.text);
        part.traits.metric |= is_share_of_right(k);
        if (part.key.sentence || part.traits.story) part.traits = {.story = true};
        if (!part.traits.epoch && part.traits.step == 0) part_name_from_counter(part);
        if (!part.traits.epoch && part.traits.step == 0) part_name_from_count_behind(k);
        if (!part.key.text.empty()) ++named_;
      }
      from = numbers_[k].unit_end;
    }
    take_names_behind();
  }

  void take_name(std::size_t k, std::string_view name) {
    if (name.empty()) return;
    parts_[k].key = {.text = name, .begin = static_cast<std::size_t>(name.data() - line_.data()), .separated = true};
  }

  /// "Correct = 71.65%"; "correct 3" and "correct: 12" are counts or words.
  [[nodiscard]] bool is_share_of_right(std::size_t k) const {
    const Key& key = parts_[k].key;
    return key.text.size() == 7 && starts_with_folded(key.text, "correct") && key.separated &&
           unit_of(line_, numbers_[k]) == "%";
  }

  /// "Epoch 3: 0.98 loss, 94.3% accuracy": in a line that counts, where each number has the name of a figure of merit
  /// behind it and none has one of its own in front, the names are those behind.
  void take_names_behind() {
    std::vector<std::string_view> names(parts_.size());
    bool counts = false;
    bool first = true;
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      const Part& part = parts_[k];
      counts |= part.traits.epoch || part.traits.step != 0;
      const bool own = !part.key.text.empty() && (first || part.key.text != names[k - 1]);
      if (part.traits.metric && own) return;
      if (part.traits.epoch || part.traits.step != 0 || part.denominator || lasts(line_, numbers_[k]) || own) continue;
      const std::size_t end = k + 1 < numbers_.size() ? numbers_[k + 1].begin : line_.size();
      names[k] = name_behind(line_, numbers_[k].unit_end, end);
      if (names[k].empty()) return;
      first = false;
    }
    if (!counts) return;
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      if (names[k].empty()) continue;
      take_name(k, names[k]);
      parts_[k].traits = describe_key(names[k]);
      parts_[k].behind = true;
      ++named_;
    }
  }

  /// "Score at iteration 100 is 0.5": the number counts, the words before "at" name what follows.
  static void part_name_from_counter(Part& part) {
    const std::size_t space = part.key.text.rfind(' ');
    if (space == std::string_view::npos) return;
    const KeyTraits counter = describe_key(part.key.text.substr(space + 1));
    if (!counter.epoch && counter.step == 0) return;
    std::string_view name = part.key.text.substr(0, space);
    for (const std::string_view word : {" at", " after", " for", " in", " of", " on"}) {
      if (!name.ends_with(word)) continue;
      part.name_for_next = name.substr(0, name.size() - word.size());
      part.traits = counter;
      return;
    }
  }

  /// "Average Reward after 4 episodes: 168.75": the number counts, and the words before "after" name what follows.
  void part_name_from_count_behind(std::size_t k) {
    Part& part = parts_[k];
    const std::string_view gap = trim(part.gap);
    constexpr std::string_view kAfter = " after";
    const bool opens = gap.size() > kAfter.size() && starts_with_folded(gap.substr(gap.size() - kAfter.size()), kAfter);
    if (!opens || !integer(k) || !part.traits.metric || k + 1 >= numbers_.size()) return;
    const std::size_t begin = line_.find_first_not_of(' ', numbers_[k].unit_end);
    if (begin == std::string_view::npos || begin == numbers_[k].unit_end) return;
    const std::string_view noun = line_.substr(begin, end_of_word(line_, begin) - begin);
    std::string_view one = noun;
    if (one.size() > 3 && (one.back() == 's' || one.back() == 'S')) one.remove_suffix(1);
    KeyTraits counter = describe_key(one);
    if (one.size() == 4 && starts_with_folded(one, "game")) counter.step = 3;  // an episode by another name
    const std::string_view behind =
        trim(line_.substr(begin + noun.size(), numbers_[k + 1].begin - begin - noun.size()));
    if ((!counter.epoch && counter.step == 0) || !separates(behind)) return;
    part.name_for_next = part.key.text;
    part.key.text = one;
    part.key.begin = begin;
    part.traits = counter;
    part.counted_behind = true;
  }

  static bool separates(std::string_view gap) {
    return gap == "is" || gap == ":" || gap == "=" || gap == "," || gap == "was";
  }

  void take_name_before_after(std::size_t k) {
    const std::string_view name = parts_[k - 1].name_for_next;
    parts_[k].key = {.text = name, .begin = static_cast<std::size_t>(name.data() - line_.data()), .separated = true};
  }

  void take_name_before_counter(std::size_t k) {
    const std::string_view name = parts_[k - 1].name_for_next;
    const std::string_view gap = trim(parts_[k].gap);
    if (name.empty() || !separates(gap)) return;
    parts_[k].key = parts_[k - 1].key;
    parts_[k].key.text = name;
    parts_[k].key.separated = true;
    parts_[k].key.sentence = false;
  }

  std::string_view line_;
  const std::vector<Number>& numbers_;
  std::uint8_t& named_;
  std::vector<Part> parts_;
};

}  // namespace

std::vector<Part> parts_of(std::string_view line, const std::vector<Number>& numbers, std::uint8_t& named) {
  return PartFinder(line, numbers, named).run();
}

std::string_view unit_of(std::string_view line, const Number& number) {
  return line.substr(number.end, number.unit_end - number.end);
}

bool lasts(std::string_view line, const Number& number) {
  const std::string_view rest = trim(line.substr(number.unit_end));
  return is_time_unit(unit_of(line, number)) || rest.starts_with("sec") || rest.starts_with("min");
}

}  // namespace osler::text
