// The end of an output, read by the format of printed logs.
#include "formats/ending.h"

#include <algorithm>
#include <limits>
#include <span>
#include <string>

#include "osler/formats/format.h"

namespace osler {
namespace {

/// A traceback through a distributed training is long; what is printed after it is not.
constexpr std::uint64_t kTail = std::uint64_t{64} << 10U;

/// Remembers whether a crash was the last that happened.
class Ending final : public EventSink {
 public:
  SeriesId series(std::string_view /*name*/) override { return 0; }
  void add(const Event& event) override { last_step_ = std::max(last_step_, event.step); }
  void add(Mark mark) override {
    if (mark.kind == Mark::Kind::note) return;
    crashed_ = mark.kind == Mark::Kind::crashed;
    step_ = mark.step;
  }
  void config(std::string_view /*key*/, std::string_view /*value*/) override {}

  [[nodiscard]] bool crashed() const { return crashed_ && step_ >= last_step_; }

 private:
  std::int64_t last_step_ = std::numeric_limits<std::int64_t>::min();
  std::int64_t step_ = 0;
  bool crashed_ = false;
};

/// The end of a file from the beginning of a line on; empty when it cannot be read.
std::string tail_of(FileSystem& files, const std::filesystem::path& path, std::uint64_t size_bytes) {
  auto file = files.open_read(path);
  const std::uint64_t start = size_bytes - std::min(size_bytes, kTail);
  if (!file || !(*file)->seek(start)) return {};
  std::string text(static_cast<std::size_t>(size_bytes - start), '\0');
  std::size_t filled = 0;
  while (filled < text.size()) {
    const auto length = (*file)->read(std::as_writable_bytes(std::span(text).subspan(filled)));
    if (!length || *length == 0) break;
    filled += *length;
  }
  text.resize(filled);
  return start == 0 ? text : text.substr(std::min(text.find('\n'), text.size()));
}

}  // namespace

bool ends_in_a_crash(FileSystem& files, const std::filesystem::path& path, std::uint64_t size_bytes) {
  const Format* printed = find_format("text");
  if (printed == nullptr) return false;
  const std::string tail = tail_of(files, path, size_bytes);
  const std::unique_ptr<Reader> reader = printed->open(path);
  Ending ending;
  DamageReport ignored;
  if (!reader->feed(std::as_bytes(std::span(tail)), ending, ignored)) return false;
  static_cast<void>(reader->finish(ending, ignored));
  return ending.crashed();
}

}  // namespace osler
