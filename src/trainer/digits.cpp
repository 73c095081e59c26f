// Digits: read from the MNIST files, or drawn where there are none.
#include <array>
#include <cstdint>
#include <fstream>
#include <vector>

#include "trainer/data.h"

namespace osler::trainer {
namespace {

constexpr std::int64_t kMnistSide = 28;
constexpr std::uint32_t kPictures = 0x803;  // the files' first four bytes: unsigned bytes, three dimensions
constexpr std::uint32_t kLabels = 0x801;

std::uint32_t big_endian(const unsigned char* bytes) {
  return (std::uint32_t{bytes[0]} << 24) | (std::uint32_t{bytes[1]} << 16) | (std::uint32_t{bytes[2]} << 8) | bytes[3];
}

/// The first `count` items of `size` bytes of a file with such a magic number and `header` bytes before them.
std::optional<std::vector<unsigned char>> read_items(const std::filesystem::path& path, std::uint32_t magic,
                                                     std::size_t header, std::int64_t count, std::int64_t size) {
  std::ifstream file(path, std::ios::binary);
  std::array<unsigned char, 16> head{};
  if (!file.read(reinterpret_cast<char*>(head.data()), static_cast<std::streamsize>(header))) return std::nullopt;
  if (big_endian(head.data()) != magic || big_endian(head.data() + 4) < static_cast<std::uint32_t>(count)) {
    return std::nullopt;
  }
  std::vector<unsigned char> bytes(static_cast<std::size_t>(count * size));
  if (!file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size())))
    return std::nullopt;
  return bytes;
}

at::Tensor to_tensor(std::vector<unsigned char>& bytes, at::IntArrayRef shape) {
  return at::from_blob(bytes.data(), shape, at::kByte).clone();
}

/// Which of the seven strokes (top, upper left, upper right, middle, lower left, lower right, bottom) a digit has.
constexpr std::array<std::uint8_t, 10> kStrokes = {0b1110111, 0b0010010, 0b1011101, 0b1011011, 0b0111010,
                                                   0b1101011, 0b1101111, 0b1010010, 0b1111111, 0b1111011};

void draw_box(at::Tensor& picture, std::int64_t top, std::int64_t left, std::int64_t height, std::int64_t width) {
  picture.slice(0, top, top + height).slice(1, left, left + width).fill_(200);
}

at::Tensor draw_digit(std::int64_t digit) {
  at::Tensor picture = at::zeros({kDigitSide, kDigitSide});
  const auto strokes = kStrokes[static_cast<std::size_t>(digit)];
  const auto has = [&](int place) { return (strokes >> (6 - place)) & 1; };
  constexpr std::int64_t kTop = 2;
  constexpr std::int64_t kLeft = 4;
  if (has(0)) draw_box(picture, kTop, kLeft, 1, 6);
  if (has(1)) draw_box(picture, kTop, kLeft, 5, 1);
  if (has(2)) draw_box(picture, kTop, kLeft + 5, 5, 1);
  if (has(3)) draw_box(picture, kTop + 4, kLeft, 1, 6);
  if (has(4)) draw_box(picture, kTop + 5, kLeft, 4, 1);
  if (has(5)) draw_box(picture, kTop + 5, kLeft + 5, 4, 1);
  if (has(6)) draw_box(picture, kTop + 8, kLeft, 1, 6);
  return picture;
}

}  // namespace

std::optional<Samples> read_digits(const std::filesystem::path& folder, bool training, std::int64_t count) {
  const std::string stem = training ? "train" : "t10k";
  auto pictures = read_items(folder / (stem + "-images-idx3-ubyte"), kPictures, 16, count, kMnistSide * kMnistSide);
  auto labels = read_items(folder / (stem + "-labels-idx1-ubyte"), kLabels, 8, count, 1);
  if (!pictures || !labels) return std::nullopt;
  const at::Tensor whole = to_tensor(*pictures, {count, 1, kMnistSide, kMnistSide}).to(at::kFloat);
  return Samples{at::avg_pool2d(whole, 2).squeeze(1), to_tensor(*labels, {count}).to(at::kLong)};
}

Samples draw_digits(std::int64_t count) {
  static const at::Tensor kDigits = [] {
    std::vector<at::Tensor> all;
    for (std::int64_t digit = 0; digit < 10; ++digit) all.push_back(draw_digit(digit));
    return at::stack(all);
  }();
  const at::Tensor labels = at::randint(0, 10, {count}, at::kLong);
  const at::Tensor moves = at::randint(-1, 2, {count, 2}, at::kLong);
  at::Tensor pictures = kDigits.index_select(0, labels);
  for (std::int64_t i = 0; i < count; ++i) {
    pictures[i] = at::roll(pictures[i], {moves[i][0].item<std::int64_t>(), moves[i][1].item<std::int64_t>()}, {0, 1});
  }
  pictures = pictures * (0.6 + 0.4 * at::rand({count, 1, 1})) + 25 * at::randn(pictures.sizes());
  return {pictures.clamp(0, 255), labels};
}

}  // namespace osler::trainer
