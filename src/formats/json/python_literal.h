// Python literals: what `print(history.history)` writes, as JSON.
#pragma once

#include <string>
#include <string_view>

namespace osler {

/// Whether the text begins as a dictionary of lists of numbers in Python's notation: "{'loss': [0.69, ...". The
/// dictionaries of single numbers that trainers print line by line do not.
[[nodiscard]] bool begins_python_history(std::string_view text);

/// The same values in JSON's notation: quotes, None, True and False, tuples as arrays, and numbers without the names
/// of the types that NumPy and TensorFlow print around them. What is no Python literal comes out as no JSON.
[[nodiscard]] std::string json_of_python(std::string_view text);

}  // namespace osler
