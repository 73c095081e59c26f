// A reader for small files that make sense only as a whole.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "osler/formats/format.h"

namespace osler {

/// What to do with the text of the file.
using TakeText = std::function<void(std::string_view text, EventSink& sink)>;

/// A reader that keeps up to a megabyte and hands it over at the end; a larger file is no such file.
[[nodiscard]] std::unique_ptr<Reader> make_small_file_reader(TakeText take);

}  // namespace osler
