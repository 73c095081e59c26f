// The strokes and shapes of an SVG that Cairo wrote, for tests of figures.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

namespace osler::tests {

struct SvgPlace {
  double x = 0;
  double y = 0;
};

/// One <path> with its style and the places it goes through.
struct SvgPath {
  std::string style;
  std::vector<SvgPlace> places;

  [[nodiscard]] bool has(std::string_view property) const { return style.find(property) != std::string::npos; }
  [[nodiscard]] bool upright() const {
    return places.size() == 2 && places[0].x == places[1].x && places[0].y != places[1].y;
  }
};

/// All paths of the page but the outlines of letters.
inline std::vector<SvgPath> paths_of(const std::string& svg) {
  std::vector<SvgPath> paths;
  const std::size_t page = svg.find("</defs>");
  std::size_t at = page == std::string::npos ? 0 : page;
  while ((at = svg.find("<path", at)) != std::string::npos) {
    const std::size_t end = svg.find("/>", at);
    const std::string element = svg.substr(at, end - at);
    at = end;
    const auto attribute = [&element](const std::string& name) {
      const std::size_t begin = element.find(name + "=\"");
      if (begin == std::string::npos) return std::string();
      const std::size_t value = begin + name.size() + 2;
      return element.substr(value, element.find('"', value) - value);
    };
    SvgPath path{attribute("style"), {}};
    const std::string data = attribute("d");
    std::vector<double> numbers;
    for (const char* next = data.c_str(); *next != '\0';) {
      char* behind = nullptr;
      const double number = std::strtod(next, &behind);
      if (behind == next) {
        ++next;
        continue;
      }
      numbers.push_back(number);
      next = behind;
    }
    for (std::size_t i = 0; i + 1 < numbers.size(); i += 2) path.places.push_back({numbers[i], numbers[i + 1]});
    paths.push_back(std::move(path));
  }
  return paths;
}

}  // namespace osler::tests
