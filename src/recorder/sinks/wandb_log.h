// WandbLogWriter: frames records for a .wandb file: blocks, fragments, checksums.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/crc32.h"

namespace osler::recording {

/// Turns records into the bytes of a .wandb file, a LevelDB log: seven bytes of header, then blocks of 32 KiB with
/// fragments of checksum (of type and data), length, type and data. Remembers where in the file it is.
class WandbLogWriter {
 public:
  /// The opening of the file: ":W&B", the magic number 0xBEE1, version 0.
  [[nodiscard]] std::string header() {
    std::string bytes(":W&B\xE1\xBE\0", kHeaderBytes);
    offset_ = bytes.size();
    return bytes;
  }

  /// Appends a record to `bytes`.
  void append(std::string_view record, std::string& bytes) {
    for (bool first = true;; first = false) {
      std::size_t room = kBlockBytes - static_cast<std::size_t>(offset_ % kBlockBytes);
      if (room < kHeaderBytes) {  // too little for a fragment
        bytes.append(room, '\0');
        offset_ += room;
        room = kBlockBytes;
      }
      const std::string_view part = record.substr(0, std::min(record.size(), room - kHeaderBytes));
      record.remove_prefix(part.size());
      const bool last = record.empty();
      fragment(first ? (last ? kFull : kFirst) : (last ? kLast : kMiddle), part, bytes);
      if (last) return;
    }
  }

 private:
  static constexpr std::size_t kHeaderBytes = 7;
  static constexpr std::size_t kBlockBytes = 32768;
  static constexpr char kFull = 1;
  static constexpr char kFirst = 2;
  static constexpr char kMiddle = 3;
  static constexpr char kLast = 4;

  void fragment(char type, std::string_view data, std::string& bytes) {
    const std::uint32_t crc = crc32(std::as_bytes(std::span(data)), crc32(std::as_bytes(std::span(&type, 1))));
    for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<char>(crc >> (8 * i)));
    bytes.push_back(static_cast<char>(data.size()));
    bytes.push_back(static_cast<char>(data.size() >> 8));
    bytes.push_back(type);
    bytes += data;
    offset_ += kHeaderBytes + data.size();
  }

  std::uint64_t offset_ = 0;
};

}  // namespace osler::recording
