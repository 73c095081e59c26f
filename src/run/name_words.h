// NameWords: the name of a series taken apart into words.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "run/role_words.h"

namespace osler {

/// The words of a name in English and lower case, in their order.
struct NameWords {
  std::vector<std::string> all;

  /// Whether any word is in the list.
  template <std::size_t N>
  [[nodiscard]] bool any(const std::array<std::string_view, N>& list) const {
    return std::any_of(all.begin(), all.end(), [&](const std::string& word) { return words::has(list, word); });
  }
  [[nodiscard]] bool any(std::string_view word) const { return std::find(all.begin(), all.end(), word) != all.end(); }
  /// Whether `second` follows `first` at once.
  [[nodiscard]] bool adjacent(std::string_view first, std::string_view second) const;
};

/// Takes a name apart at anything but letters and digits, where camel case rises, and where two known words were
/// written together ("valloss").
[[nodiscard]] NameWords words_of_name(std::string_view name);

/// Whether the name is that of a statistic of a whole distribution: "logits#std", but not "loss #2".
[[nodiscard]] bool is_statistic(std::string_view name);

/// Whether the words say that the number was measured on other data than those trained on.
[[nodiscard]] bool measured_on_validation(const NameWords& w);

}  // namespace osler
