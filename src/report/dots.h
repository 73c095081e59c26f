// Dots: the surface that small plots are drawn on, several dots to a terminal cell.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace osler::layout {

/// Dots, several per cell, each owned by one curve.
class Dots {
 public:
  Dots(int cells_wide, int cells_high, bool unicode)
      : wide_(cells_wide),
        high_(cells_high),
        across_(unicode ? 2 : 1),
        down_(unicode ? 4 : 1),
        owner_(static_cast<std::size_t>(width() * height()), kNone) {}

  [[nodiscard]] int width() const { return wide_ * across_; }
  [[nodiscard]] int height() const { return high_ * down_; }

  /// `y` counts from the bottom. The later curve wins a dot.
  void set(int x, int y, std::uint8_t curve) { owner_[index(x, height() - 1 - y)] = curve; }

  /// Which curve a cell belongs to: that of most of its dots, the later one when equal.
  [[nodiscard]] std::uint8_t curve_at(int column, int row) const {
    std::array<int, 3> votes{};
    for_cell(column, row, [&](int, int, std::uint8_t curve) { ++votes.at(curve); });
    return votes[2] >= votes[1] && votes[2] > 0 ? 2 : votes[1] > 0 ? 1 : kNone;
  }

  /// The eight dots of a cell in Braille's bit order.
  [[nodiscard]] char32_t braille_at(int column, int row) const {
    constexpr std::array<std::array<unsigned, 4>, 2> kBits = {{{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}}};
    char32_t sign = 0x2800;
    for_cell(column, row, [&](int x, int y, std::uint8_t curve) {
      if (curve != kNone) sign |= kBits.at(static_cast<std::size_t>(x)).at(static_cast<std::size_t>(y));
    });
    return sign;
  }

  static constexpr std::uint8_t kNone = 0;

 private:
  [[nodiscard]] std::size_t index(int x, int y) const { return static_cast<std::size_t>(y * width() + x); }

  template <typename Visit>
  void for_cell(int column, int row, Visit visit) const {
    for (int x = 0; x < across_; ++x) {
      for (int y = 0; y < down_; ++y) visit(x, y, owner_[index(column * across_ + x, row * down_ + y)]);
    }
  }

  int wide_;
  int high_;
  int across_;
  int down_;
  std::vector<std::uint8_t> owner_;
};

}  // namespace osler::layout
