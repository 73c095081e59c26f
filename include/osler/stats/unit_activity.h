// UnitActivity and DeadUnitWindow: which units of a layer are silent over a batch, and over a window of batches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace osler::stats {

/// For every unit of an activation tensor, in how many of its places it was active.
struct UnitActivity {
  std::uint64_t places = 0;           ///< elements of each unit: samples times positions
  std::vector<std::uint32_t> active;  ///< one count for each unit of elements that exceed the threshold or are NaN

  /// The number of units that were active nowhere.
  [[nodiscard]] std::size_t silent() const;

  friend bool operator==(const UnitActivity&, const UnitActivity&) = default;
};

/// Remembers for every unit when it was last active, so that a unit counts as dead only after a whole window of
/// silence.
class DeadUnitWindow {
 public:
  /// `window` is the number of batches, at least 1.
  DeadUnitWindow(std::size_t units, std::uint64_t window);

  /// Takes in the next batch; one with another number of units starts the window afresh.
  void add(const UnitActivity& batch);

  [[nodiscard]] std::size_t units() const { return last_active_.size(); }
  /// Whether as many batches were seen as the window is long.
  [[nodiscard]] bool full() const { return batches_ >= window_; }
  /// Whether a unit was silent in every batch of a full window.
  [[nodiscard]] bool dead(std::size_t unit) const;
  /// The number of dead units.
  [[nodiscard]] std::size_t dead_count() const;
  /// The share of dead units, 0 without units.
  [[nodiscard]] double dead_share() const;

 private:
  std::uint64_t window_;
  std::uint64_t batches_ = 0;
  std::vector<std::uint64_t> last_active_;  ///< number of the batch, counted from 1; 0 for never
};

}  // namespace osler::stats
