// Names of series in languages other than English.
#pragma once

#include <string>
#include <string_view>

namespace osler {

/// `name` with the words of other languages for loss, accuracy, epoch, step and the like in English, each between
/// blanks: "Verlust" is " loss ", "训练损失" is " train  loss ". Returned as it is when it has none of them.
[[nodiscard]] std::string in_english(std::string_view name);

}  // namespace osler
