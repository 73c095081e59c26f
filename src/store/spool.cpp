// A batch is written beside its place and renamed when it is whole: a file with the right name is a whole batch.
#include "store/spool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "store/block.h"
#include "store/bytes.h"

namespace osler::store {
namespace {

constexpr std::string_view kEnding = ".batch";
constexpr std::uint64_t kLargest = std::uint64_t{1} << 30;

std::string packed(const std::vector<Insert>& batch) {
  std::string out;
  for (const Insert& insert : batch) {
    for (const std::string* part : {&insert.table, &insert.columns, &insert.body}) {
      append_length(out, part->size());
      out += *part;
    }
  }
  return out;
}

}  // namespace

Result<Spool> Spool::open(const std::filesystem::path& folder, std::uint64_t most_bytes) {
  FileSystem& files = real_file_system();
  if (const auto made = files.make_directory(folder); !made) return made.error();
  const std::string lock_path = folder / "lock";
  const int lock = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0) return Error{ErrorCode::io, std::strerror(errno), lock_path};
  Spool spool(folder, most_bytes, lock);
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    return Error{ErrorCode::io, "another process ships from this spool", folder.string()};
  }
  const auto names = files.list(folder);
  if (!names) return names.error();
  for (const std::string& name : *names) {  // sorted, and the numbers have one length
    if (!name.ends_with(kEnding)) continue;
    const auto info = files.info(folder / name);
    if (!info) continue;
    spool.waiting_.push_back({folder / name, info->size_bytes});
    spool.bytes_ += info->size_bytes;
    std::uint64_t number = 0;
    std::from_chars(name.data(), name.data() + name.size(), number);
    spool.next_ = number + 1;
  }
  return spool;
}

Spool::Spool(Spool&& other) noexcept
    : folder_(std::move(other.folder_)),
      most_bytes_(other.most_bytes_),
      lock_(std::exchange(other.lock_, -1)),
      waiting_(std::move(other.waiting_)),
      bytes_(other.bytes_),
      next_(other.next_) {}

Spool& Spool::operator=(Spool&& other) noexcept {
  std::swap(folder_, other.folder_);
  std::swap(most_bytes_, other.most_bytes_);
  std::swap(lock_, other.lock_);
  std::swap(waiting_, other.waiting_);
  std::swap(bytes_, other.bytes_);
  std::swap(next_, other.next_);
  return *this;
}

Spool::~Spool() {
  if (lock_ < 0) return;
  if (waiting_.empty()) {
    ::unlink((folder_ / "lock").c_str());
    ::rmdir(folder_.c_str());
  }
  ::close(lock_);
}

Result<void> Spool::push(const std::vector<Insert>& batch) {
  FileSystem& files = real_file_system();
  const std::filesystem::path path = folder_ / fmt::format("{:020}{}", next_, kEnding);
  std::filesystem::path draft = path;
  draft += ".part";
  const std::string bytes = packed(batch);
  {
    auto file = files.open_write(draft, WriteMode::truncate);
    if (!file) return file.error();
    auto written = (*file)->append(std::as_bytes(std::span(bytes)));
    if (!written) {
      static_cast<void>(files.remove(draft));
      return written;
    }
  }
  if (auto renamed = files.rename(draft, path); !renamed) return renamed;
  ++next_;
  waiting_.push_back({path, bytes.size()});
  bytes_ += bytes.size();
  return {};
}

Result<std::vector<Insert>> Spool::front() const {
  const auto text = read_whole(real_file_system(), waiting_.front().path, kLargest);
  if (!text) return text.error();
  std::vector<Insert> batch;
  for (Bytes bytes(*text); !bytes.empty();) {
    Insert& insert = batch.emplace_back();
    insert.table = bytes.text();
    insert.columns = bytes.text();
    insert.body = bytes.text();
    if (bytes.broken()) {
      return Error{ErrorCode::corrupt, "is no whole batch of a spool", waiting_.front().path.string()};
    }
  }
  return batch;
}

void Spool::pop() {
  static_cast<void>(real_file_system().remove(waiting_.front().path));
  bytes_ -= waiting_.front().bytes;
  waiting_.pop_front();
}

void Spool::set_aside() {
  std::filesystem::path aside = waiting_.front().path;
  aside += ".broken";
  static_cast<void>(real_file_system().rename(waiting_.front().path, aside));
  bytes_ -= waiting_.front().bytes;
  waiting_.pop_front();
}

}  // namespace osler::store
