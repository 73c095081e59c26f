// From paths to runs, whatever holds them.
#include "osler/source/source.h"

#include <glob.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <span>
#include <utility>

#include "osler/runfile/reader.h"
#include "osler/source/notes.h"

namespace osler {
namespace {

constexpr const char* kStandardInput = "-";

/// The files of a run, and its name in those that hold several, as one key to know a run that was named twice.
std::string identity(const RunSource& source) {
  std::string key;
  for (const SourceFile& file : source.files) key += file.path.lexically_normal().string() + '\0' + file.run + '\n';
  return key;
}

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

void add_run_file(const std::filesystem::path& path, std::set<std::string>& seen, Sources& sources) {
  const std::string name = path.string();
  if (seen.insert(path.lexically_normal().string()).second) sources.runs.push_back({name, {}, {}, name});
}

void find_at(FileSystem& files, const std::string& path, const ReadOptions& options, std::set<std::string>& seen,
             Sources& sources) {
  const auto info = path == kStandardInput ? FileInfo{.kind = FileKind::pipe} : files.info(path);
  if (!info) {
    sources.failures.push_back(info.error());
    return;
  }
  if (path.ends_with(kNotesEnding)) {  // a pattern such as runs/* names them beside their logs
    sources.left_out.push_back({path, "the notes on a run"});
    return;
  }
  if (info->kind == FileKind::pipe) {  // to look into a pipe is to read it: it is sniffed while it is read
    if (seen.insert(path).second) sources.runs.push_back({path, {}, path, {}});
    return;
  }
  if (info->kind == FileKind::regular && options.format.empty() && holds_run_file(files, path)) {
    return add_run_file(path, seen, sources);
  }
  auto found = survey(files, path, for_search(options));
  if (!found) {
    sources.failures.push_back(found.error());
    return;
  }
  for (const auto& file : found->others) add_run_file(file, seen, sources);
  for (RunSource& log : found->runs) {
    if (seen.insert(identity(log)).second) sources.runs.push_back({log.name, std::move(log), {}, {}});
  }
  std::move(found->unreadable.begin(), found->unreadable.end(), std::back_inserter(sources.failures));
  std::move(found->left_out.begin(), found->left_out.end(), std::back_inserter(sources.left_out));
}

}  // namespace

ReadOptions for_search(ReadOptions options) {
  if (options.format.empty()) options.other_ending = kRunFileExtension;
  options.follow_links_out = true;
  return options;
}

bool names_run_file(FileSystem& files, const std::filesystem::path& path) {
  const auto info = files.info(path);
  return info && info->kind == FileKind::regular && holds_run_file(files, path);
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

Sources find_sources(FileSystem& files, const std::vector<std::string>& paths, const ReadOptions& options) {
  Sources sources;
  std::set<std::string> seen;
  for (const std::string& pattern : paths) {
    const auto matches = expand(files, pattern);
    if (!matches) {
      sources.failures.push_back(matches.error());
      continue;
    }
    for (const std::string& path : *matches) find_at(files, path, options, seen, sources);
  }
  return sources;
}

Result<Run> read_source(FileSystem& files, const Source& source, const ReadOptions& options) {
  if (source.stream.empty()) {
    auto run =
        source.run_file.empty() ? read_run(files, source.log, options) : read_run_file(source.run_file, options.limits);
    if (run) read_notes(files, source, *run);
    return run;
  }
  auto stream = files.open_read(source.stream == kStandardInput ? "/dev/stdin" : source.stream);
  if (!stream) return stream.error();
  return read_stream(**stream, source.stream, options);
}

Error not_one_run(const Sources& sources, const std::string& path) {
  constexpr std::size_t kNamed = 3;
  if (sources.runs.empty() && !sources.failures.empty()) return sources.failures.front();
  if (sources.runs.empty()) return {ErrorCode::not_found, "no run there", path};
  std::string names;
  for (std::size_t i = 0; i < std::min(kNamed, sources.runs.size()); ++i) {
    names += (i > 0 ? ", " : "") + sources.runs[i].name;
  }
  if (sources.runs.size() > kNamed) names += ", ...";
  return {ErrorCode::invalid_argument, std::to_string(sources.runs.size()) + " runs there, name one: " + names, path};
}

Result<Run> read(const std::string& path, const ReadOptions& options) {
  FileSystem& files = real_file_system();
  const Sources sources = find_sources(files, {path}, options);
  if (sources.runs.size() != 1) return not_one_run(sources, path);
  return read_source(files, sources.runs.front(), options);
}

}  // namespace osler
