// DamageReport: what a reader had to leave out, so that a partial answer can say so.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace osler {

/// One damaged place of an input.
struct Damage {
  std::string source;            ///< the file, as the user named it
  std::uint64_t offset = 0;      ///< byte offset in the source
  std::uint64_t line = 0;        ///< 1-based line, 0 where lines mean nothing
  std::string what;              ///< one short clause: "value 'abc' in column 'loss' is not a number"
  std::uint64_t lost_bytes = 0;  ///< how much was skipped because of it, 0 when nothing but the value itself

  friend bool operator==(const Damage&, const Damage&) = default;
};

/// Collects damages in bounded memory: the first `kKept` in full, the rest as a count.
class DamageReport {
 public:
  static constexpr std::size_t kKept = 100;

  void add(Damage damage) {
    ++total_;
    lost_bytes_ += damage.lost_bytes;
    if (items_.size() < kKept) items_.push_back(std::move(damage));
  }
  void merge(const DamageReport& other) {
    for (const Damage& damage : other.items_) {
      if (items_.size() < kKept) items_.push_back(damage);
    }
    total_ += other.total_;
    lost_bytes_ += other.lost_bytes_;
  }
  /// Fills in the source where a reader, which sees bytes and no names, left it empty.
  void name_source(const std::string& source) {
    for (Damage& damage : items_) {
      if (damage.source.empty()) damage.source = source;
    }
  }

  [[nodiscard]] bool empty() const { return total_ == 0; }
  [[nodiscard]] std::uint64_t total() const { return total_; }
  [[nodiscard]] std::uint64_t lost_bytes() const { return lost_bytes_; }
  [[nodiscard]] const std::vector<Damage>& items() const { return items_; }

 private:
  std::vector<Damage> items_;
  std::uint64_t total_ = 0;
  std::uint64_t lost_bytes_ = 0;
};

}  // namespace osler
