// FNV-1a over the parts, each with its end marked, then the mixing of MurmurHash3 so that all bits count.
#include "store/identity.h"

namespace osler::store {

std::uint64_t identity(std::initializer_list<std::string_view> parts) {
  constexpr std::uint64_t kStart = 0xcbf29ce484222325U;
  constexpr std::uint64_t kPrime = 0x100000001b3U;
  std::uint64_t hash = kStart;
  const auto take = [&](unsigned char byte) { hash = (hash ^ byte) * kPrime; };
  for (const std::string_view part : parts) {
    for (const char c : part) take(static_cast<unsigned char>(c));
    for (std::uint64_t length = part.size(), i = 0; i < sizeof length; ++i) take((length >> (8 * i)) & 0xffU);
  }
  hash ^= hash >> 33U;
  hash *= 0xff51afd7ed558ccdU;
  hash ^= hash >> 33U;
  hash *= 0xc4ceb9fe1a85ec53U;
  hash ^= hash >> 33U;
  return hash == 0 ? 1 : hash;
}

}  // namespace osler::store
