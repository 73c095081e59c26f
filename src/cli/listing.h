// The catalogue as lists, for `osler list` and `osler explain` without an id.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "osler/report/render.h"

namespace osler::cli {

/// What can be listed: "findings", "causes", "formats", "roles".
[[nodiscard]] const std::vector<std::string>& list_kinds();

/// One of the lists for a terminal. `kind` is one of list_kinds().
[[nodiscard]] std::string list_text(std::string_view kind, const TextOptions& options);

/// All lists, each under its heading.
[[nodiscard]] std::string list_catalogue(const TextOptions& options);

/// The lists as one JSON object with a member per kind.
[[nodiscard]] std::string list_json(const std::vector<std::string>& kinds);

}  // namespace osler::cli
