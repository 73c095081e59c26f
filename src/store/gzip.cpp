// ISA-L's deflate, one piece of output after another.
#include "store/gzip.h"

#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <array>
#include <vector>

namespace osler::store {

Result<std::string> gzip(std::string_view bytes) {
  constexpr std::size_t kPiece = std::size_t{256} << 10;
  constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;  // its counters have 32 bits
  isal_zstream stream;
  isal_deflate_init(&stream);
  std::vector<std::uint8_t> work(ISAL_DEF_LVL1_DEFAULT);
  stream.level = 1;
  stream.level_buf = work.data();
  stream.level_buf_size = ISAL_DEF_LVL1_DEFAULT;
  stream.gzip_flag = IGZIP_GZIP;
  std::string out;
  std::vector<std::uint8_t> piece(kPiece);
  do {
    const std::size_t length = std::min(bytes.size(), kMostAtOnce);
    stream.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<std::uint32_t>(length);
    bytes.remove_prefix(length);
    stream.end_of_stream = bytes.empty() ? 1 : 0;
    do {
      stream.next_out = piece.data();
      stream.avail_out = static_cast<std::uint32_t>(piece.size());
      if (isal_deflate(&stream) != COMP_OK) return Error{ErrorCode::internal, "compressing failed", "gzip"};
      out.append(reinterpret_cast<const char*>(piece.data()), piece.size() - stream.avail_out);
    } while (stream.avail_out == 0);
  } while (!bytes.empty());
  return out;
}

}  // namespace osler::store
