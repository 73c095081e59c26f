// Feeds a reader bytes nobody wrote: it must neither crash nor hang, and must not care how they are cut.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "osler/formats/format.h"

namespace osler {
namespace {

/// Keeps the events and forgets the rest.
class EventList final : public EventSink {
 public:
  SeriesId series(std::string_view) override { return names_++; }
  void add(const Event& event) override { events.push_back(event); }
  void add(Mark) override {}
  void config(std::string_view, std::string_view) override {}

  std::vector<Event> events;

 private:
  SeriesId names_ = 0;
};

/// Names matter to some formats: those of the format's own samples, that is of the files in them that it claims.
std::vector<std::filesystem::path> paths_of(const Format& format) {
  std::vector<std::filesystem::path> paths;
  const std::filesystem::path folder = std::filesystem::path(OSLER_SOURCE_DIR) / "tests/samples" / format.id;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::string head(kPeekBytes, '\0');
    std::ifstream file(entry.path(), std::ios::binary);
    file.read(head.data(), static_cast<std::streamsize>(head.size()));
    head.resize(static_cast<std::size_t>(file.gcount()));
    if (format.sniff({entry.path(), head, true}) != Sniff::no) paths.push_back(entry.path());
  }
  if (paths.empty()) std::abort();  // a format without a sample
  return paths;
}

std::vector<Event> read(const Format& format, const std::filesystem::path& path, std::span<const std::byte> bytes,
                        std::size_t piece) {
  EventList sink;
  DamageReport damage;
  const auto reader = format.open(path);
  while (!bytes.empty()) {
    const std::span<const std::byte> next = bytes.first(std::min(piece, bytes.size()));
    if (!reader->feed(next, sink, damage)) return sink.events;
    bytes = bytes.subspan(next.size());
  }
  static_cast<void>(reader->finish(sink, damage));
  return sink.events;
}

bool same(const Event& a, const Event& b) {
  return a.series == b.series && a.step == b.step &&
         std::bit_cast<std::uint64_t>(a.value) == std::bit_cast<std::uint64_t>(b.value);
}

/// The format whose reader is fed.
const Format*& chosen() {
  static const Format* format = nullptr;
  return format;
}

}  // namespace
}  // namespace osler

// libFuzzer looks for these two names.
// NOLINTBEGIN(readability-identifier-naming)

/// A program called fuzz_json_lines feeds the reader of json-lines.
extern "C" int LLVMFuzzerInitialize(int*, char*** arguments) {
  std::string id = std::filesystem::path((*arguments)[0]).filename().string();
  if (id.starts_with("fuzz_")) id.erase(0, 5);
  std::replace(id.begin(), id.end(), '_', '-');
  osler::chosen() = osler::find_format(id);
  if (osler::chosen() != nullptr) return 0;
  std::fprintf(stderr, "there is no format '%s': call this program by a name such as fuzz_csv\n", id.c_str());
  std::exit(1);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace osler;
  static const Format& format = *chosen();
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  static const std::vector<std::filesystem::path> paths = paths_of(format);
  const std::filesystem::path& path = paths[size % paths.size()];
  static_cast<void>(format.sniff({path, {reinterpret_cast<const char*>(data), size}, true}));
  const std::vector<Event> whole = read(format, path, bytes, std::max<std::size_t>(size, 1));
  // The size of the pieces comes from the input, so that the fuzzer can choose it.
  const std::vector<Event> pieces = read(format, path, bytes, size == 0 ? 1 : 1 + data[size - 1] % 64);
  const bool equal = whole.size() == pieces.size() && std::equal(whole.begin(), whole.end(), pieces.begin(), same);
  if (!equal) std::abort();
  return 0;
}

// NOLINTEND(readability-identifier-naming)
