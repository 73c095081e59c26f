// Each kind of damage is one function on the bytes.
#include "mutate/mutation.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

namespace osler::mutate {
namespace {

using simulate::Random;

/// Longer originals are cut: most of their bytes are more of the same.
constexpr std::size_t kLongestOriginal = 96 * 1024;

constexpr std::array<std::string_view, 34> kTokens = {"nan",
                                                      "NaN",
                                                      "-inf",
                                                      "1e308",
                                                      "-1e308",
                                                      "1e-320",
                                                      "1e999",
                                                      "9223372036854775807",
                                                      "-9223372036854775808",
                                                      "18446744073709551616",
                                                      "99999999999999999999999999999999",
                                                      "0x1p3",
                                                      "-0",
                                                      ",",
                                                      ",,,,,,,,",
                                                      "\"",
                                                      "\"\"\"",
                                                      "{",
                                                      "[[[[[[[[",
                                                      "}",
                                                      "]",
                                                      "\\u0000",
                                                      "\\ud800",
                                                      "\t",
                                                      "\r",
                                                      "\r\n",
                                                      "\n\n",
                                                      "\xEF\xBB\xBF",
                                                      "\xFF\xFE",
                                                      "\xC3",
                                                      "\xF0\x9F\x98",
                                                      "\x1b[2J",
                                                      "tensor(1.94, device='cuda:0')",
                                                      "Traceback (most recent call last):\n"};

std::size_t place_in(const std::string& bytes, Random& random) {
  return static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(bytes.size())));
}

/// A piece of `bytes` that begins anywhere: short mostly, now and then long.
std::string_view piece_of(const std::string& bytes, Random& random) {
  const std::size_t start = place_in(bytes, random);
  const std::int64_t longest = random.chance(0.8) ? 64 : 16 * 1024;
  return std::string_view(bytes).substr(start, static_cast<std::size_t>(random.integer(1, longest)));
}

void flip_bits(std::string& bytes, const std::string& /*other*/, Random& random) {
  for (std::int64_t i = random.integer(1, 8); i > 0 && !bytes.empty(); --i) {
    char& byte = bytes[place_in(bytes, random) % bytes.size()];
    byte = static_cast<char>(static_cast<unsigned char>(byte) ^ (1U << static_cast<unsigned>(random.integer(0, 7))));
  }
}

void overwrite(std::string& bytes, const std::string& /*other*/, Random& random) {
  for (std::int64_t i = random.integer(1, 16); i > 0 && !bytes.empty(); --i) {
    bytes[place_in(bytes, random) % bytes.size()] = static_cast<char>(random.integer(0, 255));
  }
}

void cut_off(std::string& bytes, const std::string& /*other*/, Random& random) {
  bytes.resize(place_in(bytes, random));
}

void cut_head(std::string& bytes, const std::string& /*other*/, Random& random) {
  bytes.erase(0, place_in(bytes, random));
}

void remove_piece(std::string& bytes, const std::string& /*other*/, Random& random) {
  const std::string_view piece = piece_of(bytes, random);
  bytes.erase(static_cast<std::size_t>(piece.data() - bytes.data()), piece.size());
}

void insert_token(std::string& bytes, const std::string& /*other*/, Random& random) {
  for (std::int64_t i = random.integer(1, 6); i > 0; --i) {
    const auto which = static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(kTokens.size()) - 1));
    bytes.insert(place_in(bytes, random), kTokens[which]);
  }
}

/// Puts a token where a number stood, so that the rest of the line stays as it was.
void replace_number(std::string& bytes, const std::string& /*other*/, Random& random) {
  constexpr std::string_view kDigits = "0123456789.-+eE";
  for (std::int64_t i = random.integer(1, 30); i > 0; --i) {
    const std::size_t start = bytes.find_first_of("0123456789", place_in(bytes, random));
    if (start == std::string::npos) continue;
    const std::size_t end = std::min(bytes.find_first_not_of(kDigits, start), bytes.size());
    const auto which = static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(kTokens.size()) - 1));
    bytes.replace(start, end - start, kTokens[which]);
  }
}

void repeat_piece(std::string& bytes, const std::string& /*other*/, Random& random) {
  const std::string piece(piece_of(bytes, random));
  std::string many;
  for (std::int64_t i = random.integer(1, 2000); i > 0 && many.size() < kLongestMutant / 4; --i) many += piece;
  bytes.insert(place_in(bytes, random), many);
}

void zero_piece(std::string& bytes, const std::string& /*other*/, Random& random) {
  const std::string_view piece = piece_of(bytes, random);
  const auto start = bytes.begin() + (piece.data() - bytes.data());
  std::fill(start, start + static_cast<std::ptrdiff_t>(piece.size()), '\0');
}

void take_from_other(std::string& bytes, const std::string& other, Random& random) {
  bytes.insert(place_in(bytes, random), piece_of(other, random));
}

void continue_as_other(std::string& bytes, const std::string& other, Random& random) {
  bytes.resize(place_in(bytes, random));
  bytes += std::string_view(other).substr(place_in(other, random));
}

void swap_lines(std::string& bytes, const std::string& /*other*/, Random& random) {
  std::vector<std::string_view> lines;
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size() - 1);
    lines.push_back(rest.substr(0, end + 1));
    rest.remove_prefix(end + 1);
  }
  if (lines.size() < 2) return;
  const auto last = static_cast<std::int64_t>(lines.size()) - 1;
  for (std::int64_t i = random.integer(1, 20); i > 0; --i) {
    std::swap(lines[static_cast<std::size_t>(random.integer(0, last))],
              lines[static_cast<std::size_t>(random.integer(0, last))]);
  }
  std::string swapped;
  for (const std::string_view line : lines) swapped += line;
  bytes = std::move(swapped);
}

void change_line_ends(std::string& bytes, const std::string& /*other*/, Random& random) {
  const std::string_view end = random.chance(0.5) ? "\r\n" : random.chance(0.5) ? "\r" : "";
  std::string changed;
  for (const char byte : bytes) {
    if (byte == '\n') {
      changed += end;
    } else {
      changed += byte;
    }
  }
  bytes = std::move(changed);
}

void widen(std::string& bytes, const std::string& /*other*/, Random& /*random*/) {
  std::string wide = "\xFF\xFE";
  for (const char byte : bytes) {
    wide += byte;
    wide += '\0';
  }
  bytes = std::move(wide);
}

void lengthen_line(std::string& bytes, const std::string& /*other*/, Random& random) {
  const auto filling = static_cast<char>(random.chance(0.5) ? ',' : random.integer(32, 126));
  bytes.insert(place_in(bytes, random), static_cast<std::size_t>(random.integer(1, 128 * 1024)), filling);
}

using Damage = void (*)(std::string& bytes, const std::string& other, Random& random);
constexpr std::array<Damage, 15> kDamage = {flip_bits,        overwrite,       cut_off,           cut_head,
                                            remove_piece,     insert_token,    replace_number,    repeat_piece,
                                            zero_piece,       take_from_other, continue_as_other, swap_lines,
                                            change_line_ends, widen,           lengthen_line};

bool is_original(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  return path.extension() != ".md" && path.extension() != ".cpp" && path.extension() != ".h" &&
         !name.ends_with(".expected.json");
}

}  // namespace

std::vector<Original> originals(const std::string& source) {
  namespace fs = std::filesystem;
  std::vector<fs::path> paths;
  for (const char* folder : {"tests/samples", "examples/logs"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(source) / folder)) {
      if (entry.is_regular_file() && is_original(entry.path())) paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Original> found;
  for (const fs::path& path : paths) {
    std::ifstream file(path, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(file), {}};
    bytes.resize(std::min(bytes.size(), kLongestOriginal));
    found.push_back({path.filename().string(), std::move(bytes)});
  }
  return found;
}

std::string mutated(const std::string& bytes, const std::string& other, simulate::Random& random) {
  constexpr std::int64_t kMostKinds = 4;
  std::string mutant = bytes;
  for (std::int64_t i = random.integer(1, kMostKinds); i > 0; --i) {
    kDamage[static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(kDamage.size()) - 1))](mutant, other,
                                                                                                        random);
    mutant.resize(std::min(mutant.size(), kLongestMutant));
  }
  return mutant;
}

}  // namespace osler::mutate
