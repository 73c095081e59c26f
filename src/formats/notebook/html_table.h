// Tables in the HTML that notebooks show.
#pragma once

#include <string>
#include <string_view>

namespace osler {

/// The tables of a piece of HTML as lines of text, "| Step | Training Loss |": those with a header cell in them. Empty
/// when there is none.
[[nodiscard]] std::string tables_of_html(std::string_view html);

}  // namespace osler
