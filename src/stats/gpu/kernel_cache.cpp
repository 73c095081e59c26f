// Reads and writes the cache of kernels.
#include "stats/gpu/kernel_cache.h"

#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace osler::stats::gpu {
namespace {

/// What a file begins with.
struct Header {
  std::array<char, 8> magic;
  std::uint64_t size;
  std::uint64_t checksum;
};
constexpr std::array<char, 8> kMagic = {'O', 'S', 'L', 'R', 'G', 'P', 'U', '1'};
constexpr std::uint64_t kLargest = std::uint64_t{1} << 28;  // kernels take a few megabytes

/// FNV-1a, 64 bits.
std::uint64_t hash_of(std::string_view bytes) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3U;
  return hash;
}

}  // namespace

std::string cache_file(const std::string& folder, std::string_view source, int capability) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string key;
  for (std::uint64_t hash = hash_of(source); key.size() < 16; hash >>= 4) key += kDigits[hash & 15];
  return (std::filesystem::path(folder) / ("osler-sm" + std::to_string(capability) + "-" + key + ".kernels")).string();
}

std::optional<Image> read_cached(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  Header header{};
  if (!in.read(reinterpret_cast<char*>(&header), sizeof header)) return std::nullopt;
  if (header.magic != kMagic || header.size == 0 || header.size > kLargest) return std::nullopt;
  std::error_code error;
  if (std::filesystem::file_size(file, error) != sizeof header + header.size || error) return std::nullopt;
  Image image(static_cast<std::size_t>(header.size));
  if (!in.read(image.data(), static_cast<std::streamsize>(image.size()))) return std::nullopt;
  if (hash_of({image.data(), image.size()}) != header.checksum) return std::nullopt;
  return image;
}

bool write_cached(const std::string& file, const Image& image) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(file).parent_path(), error);
  const std::string written = file + "." + std::to_string(::getpid());
  {
    std::ofstream out(written, std::ios::binary);
    const Header header{kMagic, image.size(), hash_of({image.data(), image.size()})};
    out.write(reinterpret_cast<const char*>(&header), sizeof header);
    out.write(image.data(), static_cast<std::streamsize>(image.size()));
    if (!out.flush()) {
      std::filesystem::remove(written, error);
      return false;
    }
  }
  std::filesystem::rename(written, file, error);
  return !error;
}

}  // namespace osler::stats::gpu
