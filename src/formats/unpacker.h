// Unpacker: decompresses gzip, zstd and xz as the bytes arrive.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "osler/base/result.h"

namespace osler {

/// How a file is compressed.
enum class Packing { none, gzip, zstd, xz };

/// What the first bytes of a file tell.
[[nodiscard]] Packing packing_of(std::string_view head);
/// "gzip", "zstd", "xz"; empty for none.
[[nodiscard]] std::string_view to_string(Packing packing);

/// Decompresses one stream of any length in bounded memory. Streams that follow each other count as one.
class Unpacker {
 public:
  /// Told the bytes that came out; they live for the call only.
  using OnBytes = std::function<void(std::span<const std::byte>)>;

  virtual ~Unpacker() = default;
  /// Takes compressed bytes and hands on what they give. An error (`corrupt`, `unsupported`) is final.
  [[nodiscard]] virtual Result<void> feed(std::span<const std::byte> bytes, const OnBytes& on_bytes) = 0;
  /// Whether the last stream is complete.
  [[nodiscard]] virtual bool complete() const = 0;
};

/// An unpacker for that packing, which must not be none.
[[nodiscard]] std::unique_ptr<Unpacker> make_unpacker(Packing packing);

}  // namespace osler
