// Walking JSON on simdjson's on-demand parser.
#include "formats/json/walk.h"

#include <simdjson.h>

#include "formats/numbers.h"

namespace osler {
namespace {

using simdjson::error_code;
namespace ondemand = simdjson::ondemand;

error_code walk_value(ondemand::value value, JsonVisitor& visitor, int depth);

/// The key without its escapes. Newer simdjson asks whether broken surrogates are to be replaced: they are mistakes.
template <typename Field>
auto key_of(Field& field) {
  if constexpr (requires { field.unescaped_key(false); }) {
    return field.unescaped_key(false);
  } else {
    return field.unescaped_key();
  }
}

error_code walk_object(ondemand::object object, JsonVisitor& visitor, int depth) {
  visitor.begin_object();
  for (auto entry : object) {
    if (entry.error()) return entry.error();
    ondemand::field field = entry.value_unsafe();
    std::string_view key;
    if (const error_code error = key_of(field).get(key)) return error;
    visitor.key(key);
    if (const error_code error = walk_value(field.value(), visitor, depth)) return error;
  }
  visitor.end_object();
  return simdjson::SUCCESS;
}

error_code walk_array(ondemand::array array, JsonVisitor& visitor, int depth) {
  visitor.begin_array();
  for (auto entry : array) {
    if (entry.error()) return entry.error();
    if (const error_code error = walk_value(entry.value_unsafe(), visitor, depth)) return error;
  }
  visitor.end_array();
  return simdjson::SUCCESS;
}

/// A number, a word or a mistake. simdjson rejects NaN and Infinity, but its index has their place.
error_code walk_atom(ondemand::value value, JsonVisitor& visitor) {
  std::string_view token = value.raw_json_token();
  token = token.substr(0, token.find_first_of(" \t\r\n,]}"));
  if (token == "null") {
    visitor.nothing();
  } else if (token == "true" || token == "false") {
    visitor.truth(token == "true");
  } else {
    const CellValue cell = read_cell(token);
    if (cell.kind != CellKind::number || token.ends_with('%')) return simdjson::TAPE_ERROR;
    visitor.number(cell.value);
  }
  return simdjson::SUCCESS;
}

error_code walk_value(ondemand::value value, JsonVisitor& visitor, int depth) {
  const std::string_view token = value.raw_json_token();
  const char first = token.empty() ? '\0' : token.front();
  if (first == '{' || first == '[') {
    if (depth >= JsonWalker::kDeepest) return simdjson::SUCCESS;
    if (first == '[') {
      ondemand::array array;
      if (const error_code error = value.get_array().get(array)) return error;
      return walk_array(array, visitor, depth + 1);
    }
    ondemand::object object;
    if (const error_code error = value.get_object().get(object)) return error;
    return walk_object(object, visitor, depth + 1);
  }
  if (first == '"') {
    std::string_view text;
    if (const error_code error = value.get_string().get(text)) return error;
    visitor.text(text);
    return simdjson::SUCCESS;
  }
  return walk_atom(value, visitor);
}

Error corrupt(error_code error, std::size_t offset) {
  return {ErrorCode::corrupt, std::string("not valid JSON: ") + simdjson::error_message(error),
          "byte " + std::to_string(offset)};
}

/// Bytes that are not part of valid UTF-8 become question marks, so that the rest can be read.
void mend_utf8(std::string& text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const std::size_t length = byte < 0x80                   ? 1
                               : byte >= 0xC2 && byte < 0xE0 ? 2
                               : (byte & 0xF0) == 0xE0       ? 3
                               : byte >= 0xF0 && byte < 0xF5 ? 4
                                                             : 0;
    if (length != 0 && i + length <= text.size() && simdjson::validate_utf8(text.data() + i, length)) {
      i += length;
    } else {
      text[i++] = '?';
    }
  }
}

}  // namespace

struct JsonWalker::State {
  ondemand::parser parser;
  std::string padded;
};

JsonWalker::JsonWalker() : state_(std::make_unique<State>()) {}
JsonWalker::~JsonWalker() = default;

Result<void> JsonWalker::walk(std::string_view text, JsonVisitor& visitor) {
  std::string& padded = state_->padded;
  padded.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  padded.assign(text);
  const auto open = [&](ondemand::document& document) {
    return state_->parser.iterate(padded.data(), padded.size(), padded.capacity()).get(document);
  };
  ondemand::document document;
  error_code error = open(document);
  if (error == simdjson::UTF8_ERROR) {
    mend_utf8(padded);
    error = open(document);
  }
  if (error) return corrupt(error, 0);

  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '[') {
    ondemand::array array;
    error = document.get_array().get(array);
    if (!error) error = walk_array(array, visitor, 1);
  } else {
    ondemand::object object;
    error = document.get_object().get(object);
    if (!error) error = walk_object(object, visitor, 1);
  }
  // Behind the last bracket the location is out of bounds, unless there is more.
  const char* location = nullptr;
  const bool more = document.current_location().get(location) == simdjson::SUCCESS;
  if (!error && !more) return {};
  return corrupt(error ? error : simdjson::TAPE_ERROR,
                 more ? static_cast<std::size_t>(location - padded.data()) : text.size());
}

JsonExtent find_json(std::string_view text, std::size_t from) {
  JsonExtent extent;
  extent.begin = text.find_first_of("{[", from);
  if (extent.begin == std::string_view::npos) return extent;
  extent.found = true;
  std::string open;            // the closers of what is open, outermost first
  std::size_t safe_depth = 0;  // how many of them are open at `extent.end`
  bool in_string = false;
  for (std::size_t i = extent.begin; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
      continue;
    }
    if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      open += c == '{' ? '}' : ']';
    } else if (c == '}' || c == ']') {
      // A bracket that does not match is for the walk to complain of.
      open.pop_back();
      if (open.empty()) {
        extent.end = i + 1;
        return extent;
      }
    } else if (c != ',') {
      continue;
    }
    if (c == '"') continue;
    extent.end = c == ',' ? i : i + 1;
    safe_depth = open.size();
  }
  extent.closers.assign(open.rbegin() + static_cast<std::ptrdiff_t>(open.size() - safe_depth), open.rend());
  return extent;
}

}  // namespace osler
