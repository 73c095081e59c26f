// What programs ask of a damaged log: a browser through the server, and a coding assistant.
#pragma once

#include "mutate/examine.h"

namespace osler::mutate {

/// Everything that the dashboard asks for at first of the runs in the folder.
[[nodiscard]] Finding ask_server(const Bench& bench);
/// The tools of `osler mcp` that read logs.
[[nodiscard]] Finding ask_assistant(const Bench& bench);

}  // namespace osler::mutate
