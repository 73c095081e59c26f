// A world in which hours pass in a moment: a clock that is moved on, and files that lie in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "cli/watch/surroundings.h"
#include "osler/base/file_system.h"

namespace osler::watching {

/// A clock that goes on only while somebody waits.
class SimulatedClock final : public cli::WatchClock {
 public:
  [[nodiscard]] double steady() const override { return now_; }
  [[nodiscard]] double wall() const override { return kStart + offset_ + now_; }
  [[nodiscard]] double computing() const override { return 0; }
  void wait(double seconds, int /*interrupt*/) override {
    now_ += seconds;
    if (tick) tick();
  }
  /// Somebody sets the clock of the machine.
  void set_by(double seconds) { offset_ += seconds; }

  std::function<void()> tick;  ///< called whenever time has passed

 private:
  static constexpr double kStart = 1.75e9;
  double now_ = 0;
  double offset_ = 0;
};

/// Files of one folder in memory, with the times of a clock. One thread at a time.
class MemoryFiles final : public FileSystem {
 public:
  MemoryFiles(Path folder, const cli::WatchClock& clock) : folder_(std::move(folder)), clock_(clock) {}

  void append(const std::string& name, const std::string& text);
  /// Gives a file another name, as rotation does; whoever has it open goes on reading it.
  void move(const std::string& from, const std::string& to);
  /// Empties a file, keeping what it is.
  void empty(const std::string& name);

  [[nodiscard]] Result<std::unique_ptr<ReadableFile>> open_read(const Path& path) override;
  [[nodiscard]] Result<std::unique_ptr<WritableFile>> open_write(const Path& path, WriteMode mode) override;
  [[nodiscard]] Result<FileInfo> info(const Path& path) override;
  [[nodiscard]] Result<std::vector<std::string>> list(const Path& directory) override;
  [[nodiscard]] Result<void> make_directory(const Path& path) override;
  [[nodiscard]] Result<void> rename(const Path& from, const Path& to) override;
  [[nodiscard]] Result<void> remove(const Path& path) override;

  struct File;

 private:
  [[nodiscard]] std::shared_ptr<File> find(const Path& path) const;

  Path folder_;
  const cli::WatchClock& clock_;
  std::map<std::string, std::shared_ptr<File>> files_;
  std::uint64_t next_inode_ = 100;
};

}  // namespace osler::watching
