// Settings that a log prints before training: "learning_rate: 0.001", "--batch_size 32", "Namespace(lr=0.1, ...)".
#pragma once

#include <string_view>

#include "formats/text/scan.h"
#include "osler/run/event.h"

namespace osler::text {

/// Hands every numeric setting of the line to the sink. False when there is none.
bool find_settings(std::string_view line, const Scan& scan, EventSink& sink);
/// Hands a setting whose value is a word ("optimizer: adam") to the sink.
void find_word_setting(std::string_view line, EventSink& sink);

}  // namespace osler::text
