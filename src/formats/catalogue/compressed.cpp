// Compressed logs: gzip, zstd and xz around any other format.
#include <optional>
#include <string>

#include "formats/claim.h"
#include "formats/unpacker.h"
#include "osler/formats/format.h"

namespace osler::catalogue {
namespace {

/// "runs/metrics.csv.gz" is "runs/metrics.csv".
std::filesystem::path inner_path(const std::filesystem::path& path) {
  const std::string ending = path.extension().string();
  const bool packed = ending == ".gz" || ending == ".zst" || ending == ".zstd" || ending == ".xz";
  return packed ? std::filesystem::path(path).replace_extension() : path;
}

/// The beginning of what is packed, as far as the packed beginning gives it.
struct Unpacked {
  std::string head;
  bool whole = false;
};

Unpacked unpack_head(const Peek& peek, Packing packing) {
  Unpacked unpacked;
  const std::unique_ptr<Unpacker> unpacker = make_unpacker(packing);
  constexpr std::size_t kPiece = 1024;  // a small piece may hold very much
  std::string_view rest = peek.head;
  bool sound = true;
  while (sound && !rest.empty() && unpacked.head.size() < kPeekBytes) {
    const std::string_view piece = rest.substr(0, kPiece);
    rest.remove_prefix(piece.size());
    sound = unpacker
                ->feed(std::as_bytes(std::span(piece)),
                       [&](std::span<const std::byte> bytes) {
                         const std::size_t room = kPeekBytes - std::min(unpacked.head.size(), kPeekBytes);
                         const std::size_t taken = std::min(room, bytes.size());
                         unpacked.head.append(reinterpret_cast<const char*>(bytes.data()), taken);
                       })
                .has_value();
  }
  unpacked.whole = peek.whole && rest.empty() && unpacked.head.size() < kPeekBytes;
  return unpacked;
}

/// Unpacks, chooses the format of what comes out, and passes it on.
class CompressedReader final : public Reader {
 public:
  explicit CompressedReader(std::filesystem::path path) : path_(std::move(path)) {}

  Result<void> feed(std::span<const std::byte> bytes, EventSink& sink, DamageReport& damage) override {
    if (unpacker_ == nullptr) {
      start_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      if (start_.size() < kMagicBytes) return {};
      unpacker_ = make_unpacker(packing_of(start_));
      const std::string start = std::exchange(start_, {});
      return unpack(std::as_bytes(std::span(start)), sink, damage);
    }
    return unpack(bytes, sink, damage);
  }

  Result<void> finish(EventSink& sink, DamageReport& damage) override {
    const bool complete = unpacker_ != nullptr && unpacker_->complete();
    const Error early{ErrorCode::truncated, "the compressed file ends too early", {}};
    if (reader_ == nullptr) {
      if (const auto begun = begin(true, sink, damage); !begun) return complete ? begun : early;
    }
    const auto finished = reader_->finish(sink, damage);
    return complete ? finished : early;
  }

 private:
  static constexpr std::size_t kMagicBytes = 6;

  Result<void> unpack(std::span<const std::byte> bytes, EventSink& sink, DamageReport& damage) {
    std::optional<Error> error;
    const auto take = [&](std::span<const std::byte> piece) {
      if (error) return;
      const auto taken = pass_on(piece, sink, damage);
      if (!taken) error = taken.error();
    };
    auto fed = unpacker_->feed(bytes, take);
    if (error) return *error;
    return fed;
  }

  Result<void> pass_on(std::span<const std::byte> piece, EventSink& sink, DamageReport& damage) {
    if (reader_ != nullptr) return reader_->feed(piece, sink, damage);
    head_.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    return head_.size() < kPeekBytes ? Result<void>() : begin(false, sink, damage);
  }

  /// Chooses the format by what has come, and reads that.
  Result<void> begin(bool whole, EventSink& sink, DamageReport& damage) {
    const std::string head = std::exchange(head_, {});
    const Peek peek{path_, std::string_view(head).substr(0, kPeekBytes), whole};
    const Format* format = claim(peek).format;
    if (format == nullptr || format->id == "compressed") return unclaimed(peek);
    reader_ = format->open(path_);
    return reader_->feed(std::as_bytes(std::span(head)), sink, damage);
  }

  std::filesystem::path path_;
  std::string start_;  // packed, until its magic bytes are there
  std::string head_;   // unpacked, until the format is known
  std::unique_ptr<Unpacker> unpacker_;
  std::unique_ptr<Reader> reader_;
};

Sniff sniff(const Peek& peek) {
  const Packing packing = packing_of(peek.head);
  if (packing == Packing::none) return Sniff::no;
  const Unpacked unpacked = unpack_head(peek, packing);
  if (packing_of(unpacked.head) != Packing::none) return Sniff::no;  // packed twice: no log
  // As sure as of the same log unpacked.
  return claim({inner_path(peek.path), unpacked.head, unpacked.whole}).strength;
}

std::unique_ptr<Reader> open(const std::filesystem::path& path) {
  return std::make_unique<CompressedReader>(inner_path(path));
}

std::filesystem::path run_of(const std::filesystem::path& path) {
  return path;
}

constexpr std::string_view kDoc = R"(
A log of any other format, compressed with gzip, zstd or xz: `train.log.gz`, `metrics.csv.zst`, `history.jsonl.xz`.

**What is read.** It is unpacked as it is read, in bounded memory, and what comes out is read as if it lay there by itself. The
name may end in `.gz`, `.zst` or `.xz`, or not: the first bytes decide.

**Quirks.** Several compressed streams one after another are one file. A file that is cut off is read as far as it
can be unpacked. Stores of many runs (`mlflow.db`) and archives (`.tar.gz`, `.zip`) have to be unpacked first.
)";

}  // namespace

Format compressed() {
  return {"compressed", "Compressed log", kDoc, "", sniff, open, run_of};
}

}  // namespace osler::catalogue
