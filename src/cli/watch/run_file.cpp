// Reading a run file again and again, each time only what is new.
#include "cli/watch/run_file.h"

#include <algorithm>
#include <utility>

namespace osler::cli {

FollowedRunFile::FollowedRunFile(std::filesystem::path path, const RunLimits& limits)
    : path_(std::move(path)), limits_(limits), run_(limits) {}

void FollowedRunFile::begin_anew() {
  reader_.reset();
  run_ = Run(limits_);
}

bool FollowedRunFile::read_new() {
  const auto info = real_file_system().info(path_);
  if (!info) return false;
  if (reader_ && info->inode != inode_) begin_anew();
  if (!reader_) {
    auto opened = RunFileReader::open(path_);
    if (!opened) return false;
    reader_ = std::move(*opened);
    inode_ = info->inode;
  }
  const auto changed = reader_->read_new(run_);
  if (!changed) {
    begin_anew();
    return false;
  }
  if (!*changed) return false;
  // The name may be one that several runs have; where it lies tells them apart.
  run_.name = path_.string();
  run_.sources = {path_.string()};
  run_.format = kRunFileFormat;
  run_.damage = reader_->damage();
  // Commits go to the log beside the file first.
  modified_seconds_ = info->modified_seconds;
  auto log = path_;
  log += "-wal";
  if (const auto written = real_file_system().info(log)) {
    modified_seconds_ = std::max(modified_seconds_, written->modified_seconds);
  }
  return true;
}

}  // namespace osler::cli
