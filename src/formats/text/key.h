// Key: the words in front of a number that name it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace osler::text {

/// What stands before a number.
struct Key {
  std::string_view text;   ///< the name; empty when there is none
  std::size_t begin = 0;   ///< its place in the line
  bool separated = false;  ///< by ':' or '='
  bool quoted = false;
  bool dotted = false;    ///< by a row of dots, as settings are printed
  bool in_list = false;   ///< a '[' stands between the name and the number
  bool sentence = false;  ///< more words than a name has
};

/// The key of the number at `to`, looking back no further than `from`.
[[nodiscard]] Key key_before(std::string_view line, std::size_t from, std::size_t to);

/// The name of the number behind `gap`, where it stands between commas in front of it: "20, loss_train, 0.771". Empty
/// when what stands there is no figure of merit.
[[nodiscard]] std::string_view name_between(std::string_view gap);

/// The figure of merit that [from, to) begins with, which stands behind its number: "0.98 C.E. Loss, 94 % Accuracy".
/// Empty when it is none.
[[nodiscard]] std::string_view name_behind(std::string_view line, std::size_t from, std::size_t to);

/// "C.E. Loss" as "CE Loss".
[[nodiscard]] std::string without_points(std::string_view name);

/// Whether `place` is within the parentheses of a call, as in the description of a model's layers.
[[nodiscard]] bool in_call(std::string_view line, std::size_t place);

/// The name that follows a number which has none in front: a rate ("it/s", "words/s"); empty when there is none.
[[nodiscard]] std::string_view rate_after(std::string_view line, std::size_t digits_end, std::size_t unit_end);

/// "Averaged stats: loss: 0.5": what an uncounted line says of all its numbers becomes part of their names. The first
/// number and the name in question stand at these places.
[[nodiscard]] std::string label_before(std::string_view line, std::size_t first_number, std::size_t key);

}  // namespace osler::text
