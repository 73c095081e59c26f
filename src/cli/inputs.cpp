// From the paths on the command line to the runs they name.
#include "cli/inputs.h"

#include <glob.h>

#include <algorithm>
#include <array>
#include <set>

#include "osler/runfile/reader.h"

namespace osler::cli {
namespace {

constexpr const char* kStandardInput = "-";

/// The files of a run, and its name in those that hold several, as one key to know a run that was named twice.
std::string identity(const RunSource& source) {
  std::string key;
  for (const SourceFile& file : source.files) key += file.path.lexically_normal().string() + '\0' + file.run + '\n';
  return key;
}

/// Whether a run file lies at `path`; a damaged one is known by its name.
bool holds_run_file(FileSystem& files, const std::filesystem::path& path) {
  if (path.extension() == kRunFileExtension) return true;
  const auto file = files.open_read(path);
  if (!file) return false;
  std::array<char, kRunFileHeadBytes> head{};
  std::size_t size = 0;
  while (size < head.size()) {
    const auto got = (*file)->read(std::as_writable_bytes(std::span(head).subspan(size)));
    if (!got || *got == 0) break;
    size += *got;
  }
  return is_run_file({head.data(), size});
}

std::vector<std::filesystem::path> run_files_below(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  const auto skip = std::filesystem::directory_options::skip_permission_denied;
  for (std::filesystem::recursive_directory_iterator at(folder, skip, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code ignored;
    if (at->path().extension() == kRunFileExtension && at->is_regular_file(ignored)) found.push_back(at->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

void add_run_file(const std::filesystem::path& path, std::set<std::string>& seen, Inputs& inputs) {
  const std::string name = path.string();
  if (seen.insert(path.lexically_normal().string()).second) inputs.runs.push_back({name, {}, {}, name});
}

void find_at(FileSystem& files, const std::string& path, const ReadOptions& options, std::set<std::string>& seen,
             Inputs& inputs) {
  const auto info = path == kStandardInput ? FileInfo{.kind = FileKind::pipe} : files.info(path);
  if (!info) {
    inputs.failures.push_back(info.error());
    return;
  }
  if (info->kind == FileKind::pipe) {  // to look into a pipe is to read it: it is sniffed while it is read
    if (seen.insert(path).second) inputs.runs.push_back({path, {}, path, {}});
    return;
  }
  const auto run_files = options.format.empty() ? find_run_files(files, path) : std::vector<std::filesystem::path>{};
  for (const auto& file : run_files) add_run_file(file, seen, inputs);
  if (!run_files.empty() && info->kind == FileKind::regular) return;
  auto sources = discover(files, path, options);
  if (!sources) {
    // A folder of run files and nothing else is no failure.
    if (!run_files.empty() && sources.error().code == ErrorCode::not_found) return;
    inputs.failures.push_back(sources.error());
    return;
  }
  for (RunSource& source : *sources) {
    if (seen.insert(identity(source)).second) inputs.runs.push_back({source.name, std::move(source), {}, {}});
  }
}

}  // namespace

std::vector<std::filesystem::path> find_run_files(FileSystem& files, const std::filesystem::path& path) {
  const auto info = files.info(path);
  if (!info) return {};
  if (info->kind == FileKind::directory) return run_files_below(path);
  if (info->kind == FileKind::regular && holds_run_file(files, path)) return {path};
  return {};
}

Result<std::vector<std::string>> expand(FileSystem& files, const std::string& path) {
  if (path.find_first_of("*?[") == std::string::npos || files.info(path)) return std::vector{path};
  glob_t found{};
  const int failure = ::glob(path.c_str(), GLOB_TILDE, nullptr, &found);
  std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (failure != 0 || paths.empty()) return Error{ErrorCode::not_found, "no file matches this pattern", path};
  return paths;
}

Inputs find_inputs(FileSystem& files, const std::vector<std::string>& paths, const ReadOptions& options) {
  Inputs inputs;
  std::set<std::string> seen;
  for (const std::string& pattern : paths) {
    const auto matches = expand(files, pattern);
    if (!matches) {
      inputs.failures.push_back(matches.error());
      continue;
    }
    for (const std::string& path : *matches) find_at(files, path, options, seen, inputs);
  }
  return inputs;
}

}  // namespace osler::cli
