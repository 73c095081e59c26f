// Drafts: a hidden folder beside the place, and one rename at the end.
#include "cli/output.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <span>
#include <system_error>
#include <utility>

#include "osler/base/file_system.h"

namespace osler::cli {
namespace {

namespace fs = std::filesystem;

Error failure_at(const fs::path& path, const std::error_code& why) {
  return {ErrorCode::io, why.message(), path.string()};
}

Result<fs::path> make_hidden_folder(const fs::path& parent) {
  std::string name = (parent / ".osler-draft-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    return Error{ErrorCode::io, std::string("cannot write here: ") + std::strerror(errno),
                 parent.empty() ? "." : parent.string()};
  }
  return fs::path(name);
}

/// The name of what a path names, however many slashes it ends with.
fs::path last_name(const fs::path& path) {
  const fs::path bare = path.has_filename() ? path : path.parent_path();
  return bare.filename();
}

fs::path parent_of(const fs::path& path) {
  return (path.has_filename() ? path : path.parent_path()).parent_path();
}

}  // namespace

Result<Draft> Draft::beside(const fs::path& place) {
  const auto folder = make_hidden_folder(parent_of(place));
  if (!folder) return folder.error();
  return Draft(*folder, *folder / last_name(place), place);
}

Result<Draft> Draft::in_temporary_folder() {
  std::error_code problem;
  const fs::path temporary = fs::temp_directory_path(problem);
  if (problem) return failure_at("the folder for temporary files", problem);
  const auto folder = make_hidden_folder(temporary);
  if (!folder) return folder.error();
  return Draft(*folder, *folder / "output", {});
}

Draft::Draft(Draft&& other) noexcept
    : folder_(std::exchange(other.folder_, {})), path_(std::move(other.path_)), place_(std::move(other.place_)) {}

Draft::~Draft() {
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

Result<void> Draft::place_file() const {
  std::error_code none;
  const fs::file_status before = fs::status(place_, none);
  // Who could read the old file can read the new one, and nobody else.
  if (fs::is_regular_file(before)) fs::permissions(path_, before.permissions(), none);
  return real_file_system().rename(path_, place_);
}

Result<void> Draft::place_folder() const {
  std::error_code problem;
  std::vector<fs::path> files;
  for (fs::recursive_directory_iterator at(path_, problem), end; !problem && at != end; at.increment(problem)) {
    std::error_code ignored;
    if (!at->is_directory(ignored)) files.push_back(at->path());
  }
  if (problem) return failure_at(place_, problem);
  for (const fs::path& file : files) {
    const fs::path to = place_ / file.lexically_relative(path_);
    if (fs::exists(to, problem)) return Error{ErrorCode::invalid_argument, "exists already", to.string()};
    if (const auto made = real_file_system().make_directory(to.parent_path()); !made) return made.error();
    if (const auto moved = real_file_system().rename(file, to); !moved) return moved.error();
  }
  return {};
}

bool is_one_of(const fs::path& output, const std::vector<std::string>& inputs) {
  const auto there = real_file_system().info(output);
  if (!there) return false;
  return std::any_of(inputs.begin(), inputs.end(), [&](const std::string& input) {
    const auto info = real_file_system().info(input);
    return info && info->device == there->device && info->inode == there->inode;
  });
}

Result<fs::path> replaceable(const fs::path& output, const std::vector<std::string>& inputs) {
  const auto wrong = [&](const char* why) { return Error{ErrorCode::invalid_argument, why, output.string()}; };
  std::error_code problem;
  const bool link = fs::is_symlink(output, problem);
  const auto info = real_file_system().info(output);
  if (!info && link) return wrong("is a link that leads nowhere");
  if (!info) return output;
  if (info->kind == FileKind::directory) return wrong("is a folder");
  if (info->kind != FileKind::regular) return wrong("is not a regular file; use -o - for standard output");
  if (is_one_of(output, inputs)) return wrong("is what is being read; nothing was written");
  if (!link) return output;
  const fs::path real = fs::canonical(output, problem);
  if (problem) return failure_at(output, problem);
  return real;
}

Result<void> write_output(const std::string& path, std::string_view bytes, const std::vector<std::string>& inputs) {
  const auto info = real_file_system().info(path);
  const bool flows = info && (info->kind == FileKind::pipe || info->kind == FileKind::other);
  const auto write = [&](const fs::path& to) -> Result<void> {
    auto file = real_file_system().open_write(to, WriteMode::truncate);
    if (!file) return file.error();
    if (const auto written = (*file)->append(std::as_bytes(std::span(bytes))); !written) return written.error();
    return flows ? Result<void>{} : (*file)->sync();
  };
  if (flows) return write(path);
  const auto place = replaceable(path, inputs);
  if (!place) return place.error();
  const auto draft = Draft::beside(*place);
  if (!draft) return draft.error();
  if (const auto written = write(draft->path()); !written) {
    return Error{written.error().code, written.error().message, path};
  }
  return draft->place_file();
}

}  // namespace osler::cli
