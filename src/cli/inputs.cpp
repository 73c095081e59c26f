// From the paths on the command line to the runs they name.
#include "cli/inputs.h"

#include <glob.h>

#include <set>

namespace osler::cli {
namespace {

constexpr const char* kStandardInput = "-";

/// The files of a run as one key, to know a run that was named twice.
std::string identity(const RunSource& source) {
  std::string key;
  for (const SourceFile& file : source.files) key += file.path.lexically_normal().string() + '\n';
  return key;
}

void find_at(FileSystem& files, const std::string& path, const ReadOptions& options, std::set<std::string>& seen,
             Inputs& inputs) {
  const auto info = path == kStandardInput ? FileInfo{.kind = FileKind::pipe} : files.info(path);
  if (!info) {
    inputs.failures.push_back(info.error());
    return;
  }
  if (info->kind == FileKind::pipe) {  // to look into a pipe is to read it: it is sniffed while it is read
    if (seen.insert(path).second) inputs.runs.push_back({path, {}, path});
    return;
  }
  auto sources = discover(files, path, options);
  if (!sources) {
    inputs.failures.push_back(sources.error());
    return;
  }
  for (RunSource& source : *sources) {
    if (seen.insert(identity(source)).second) inputs.runs.push_back({source.name, std::move(source), ""});
  }
}

}  // namespace

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
