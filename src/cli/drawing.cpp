// What the verbs that draw share: where a figure goes, and how it is written.
#include "cli/drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "cli/terminal.h"
#include "osler/base/file_system.h"

namespace osler::cli {
namespace {

/// Letters, digits, dots and underscores as they are; everything else, in runs, becomes one dash.
std::string plain(std::string_view name) {
  constexpr std::size_t kLongest = 80;
  std::string out;
  for (const char c : name.substr(0, kLongest)) {
    const bool fine = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_';
    if (fine) {
      out.push_back(c);
    } else if (!out.empty() && out.back() != '-') {
      out.push_back('-');
    }
  }
  while (!out.empty() && (out.back() == '-' || out.back() == '.')) out.pop_back();
  return out.empty() || out.front() == '.' ? "run" + out : out;
}

}  // namespace

std::string default_output(const Run& run, std::string_view ending) {
  const std::filesystem::path path = run.name == "-" || run.name.empty() ? "run" : run.name;
  const std::string name = path.filename().empty() ? path.parent_path().filename().string() : path.stem().string();
  return plain(name) + "-" + std::string(ending);
}

Result<FigureType> output_type(const std::string& path) {
  if (const auto type = figure_type_of(path)) return *type;
  return Error{ErrorCode::invalid_argument, "the ending says what to draw: .png, .svg or .pdf", path};
}

Result<FigureTheme> to_theme(const std::string& word) {
  if (word == "light") return FigureTheme::light;
  if (word == "dark") return FigureTheme::dark;
  return Error{ErrorCode::invalid_argument, fmt::format("no theme '{}'; there are: light, dark", word), "--theme"};
}

Result<void> write_output(const std::string& path, std::string_view bytes) {
  auto file = real_file_system().open_write(path, WriteMode::truncate);
  if (!file) return file.error();
  return (*file)->append(std::as_bytes(std::span(bytes)));
}

}  // namespace osler::cli
