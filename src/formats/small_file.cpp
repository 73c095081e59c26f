// Keeping a small file until its end.
#include "formats/small_file.h"

namespace osler {
namespace {

constexpr std::size_t kLargest = std::size_t{1} << 20;

class SmallFileReader final : public Reader {
 public:
  explicit SmallFileReader(TakeText take) : take_(std::move(take)) {}

  Result<void> feed(std::span<const std::byte> bytes, EventSink&, DamageReport&) override {
    if (text_.size() + bytes.size() > kLargest) {
      return Error{ErrorCode::unsupported, "is larger than 1 MiB, which no configuration is", {}};
    }
    text_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return {};
  }

  Result<void> finish(EventSink& sink, DamageReport&) override {
    take_(text_, sink);
    return {};
  }

 private:
  TakeText take_;
  std::string text_;
};

}  // namespace

std::unique_ptr<Reader> make_small_file_reader(TakeText take) {
  return std::make_unique<SmallFileReader>(std::move(take));
}

}  // namespace osler
