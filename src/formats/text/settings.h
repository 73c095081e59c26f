// Settings that a log prints before training: "learning_rate: 0.001", "--batch_size 32", "Namespace(lr=0.1, ...)".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/text/scan.h"
#include "osler/run/event.h"

namespace osler::text {

/// A number of a line that is the value of a setting.
struct Setting {
  std::size_t number = 0;
  std::string name;
};

/// The numeric settings of a line.
[[nodiscard]] std::vector<Setting> find_settings(std::string_view line, const Scan& scan);
/// Hands settings whose value is a word ("optimizer: adam") to the sink.
void find_word_settings(std::string_view line, EventSink& sink);

}  // namespace osler::text
