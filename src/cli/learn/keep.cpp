// Where a learner's progress is kept, and how it gets there.
#include "cli/learn/keep.h"

#include <filesystem>
#include <system_error>

#include "cli/output.h"
#include "cli/terminal.h"
#include "osler/base/file_system.h"

namespace osler::cli {

Result<std::string> progress_file(const std::string& named) {
  if (!named.empty()) return named;
  const std::string folder = state_folder();
  if (folder.empty()) {
    return Error{ErrorCode::not_found, "neither HOME nor XDG_STATE_HOME is set; name a file with --progress",
                 "the place for progress"};
  }
  return folder + "/osler/learn.json";
}

Result<learn::Progress> kept_progress(const std::string& path) {
  constexpr std::uint64_t kMostBytes = 1 << 20;
  std::error_code problem;
  if (!std::filesystem::exists(path, problem)) return learn::Progress{};
  const auto text = read_whole(real_file_system(), path, kMostBytes);
  if (!text) return text.error();
  return learn::parse_progress(*text, path);
}

Result<learn::Progress> keep_progress(const std::string& path, const std::function<void(learn::Progress&)>& change) {
  auto progress = kept_progress(path);
  if (!progress) return progress.error();
  const learn::Progress before = *progress;
  change(*progress);
  if (*progress == before) return progress;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code problem;
  if (!folder.empty()) std::filesystem::create_directories(folder, problem);
  if (problem) return Error{ErrorCode::io, problem.message(), folder.string()};
  if (const auto written = write_output(path, learn::render_progress(*progress), {}); !written) return written.error();
  return progress;
}

}  // namespace osler::cli
