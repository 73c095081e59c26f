// The words of training logs: counters, splits, figures of merit, settings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace osler::text {

/// The data a number was measured on, as the log says.
enum class Split : std::uint8_t { none, train, val, test, dev, eval };

/// "train", "val", ...; empty for none.
[[nodiscard]] std::string_view to_string(Split split);
/// Whether it names data that is not trained on.
[[nodiscard]] constexpr bool is_evaluation(Split split) {
  return split != Split::none && split != Split::train;
}
/// The split that a whole word names ("Validating", "DEV", "[train]").
[[nodiscard]] Split split_of(std::string_view word);

/// What a key says about its number.
struct KeyTraits {
  bool epoch = false;         ///< counts epochs
  std::uint8_t step = 0;      ///< counts steps: 1 the best of such counters, 2, 3 less so; 0 it does not
  Split split = Split::none;  ///< named within the key
  bool bare_split = false;    ///< the key is nothing but a split ("train 9.85 val 9.84")
  bool metric = false;        ///< a figure of merit: loss, accuracy, reward, ...
  bool signal = false;        ///< something else that the diagnosis reads: learning rate, gradient norm, throughput
  bool setting = false;       ///< the name of something that a person chooses: batch_size, warmup_steps
  bool story = false;         ///< a sentence about a number ("val_loss improved from"), not its name
  bool best = false;          ///< the best so far; infinite before the first
  bool ignored = false;       ///< never worth recording: eta, pid, port, line
};

/// What the words of a key tell; letter case, underscores, dashes and slashes do not matter.
[[nodiscard]] KeyTraits describe_key(std::string_view key);

/// The key without words that only lead to it ("with Perplexity", "setting loss scale to").
[[nodiscard]] std::string_view core_of_key(std::string_view key);

/// The English name of a key written in Chinese, or the key itself.
[[nodiscard]] std::string translated(std::string_view key);

/// Whether a number behind this word belongs to the name: "top 5 accuracy", "layer 3 gradient norm".
[[nodiscard]] bool takes_index(std::string_view word);

/// Whether letters glued to a number are a unit.
[[nodiscard]] bool is_unit(std::string_view letters);

/// Whether letters glued to a number are a unit of time.
[[nodiscard]] bool is_time_unit(std::string_view letters);

/// Whether `text` begins with `lower`, letter case aside. `lower` is in lower case.
[[nodiscard]] bool starts_with_folded(std::string_view text, std::string_view lower);

}  // namespace osler::text
