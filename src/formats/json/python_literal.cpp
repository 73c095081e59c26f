// From Python's notation of values to that of JSON.
#include "formats/json/python_literal.h"

#include <cctype>

namespace osler {
namespace {

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

/// Walks the text once, writing JSON.
class Translator {
 public:
  explicit Translator(std::string_view text) : text_(text) { json_.reserve(text.size()); }

  std::string run() {
    while (at_ < text_.size()) step();
    return std::move(json_);
  }

 private:
  void step() {
    const char c = text_[at_];
    if (c == '\'' || c == '"') return quoted(c);
    if (std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_') return word();
    if (is_name_character(c)) return number();
    ++at_;
    if (c == '(') {
      json_ += '[';
      closers_ += ']';
    } else if (c == ')') {
      if (closers_.empty()) return;
      if (closers_.back() != '\0') json_ += closers_.back();
      closers_.pop_back();
    } else {
      json_ += c;
    }
  }

  void quoted(char quote) {
    json_ += '"';
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        if (text_[++at_] != '\'') json_ += '\\';
      } else if (text_[at_] == '"') {
        json_ += '\\';
      }
      json_ += text_[at_];
    }
    json_ += '"';
    ++at_;
  }

  std::string_view name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name_character(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  /// "1e-05" goes on behind its sign.
  void number() {
    json_ += name();
    const bool exponent = json_.back() == 'e' || json_.back() == 'E';
    if (!exponent || at_ >= text_.size() || (text_[at_] != '-' && text_[at_] != '+')) return;
    json_ += text_[at_++];
    json_ += name();
  }

  void word() {
    const std::string_view word = name();
    const char next = at_ < text_.size() ? text_[at_] : '\0';
    if (next == '(') {  // np.float32(0.5), array([...])
      ++at_;
      closers_ += '\0';
    } else if (next == '=') {  // dtype=float32, with the comma before it
      ++at_;
      name();
      while (!json_.empty() && (json_.back() == ' ' || json_.back() == ',')) json_.pop_back();
    } else if (word == "None") {
      json_ += "null";
    } else if (word == "True" || word == "False") {
      json_ += word == "True" ? "true" : "false";
    } else {
      json_ += word;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string json_;
  std::string closers_;  // of the parentheses that are open; a zero byte for those of a call, which leave no trace
};

}  // namespace

bool begins_python_history(std::string_view text) {
  std::size_t at = text.find_first_not_of(" \t\r\n");
  if (at == std::string_view::npos || text.substr(at, 2) != "{'") return false;
  at = text.find('\'', at + 2);
  if (at == std::string_view::npos) return false;
  const std::string_view rest = text.substr(at + 1);
  const std::size_t list = rest.find_first_not_of(": \n");
  if (rest.empty() || rest.front() != ':' || list == std::string_view::npos || rest[list] != '[') return false;
  const std::size_t value = rest.find_first_not_of(" \n[", list);
  // The first value, and a comma behind it: a list of one number is a row's.
  return value != std::string_view::npos && rest.substr(value, 200).find(',') != std::string_view::npos &&
         rest[value] != '\'' && rest[value] != '{';
}

std::string json_of_python(std::string_view text) {
  return Translator(text).run();
}

}  // namespace osler
