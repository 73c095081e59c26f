// Looking beside the program that runs.
#include "cli/gallery/beside.h"

#include <system_error>

namespace osler::cli {
namespace {

std::filesystem::path beside(const char* name) {
  std::error_code problem;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", problem);
  if (problem) return {};
  const std::filesystem::path path = program.parent_path() / name;
  return std::filesystem::exists(path, problem) ? path : std::filesystem::path();
}

}  // namespace

std::filesystem::path gallery_program() {
  return beside("osler-gallery");
}

std::filesystem::path digits_folder() {
  return beside("mnist");
}

}  // namespace osler::cli
