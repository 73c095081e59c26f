// Reading JSON lines: one object per line.
#pragma once

#include <functional>
#include <memory>

#include "formats/json/rows.h"
#include "osler/formats/format.h"

namespace osler {

/// Changes a row before it is used, for formats whose rows need it.
using AdjustRow = std::function<void(JsonRow& row, RowAssembler& rows)>;

/// A reader of JSON lines.
[[nodiscard]] std::unique_ptr<Reader> make_json_lines_reader(AdjustRow adjust = {});

/// What kind of JSON an input is.
enum class JsonShape { none, lines, document };
[[nodiscard]] JsonShape json_shape(const Peek& peek);

}  // namespace osler
