// Reading bytes with a format's reader, in pieces, for tests.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <random>
#include <span>
#include <string_view>

#include "osler/formats/format.h"
#include "recording_sink.h"

namespace osler::testing {

/// What came out of a reader.
struct Outcome {
  RecordingSink sink;
  DamageReport damage;
  std::optional<Error> error;
};

/// Reads `bytes` in pieces whose sizes `next_size` tells.
template <typename NextSize>
Outcome read_in_pieces(const Format& format, const std::filesystem::path& path, std::string_view bytes,
                       NextSize&& next_size) {
  Outcome outcome;
  const auto reader = format.open(path);
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, next_size());
    const auto fed = reader->feed(std::as_bytes(std::span(piece)), outcome.sink, outcome.damage);
    if (!fed) {
      outcome.error = fed.error();
      return outcome;
    }
    bytes.remove_prefix(piece.size());
  }
  const auto finished = reader->finish(outcome.sink, outcome.damage);
  if (!finished) outcome.error = finished.error();
  return outcome;
}

/// Reads `bytes` at once.
inline Outcome read_whole_text(const Format& format, const std::filesystem::path& path, std::string_view bytes) {
  return read_in_pieces(format, path, bytes, [&] { return bytes.size(); });
}

}  // namespace osler::testing
