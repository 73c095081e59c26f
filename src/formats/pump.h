// Pumping one input through its reader.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>

#include "osler/base/file_system.h"
#include "osler/formats/format.h"

namespace osler {

inline constexpr std::size_t kPumpBufferBytes = std::size_t{1} << 20;

/// What became of an input.
struct Pumped {
  const Format* format = nullptr;  ///< the one that read it; null when none was found
  std::uint64_t bytes = 0;         ///< how far it was read
  std::optional<Error> error;      ///< why it was not read to its end; `truncated` when it ends too early
};

/// Reads `file` to its end, or until a stop is requested. `format` may be null: then the first bytes are sniffed.
/// `on_bytes` is told how many bytes each read brought. `buffer` has kPumpBufferBytes.
[[nodiscard]] Pumped pump(ReadableFile& file, const std::filesystem::path& path, const Format* format, EventSink& sink,
                          DamageReport& damage, const std::stop_token& stop, std::span<std::byte> buffer,
                          const std::function<void(std::uint64_t)>& on_bytes);

}  // namespace osler
