// Configuration that logs carry as YAML.
#pragma once

#include <string_view>

#include "osler/run/event.h"

namespace osler {

/// Adds the scalars of a YAML mapping to the configuration, nested keys joined by '/'. Reads what trainers dump: block
/// mappings, quoted and plain scalars, comments; lists and multi-line texts are left out.
void yaml_to_config(std::string_view text, EventSink& sink);

}  // namespace osler
