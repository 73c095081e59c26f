// TestFolder: a folder of a test's own that goes away with it.
#pragma once

#include <dirent.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

namespace osler::torch {

/// An empty folder for the files of one test, which makes no folders in it. It is removed without
/// std::filesystem::remove_all: LibTorch's wheels export a copy of that function of their own, which crashes
/// (pytorch/pytorch#133437).
class TestFolder {
 public:
  explicit TestFolder(const std::string& name)
      : path_(std::filesystem::temp_directory_path() / ("osler-" + name + "-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~TestFolder() {
    for (const std::filesystem::path& file : entries()) static_cast<void>(std::remove(file.c_str()));
    static_cast<void>(rmdir(path_.c_str()));
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// How many files are in it.
  [[nodiscard]] std::size_t files() const { return entries().size(); }

 private:
  [[nodiscard]] std::vector<std::filesystem::path> entries() const {
    std::vector<std::filesystem::path> found;
    DIR* const folder = opendir(path_.c_str());
    if (folder == nullptr) return found;
    while (const dirent* entry = readdir(folder)) {
      const std::string name = entry->d_name;
      if (name != "." && name != "..") found.push_back(path_ / name);
    }
    closedir(folder);
    return found;
  }

  std::filesystem::path path_;
};

}  // namespace osler::torch
