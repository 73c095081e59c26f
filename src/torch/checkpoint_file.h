// The envelope of a checkpoint: a mark, LibTorch's archive, its length and checksum; written at once or not at all.
#pragma once

#include <torch/serialize/archive.h>

#include <filesystem>

#include "osler/base/file_system.h"
#include "osler/base/result.h"

namespace osler::torch {

/// Writes the archive beside `path` and gives it that name when it is on the device.
[[nodiscard]] Result<void> write_archive(FileSystem& files, const std::filesystem::path& path,
                                         ::torch::serialize::OutputArchive& archive);
/// Reads an archive whose checksum holds.
[[nodiscard]] Result<void> read_archive(FileSystem& files, const std::filesystem::path& path,
                                        ::torch::serialize::InputArchive& archive);

}  // namespace osler::torch
