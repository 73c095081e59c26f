// Spool: batches on disk that wait for the store, oldest first, in a bound.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <vector>

#include "osler/base/file_system.h"
#include "osler/base/result.h"
#include "store/client.h"

namespace osler::store {

/// A folder of batches, one file each. Only one process may use a folder at a time: whoever opened it holds its lock
/// until it ends, however it ends.
class Spool {
 public:
  /// Opens the folder, which is made where it is not there. Batches that an earlier process left in it are kept. Fails
  /// when another process holds it.
  [[nodiscard]] static Result<Spool> open(const std::filesystem::path& folder, std::uint64_t most_bytes);
  Spool(Spool&& other) noexcept;
  Spool& operator=(Spool&& other) noexcept;
  ~Spool();

  [[nodiscard]] bool empty() const { return waiting_.empty(); }
  [[nodiscard]] bool has_room() const { return bytes_ < most_bytes_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// Puts a batch behind the others; it survives the death of this process.
  [[nodiscard]] Result<void> push(const std::vector<Insert>& batch);
  /// The oldest batch.
  [[nodiscard]] Result<std::vector<Insert>> front() const;
  /// Forgets the oldest batch.
  void pop();
  /// Takes the oldest batch out of the row and leaves its file, under another name.
  void set_aside();

 private:
  struct Item {
    std::filesystem::path path;
    std::uint64_t bytes = 0;
  };
  Spool(std::filesystem::path folder, std::uint64_t most_bytes, int lock)
      : folder_(std::move(folder)), most_bytes_(most_bytes), lock_(lock) {}

  std::filesystem::path folder_;
  std::uint64_t most_bytes_ = 0;
  int lock_ = -1;
  std::deque<Item> waiting_;
  std::uint64_t bytes_ = 0;
  std::uint64_t next_ = 0;
};

}  // namespace osler::store
