// Recognising settings by their names.
#include "formats/text/settings.h"

#include <algorithm>
#include <array>

#include "formats/text/key.h"
#include "formats/text/vocabulary.h"

namespace osler::text {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kLongestWordLine = 160;

bool folded_equal(std::string_view text, std::string_view lower) {
  return text.size() == lower.size() && starts_with_folded(text, lower);
}

bool names_setting(std::string_view name) {
  const KeyTraits traits = describe_key(name);
  if (traits.setting) return !traits.best && !traits.story;
  static constexpr std::array kNames = {
      "lr"sv,
      "base_lr"sv,
      "learning_rate"sv,
      "learning rate"sv,
      "lr0"sv,
      "epochs"sv,
      "betas"sv,
      "beta1"sv,
      "beta2"sv,
      "world_size"sv,
      "amp"sv,
      "fp16"sv,
      "bf16"sv,
      "nodes"sv,
      "classes"sv,
      "decay"sv,
      "gradient_accumulation_steps"sv,
      "accumulate_grad_batches"sv,
      "total_steps"sv,
  };
  return std::any_of(kNames.begin(), kNames.end(), [&](std::string_view known) { return folded_equal(name, known); });
}

}  // namespace

std::vector<Setting> find_settings(std::string_view line, const Scan& scan) {
  std::vector<Setting> found;
  std::size_t from = 0;
  const bool dump = line.find("Namespace(") != std::string_view::npos;
  for (std::size_t i = 0; i < scan.numbers.size(); ++i) {
    const Number& number = scan.numbers[i];
    const Key key = key_before(line, from, number.begin);
    from = number.unit_end;
    if (key.text.empty() || key.sentence || number.written == Written::nonfinite) continue;
    const bool option = key.begin >= 2 && line.substr(key.begin - 2, 2) == "--";
    if ((!key.separated && !option) || (!dump && in_call(line, number.begin))) continue;
    if (names_setting(key.text)) found.push_back({i, std::string(key.text)});
  }
  return found;
}

void find_word_settings(std::string_view line, EventSink& sink) {
  static constexpr std::array kNames = {
      "activation"sv, "arch"sv,      "criterion"sv,    "dataset"sv,           "dtype"sv,
      "loss_fn"sv,    "loss_type"sv, "lr_scheduler"sv, "lr_scheduler_type"sv, "model"sv,
      "optim"sv,      "optimizer"sv, "precision"sv,    "scheduler"sv,
  };
  // A whole configuration on one line: {"optimizer": "adam", ...}, {'optimizer': 'adam', ...} or Namespace(...).
  const bool dump = line.find("Namespace(") != std::string_view::npos || line.find("{\"") != std::string_view::npos ||
                    line.find("{'") != std::string_view::npos;
  if (line.size() > kLongestWordLine && !dump) return;
  for (std::size_t at = line.find_first_of(":="); at != std::string_view::npos; at = line.find_first_of(":=", at + 1)) {
    std::size_t end = at;
    while (end > 0 && (line[end - 1] == ' ' || line[end - 1] == '"' || line[end - 1] == '\'')) --end;
    std::size_t begin = end;
    while (begin > 0 && is_word_character(line[begin - 1])) --begin;
    const std::string_view name = line.substr(begin, end - begin);
    const auto is_name = [&](std::string_view one) { return folded_equal(name, one); };
    // Only among other settings a loss that is a word is one.
    if (std::none_of(kNames.begin(), kNames.end(), is_name) && !(dump && is_name("loss"))) continue;
    const std::size_t value = line.find_first_not_of(" \"'", at + 1);
    if (value == std::string_view::npos || !is_word_character(line[value])) continue;
    sink.config(name, line.substr(value, end_of_word(line, value) - value));
  }
}

}  // namespace osler::text
