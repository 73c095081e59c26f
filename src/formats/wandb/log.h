// WandbLog: cuts a .wandb file into its records and checks their CRCs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "osler/base/damage.h"
#include "osler/base/result.h"

namespace osler {

/// The file opens with ":W&B", the magic number 0xBEE1 and a version byte. Then come blocks of 32 KiB, as in LevelDB's
/// log: each holds fragments of crc (4 bytes, little endian, CRC-32 of type and data), length (2), type (1) and data,
/// and up to six zero bytes at its end. A record is one full fragment, or a first, any number of middle ones and a
/// last. A damaged fragment costs its record; what follows it is tried, else the rest of the block is passed over.
class WandbLog {
 public:
  static constexpr std::size_t kHeaderBytes = 7;
  static constexpr std::size_t kBlockBytes = 32768;
  /// Larger records hold media, never numbers.
  static constexpr std::size_t kLargestRecord = std::size_t{64} << 20;

  using OnRecord = std::function<void(std::string_view record, std::uint64_t offset)>;

  /// Calls `on_record` for each record that the bytes complete. Fails when the file does not open like a .wandb file.
  [[nodiscard]] Result<void> feed(std::span<const std::byte> bytes, DamageReport& damage, const OnRecord& on_record);
  /// Says whether bytes are left over that only make sense with more behind them.
  [[nodiscard]] Result<void> finish() const;

  /// Whether a file begins like this one does.
  [[nodiscard]] static bool opens(std::string_view head);

 private:
  enum class Fragment : std::uint8_t { none = 0, full = 1, first = 2, middle = 3, last = 4 };

  /// Uses what it can of `bytes` and returns how much that was.
  std::size_t split(std::string_view bytes, DamageReport& damage, const OnRecord& on_record);
  void fragment(Fragment type, std::string_view data, DamageReport& damage, const OnRecord& on_record);
  void drop_record(DamageReport& damage, const char* why);

  std::string pending_;       // bytes that are not used yet
  std::string record_;        // fragments of the record that is not complete
  std::uint64_t offset_ = 0;  // of the first byte of `pending_`
  std::uint64_t record_offset_ = 0;
  std::size_t skip_ = 0;  // bytes of a block still to be passed over
  bool in_record_ = false;
  bool oversized_ = false;
  bool distrusted_ = false;  // the fragment before this one was damaged
};

}  // namespace osler
