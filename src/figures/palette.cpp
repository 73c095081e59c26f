// The colours of figures, from Okabe and Ito's palette and the viridis map.
#include "figures/palette.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace osler::figure {
namespace {

constexpr Colour rgb(std::uint32_t hex) {
  return {static_cast<double>((hex >> 16) & 0xff) / 255, static_cast<double>((hex >> 8) & 0xff) / 255,
          static_cast<double>(hex & 0xff) / 255, 1};
}

// Okabe and Ito (2008) without vermilion and orange, which belong to findings; the last two are between theirs.
constexpr std::array kOnLight = {rgb(0x0072b2), rgb(0x009e73), rgb(0xcc79a7), rgb(0x56b4e9),
                                 rgb(0x7a5c99), rgb(0x8a8a3c), rgb(0x4d4d4d)};
constexpr std::array kOnDark = {rgb(0x56b4e9), rgb(0x2fc79a), rgb(0xe39cc4), rgb(0x9ad5ff),
                                rgb(0xb39ad6), rgb(0xc9c96a), rgb(0xbdbdbd)};

constexpr Palette kLight = {
    .page = rgb(0xffffff),
    .plot = rgb(0xffffff),
    .ink = rgb(0x1f2328),
    .faint = rgb(0x68707a),
    .grid = rgb(0xe8eaed),
    .context = rgb(0xc3c8ce),
    .critical = rgb(0xc94f00),
    .warning = rgb(0xb97e00),
    .note = rgb(0x68707a),
    .healthy = rgb(0x007a59),
    .nonfinite = rgb(0xd55e00),
    .zero = rgb(0x1a1a1a),
    .dark = false,
};
constexpr Palette kDark = {
    .page = rgb(0x16191d),
    .plot = rgb(0x16191d),
    .ink = rgb(0xe6e8eb),
    .faint = rgb(0x98a1ab),
    .grid = rgb(0x2b3036),
    .context = rgb(0x4a515a),
    .critical = rgb(0xff8a47),
    .warning = rgb(0xf0b429),
    .note = rgb(0x98a1ab),
    .healthy = rgb(0x2fc79a),
    .nonfinite = rgb(0xff7a33),
    .zero = rgb(0x000000),
    .dark = true,
};

// Viridis at nine even places.
constexpr std::array kHeat = {rgb(0x440154), rgb(0x472d7b), rgb(0x3b528b), rgb(0x2c728e), rgb(0x21918c),
                              rgb(0x28ae80), rgb(0x5ec962), rgb(0xaddc30), rgb(0xfde725)};

}  // namespace

Colour Palette::curve(std::size_t number) const {
  const auto& colours = dark ? kOnDark : kOnLight;
  return colours[number % colours.size()];
}

Colour Palette::tone(Pointer::Tone tone) const {
  switch (tone) {
    case Pointer::Tone::critical:
      return critical;
    case Pointer::Tone::warning:
      return warning;
    case Pointer::Tone::note:
    case Pointer::Tone::plain:
      break;
  }
  return note;
}

const Palette& palette(FigureTheme theme) {
  return theme == FigureTheme::dark ? kDark : kLight;
}

Colour heat(double share) {
  const double place = std::clamp(std::isfinite(share) ? share : 0.0, 0.0, 1.0) * (kHeat.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(place), kHeat.size() - 2);
  const double rest = place - static_cast<double>(below);
  const Colour& a = kHeat[below];
  const Colour& b = kHeat[below + 1];
  return {a.red + rest * (b.red - a.red), a.green + rest * (b.green - a.green), a.blue + rest * (b.blue - a.blue), 1};
}

Colour depth_colour(double depth, const Palette& colours) {
  // The ends of the map that vanish into the ground are left out.
  const double share = std::clamp(depth, 0.0, 1.0);
  return heat(colours.dark ? 0.22 + 0.76 * share : 0.02 + 0.83 * share);
}

}  // namespace osler::figure
