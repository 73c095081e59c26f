// Packs a population: each line of a pack is one run, its meta data and its log.
#include "pack.h"

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace osler::population {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string as_json(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '\n') {
      quoted += "\\n";
    } else {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
  }
  return quoted + "\"";
}

/// The value of a text field in a line of meta data, which this program has written itself.
std::string field(const std::string& meta, const std::string& name) {
  const std::string mark = "\"" + name + "\": \"";
  const std::size_t from = meta.find(mark);
  if (from == std::string::npos) return "";
  const std::size_t start = from + mark.size();
  return meta.substr(start, meta.find('"', start) - start);
}

std::vector<fs::path> complete_runs(const fs::path& out) {
  std::vector<fs::path> folders;
  for (const fs::directory_entry& entry : fs::directory_iterator(out / "runs")) {
    if (fs::exists(entry.path() / "meta.json")) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::string packed_line(const fs::path& folder) {
  std::string meta = content(folder / "meta.json");
  while (!meta.empty() && meta.back() == '\n') meta.pop_back();
  return "{\"meta\": " + meta + ", \"log\": " + as_json(content(folder / field(meta, "file"))) + "}\n";
}

/// Compresses a file in place with the best program that the machine has; the name tells which.
bool compress(const fs::path& path) {
  for (const char* program : {"zstd -q -19 --rm -f", "xz -6 -f", "gzip -9 -f"}) {
    const std::string command = std::string(program) + " '" + path.string() + "' 2>/dev/null";
    if (std::system(command.c_str()) == 0) return true;
  }
  return false;
}

/// How far the logs are expected to shrink; measured on packs of a few hundred runs.
constexpr double kShrinks = 2.5;

}  // namespace

bool pack_population(const fs::path& out, const fs::path& to, double megabytes) {
  fs::create_directories(to);
  const auto most = static_cast<std::size_t>(megabytes * kShrinks * 1e6);
  std::string lines;
  long part = 0;
  bool good = true;
  const auto flush = [&] {
    if (lines.empty()) return;
    std::array<char, 64> name{};
    std::snprintf(name.data(), name.size(), "population-%02ld.jsonl", ++part);
    std::ofstream(to / name.data(), std::ios::binary) << lines;
    good = compress(to / name.data()) && good;
    lines.clear();
  };
  for (const fs::path& folder : complete_runs(out)) {
    const std::string line = packed_line(folder);
    if (lines.size() + line.size() > most) flush();
    lines += line;
  }
  flush();
  return good;
}

bool pack_sample(const fs::path& out, const fs::path& to, long runs) {
  constexpr std::uintmax_t kLongestLog = 24000;
  fs::create_directories(to);
  // Kinds take turns, so that the sample has some of each: what was planted, and what came of it.
  std::map<std::string, std::vector<fs::path>> kinds;
  for (const fs::path& folder : complete_runs(out)) {
    const std::string meta = content(folder / "meta.json");
    if (fs::file_size(folder / field(meta, "file")) > kLongestLog) continue;
    const std::string planted = field(meta, "key");
    const std::string kind =
        planted.empty() ? "healthy " + field(meta, "family") : field(meta, "verdict") + " " + planted;
    kinds[kind].push_back(folder);
  }
  std::vector<fs::path> chosen;
  for (std::size_t turn = 0; static_cast<long>(chosen.size()) < runs; ++turn) {
    const std::size_t before = chosen.size();
    for (const auto& [kind, folders] : kinds) {
      if (turn < folders.size() && static_cast<long>(chosen.size()) < runs) chosen.push_back(folders[turn]);
    }
    if (chosen.size() == before) break;
  }
  std::sort(chosen.begin(), chosen.end());
  {
    std::ofstream file(to / "sample.jsonl", std::ios::binary);
    for (const fs::path& folder : chosen) file << packed_line(folder);
  }
  return compress(to / "sample.jsonl");
}

}  // namespace osler::population
