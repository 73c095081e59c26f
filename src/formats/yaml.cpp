// The part of YAML that configurations use.
#include "formats/yaml.h"

#include <optional>
#include <string>
#include <vector>

#include "formats/lines.h"
#include "formats/numbers.h"

namespace osler {
namespace {

std::string_view unquote(std::string_view text) {
  const bool quoted = text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front();
  return quoted ? text.substr(1, text.size() - 2) : text;
}

/// The value of "key: value  # comment".
std::string_view scalar(std::string_view text) {
  text = trim(text);
  if (!text.starts_with('"') && !text.starts_with('\'')) {
    if (const std::size_t comment = text.find(" #"); comment != std::string_view::npos)
      text = trim(text.substr(0, comment));
  }
  return unquote(text);
}

/// The colon that ends the key: followed by a blank or the end of the line.
std::size_t find_colon(std::string_view line) {
  std::size_t colon = line.find(':');
  while (colon != std::string_view::npos && colon + 1 < line.size() && line[colon + 1] != ' ') {
    colon = line.find(':', colon + 1);
  }
  return colon;
}

class YamlMapping {
 public:
  explicit YamlMapping(EventSink& sink) : sink_(sink) {}

  void line(std::string_view text) {
    const std::size_t indent = text.find_first_not_of(' ');
    if (indent == std::string_view::npos || text[indent] == '#') return;
    const std::string_view rest = text.substr(indent);
    if (rest.starts_with("---") || rest.starts_with("- ") || rest == "-") return;
    const std::size_t colon = find_colon(rest);
    if (colon == std::string_view::npos) return;
    while (!open_.empty() && open_.back().indent >= indent) open_.pop_back();
    if (skipped_ && indent > *skipped_) return;
    skipped_.reset();
    const std::string key(unquote(trim(rest.substr(0, colon))));
    const std::string_view value = scalar(rest.substr(colon + 1));
    if (value.empty() || value.starts_with('!') || value.starts_with('&')) {
      if (open_.size() < kDeepest) open_.push_back({indent, key});
      return;
    }
    if (value == "|" || value == ">" || value == "|-" || value == ">-") {
      skipped_ = indent;
      return;
    }
    std::string name;
    for (const Level& level : open_) name += level.key + "/";
    sink_.config(name + key, value.substr(0, kLongestText));
  }

 private:
  static constexpr std::size_t kDeepest = 32;
  static constexpr std::size_t kLongestText = 1000;

  struct Level {
    std::size_t indent = 0;
    std::string key;
  };

  EventSink& sink_;
  std::vector<Level> open_;
  std::optional<std::size_t> skipped_;  // the indent of the key whose multi-line text is passed over
};

}  // namespace

void yaml_to_config(std::string_view text, EventSink& sink) {
  YamlMapping mapping(sink);
  LineSplitter splitter;
  DamageReport ignored;
  const auto take = [&](const Line& line) { mapping.line(line.text); };
  splitter.feed(std::as_bytes(std::span(text)), ignored, take);
  splitter.finish(ignored, take);
}

}  // namespace osler
