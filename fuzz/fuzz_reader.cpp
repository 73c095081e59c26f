// Feeds a reader bytes nobody wrote: it must neither crash nor hang, and must not care how they are cut.
#include <cstdlib>
#include <cstring>
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

std::vector<Event> read(const Format& format, std::span<const std::byte> bytes, std::size_t piece) {
  EventList sink;
  DamageReport damage;
  // A path in which every format finds what it looks for.
  const auto reader = format.open("0123456789abcdef0123456789abcdef/metrics/loss");
  while (!bytes.empty()) {
    const std::span<const std::byte> next = bytes.first(std::min(piece, bytes.size()));
    if (!reader->feed(next, sink, damage)) return sink.events;
    bytes = bytes.subspan(next.size());
  }
  static_cast<void>(reader->finish(sink, damage));
  return sink.events;
}

bool same(const Event& a, const Event& b) {
  return a.series == b.series && a.step == b.step && std::memcmp(&a.value, &b.value, sizeof a.value) == 0;
}

}  // namespace
}  // namespace osler

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace osler;
  static const Format& format = *find_format(OSLER_FORMAT);
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  static_cast<void>(format.sniff({"log", {reinterpret_cast<const char*>(data), size}, true}));
  const std::vector<Event> whole = read(format, bytes, std::max<std::size_t>(size, 1));
  // The size of the pieces comes from the input, so that the fuzzer can choose it.
  const std::vector<Event> pieces = read(format, bytes, size == 0 ? 1 : 1 + data[size - 1] % 64);
  const bool equal = whole.size() == pieces.size() && std::equal(whole.begin(), whole.end(), pieces.begin(), same);
  if (!equal) std::abort();
  return 0;
}
