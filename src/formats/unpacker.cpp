// The three decompressors behind one interface.
#include "formats/unpacker.h"

#include <isa-l/igzip_lib.h>
#include <lzma.h>
#include <zstd.h>

#include <array>
#include <vector>

namespace osler {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{64} << 10;
// Windows beyond this are no log's: whoever asks for more wants our memory.
constexpr std::uint64_t kMostMemory = std::uint64_t{256} << 20;
constexpr int kLargestZstdWindow = 27;

std::uint8_t* raw(std::byte* bytes) {
  return reinterpret_cast<std::uint8_t*>(bytes);
}

Error broken(std::string_view packing) {
  return {ErrorCode::corrupt, "its " + std::string(packing) + " compression is damaged", {}};
}

class Gzip final : public Unpacker {
 public:
  Gzip() : piece_(kPieceBytes) { start(); }

  Result<void> feed(std::span<const std::byte> bytes, const OnBytes& on_bytes) override {
    state_.next_in = const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(bytes.data()));
    state_.avail_in = static_cast<std::uint32_t>(bytes.size());
    for (;;) {
      if (complete_) {
        // Some writers fill the last block up with zeros.
        while (state_.avail_in > 0 && *state_.next_in == 0) ++state_.next_in, --state_.avail_in;
        if (state_.avail_in == 0) return {};
        const auto left = state_.avail_in;
        auto* const next = state_.next_in;
        start();
        state_.avail_in = left;
        state_.next_in = next;
        complete_ = false;
      }
      state_.next_out = raw(piece_.data());
      state_.avail_out = static_cast<std::uint32_t>(piece_.size());
      if (isal_inflate(&state_) < 0) return broken("gzip");
      const std::size_t made = piece_.size() - state_.avail_out;
      if (made > 0) on_bytes(std::span(piece_).first(made));
      complete_ = state_.block_state == ISAL_BLOCK_FINISH;
      if (!complete_ && made < piece_.size() && state_.avail_in == 0) return {};
    }
  }
  [[nodiscard]] bool complete() const override { return complete_; }

 private:
  void start() {
    isal_inflate_init(&state_);
    state_.crc_flag = ISAL_GZIP;
  }

  inflate_state state_{};
  std::vector<std::byte> piece_;
  bool complete_ = false;
};

class Zstd final : public Unpacker {
 public:
  Zstd() : stream_(ZSTD_createDStream(), ZSTD_freeDStream), piece_(kPieceBytes) {
    ZSTD_initDStream(stream_.get());
    ZSTD_DCtx_setParameter(stream_.get(), ZSTD_d_windowLogMax, kLargestZstdWindow);
  }

  Result<void> feed(std::span<const std::byte> bytes, const OnBytes& on_bytes) override {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    for (;;) {
      ZSTD_outBuffer out{piece_.data(), piece_.size(), 0};
      const std::size_t wanted = ZSTD_decompressStream(stream_.get(), &out, &in);
      if (ZSTD_isError(wanted) != 0) return broken("zstd");
      if (out.pos > 0) on_bytes(std::span(piece_).first(out.pos));
      complete_ = wanted == 0;
      if (in.pos == in.size && out.pos < out.size) return {};
    }
  }
  [[nodiscard]] bool complete() const override { return complete_; }

 private:
  std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream_;
  std::vector<std::byte> piece_;
  bool complete_ = false;
};

class Xz final : public Unpacker {
 public:
  Xz() : piece_(kPieceBytes) { started_ = lzma_stream_decoder(&stream_, kMostMemory, LZMA_CONCATENATED) == LZMA_OK; }
  ~Xz() override { lzma_end(&stream_); }
  Xz(const Xz&) = delete;
  Xz& operator=(const Xz&) = delete;

  Result<void> feed(std::span<const std::byte> bytes, const OnBytes& on_bytes) override {
    if (!started_) return Error{ErrorCode::unsupported, "there is no memory to unpack it", {}};
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(bytes.data());
    stream_.avail_in = bytes.size();
    for (;;) {
      stream_.next_out = raw(piece_.data());
      stream_.avail_out = piece_.size();
      const lzma_ret state = lzma_code(&stream_, LZMA_RUN);
      const std::size_t made = piece_.size() - stream_.avail_out;
      if (made > 0) on_bytes(std::span(piece_).first(made));
      if (state != LZMA_OK && state != LZMA_BUF_ERROR) return broken("xz");
      if (stream_.avail_in == 0 && made < piece_.size()) return {};
    }
  }
  /// Whether what came so far ends a stream is known only to the decoder, by asking for its end.
  [[nodiscard]] bool complete() const override {
    lzma_stream& stream = const_cast<lzma_stream&>(stream_);
    std::array<std::uint8_t, 1> none{};
    stream.next_in = none.data();
    stream.avail_in = 0;
    stream.next_out = none.data();
    stream.avail_out = none.size();
    return lzma_code(&stream, LZMA_FINISH) == LZMA_STREAM_END;
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
  std::vector<std::byte> piece_;
  bool started_ = false;
};

}  // namespace

Packing packing_of(std::string_view head) {
  if (head.starts_with("\x1F\x8B\x08")) return Packing::gzip;
  if (head.starts_with("\x28\xB5\x2F\xFD")) return Packing::zstd;
  if (head.starts_with(std::string_view("\xFD\x37zXZ\0", 6))) return Packing::xz;
  return Packing::none;
}

std::string_view to_string(Packing packing) {
  switch (packing) {
    case Packing::gzip:
      return "gzip";
    case Packing::zstd:
      return "zstd";
    case Packing::xz:
      return "xz";
    case Packing::none:
      break;
  }
  return "";
}

std::unique_ptr<Unpacker> make_unpacker(Packing packing) {
  if (packing == Packing::zstd) return std::make_unique<Zstd>();
  if (packing == Packing::xz) return std::make_unique<Xz>();
  return std::make_unique<Gzip>();
}

}  // namespace osler
