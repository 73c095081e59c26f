// Hyperparameters as TensorBoard's hparams plugin stores them.
#pragma once

#include <string_view>

#include "osler/run/event.h"

namespace osler {

/// Adds the hyperparameters in a HParamsPluginData message to the configuration.
/// Throws protozero's exceptions on a malformed message.
void hparams_to_config(std::string_view message, EventSink& sink);

}  // namespace osler
