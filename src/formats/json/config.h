// Configuration that logs carry as JSON.
#pragma once

#include <string_view>

#include "osler/run/event.h"

namespace osler {

/// Adds the scalars of a JSON object to the configuration, nested keys joined by '/'. What cannot be read is left out.
void json_to_config(std::string_view text, EventSink& sink);

}  // namespace osler
