// The loop that reads bytes and feeds them.
#include "formats/pump.h"

#include <algorithm>

#include "formats/claim.h"

namespace osler {
namespace {

/// Reads until the buffer holds `wanted` bytes or the input ends.
Result<std::size_t> fill(ReadableFile& file, std::span<std::byte> buffer, std::size_t wanted) {
  std::size_t filled = 0;
  while (filled < wanted) {
    const auto length = file.read(buffer.subspan(filled));
    if (!length) return length.error();
    if (*length == 0) break;
    filled += *length;
  }
  return filled;
}

}  // namespace

Pumped pump(ReadableFile& file, const std::filesystem::path& path, const Format* format, EventSink& sink,
            DamageReport& damage, const std::stop_token& stop, std::span<std::byte> buffer,
            const std::function<void(std::uint64_t)>& on_bytes) {
  Pumped pumped;
  auto length = fill(file, buffer, format == nullptr ? kPeekBytes : 1);
  if (!length) {
    pumped.error = length.error();
    return pumped;
  }
  if (format == nullptr) {
    const std::string_view head(reinterpret_cast<const char*>(buffer.data()), std::min(*length, kPeekBytes));
    const Peek peek{path, head, *length < kPeekBytes};
    format = claim(peek).format;
    if (format == nullptr) {
      pumped.error = unclaimed(peek);
      return pumped;
    }
  }
  pumped.format = format;
  const std::unique_ptr<Reader> reader = format->open(path);
  while (*length > 0 && !stop.stop_requested()) {
    pumped.bytes += *length;
    const auto fed = reader->feed(buffer.first(*length), sink, damage);
    on_bytes(*length);
    if (!fed) {
      pumped.error = fed.error();
      return pumped;
    }
    length = file.read(buffer);
    if (!length) break;
  }
  // Even when reading broke off, what the reader still holds is good.
  const auto finished = reader->finish(sink, damage);
  if (!length) {
    pumped.error = length.error();
  } else if (!finished) {
    pumped.error = finished.error();
  }
  return pumped;
}

}  // namespace osler
