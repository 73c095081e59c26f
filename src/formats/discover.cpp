// Finding the runs at a path: walks folders, sniffs files, puts the files of one run together.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <system_error>

#include "formats/claim.h"
#include "osler/formats/read.h"

namespace osler {
namespace {

using Path = std::filesystem::path;

constexpr std::size_t kDeepestFolder = 64;

// What lies beside logs in folders and never is one; sniffing would only cost time.
constexpr std::array<std::string_view, 74> kNoLogs = {
    ".7z",      ".a",           ".arrow", ".avi",     ".bin", ".bmp", ".bz2",     ".c",      ".cc",   ".cfg",  ".cpp",
    ".css",     ".cu",          ".cuh",   ".data",    ".dll", ".exe", ".flac",    ".gif",    ".gz",   ".h",    ".h5",
    ".hdf5",    ".hpp",         ".htm",   ".html",    ".ico", ".idx", ".ini",     ".ipynb",  ".java", ".jpeg", ".jpg",
    ".js",      ".lock",        ".md",    ".model",   ".mp3", ".mp4", ".msgpack", ".npy",    ".npz",  ".o",    ".onnx",
    ".parquet", ".pb",          ".pdf",   ".pickle",  ".pkl", ".png", ".pt",      ".pth",    ".py",   ".pyc",  ".rs",
    ".rst",     ".safetensors", ".sh",    ".so",      ".spm", ".svg", ".tar",     ".tflite", ".tif",  ".toml", ".ts",
    ".ttf",     ".wav",         ".webp",  ".weights", ".whl", ".xz",  ".zip",     ".zst"};
// Files of W&B that hold numbers, but not of the training.
constexpr std::array<std::string_view, 4> kNoLogNames = {"debug-core.log", "debug-internal.log", "requirements.txt",
                                                         "wandb-events.jsonl"};
constexpr std::array<std::string_view, 4> kNoLogFolders = {"__pycache__", "node_modules", "site-packages", "venv"};

bool never_a_log(const Path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return std::find(kNoLogs.begin(), kNoLogs.end(), extension) != kNoLogs.end() ||
         std::find(kNoLogNames.begin(), kNoLogNames.end(), path.filename()) != kNoLogNames.end();
}

bool never_holds_logs(const std::string& folder) {
  return folder.starts_with('.') ||
         std::find(kNoLogFolders.begin(), kNoLogFolders.end(), folder) != kNoLogFolders.end();
}

struct Head {
  std::string bytes;
  bool whole = false;
};

Result<Head> read_head(FileSystem& files, const Path& path) {
  auto file = files.open_read(path);
  if (!file) return file.error();
  Head head;
  head.bytes.resize(kPeekBytes + 1);
  std::size_t filled = 0;
  while (filled < head.bytes.size()) {
    const auto length = (*file)->read(std::as_writable_bytes(std::span(head.bytes).subspan(filled)));
    if (!length) return length.error();
    if (*length == 0) break;
    filled += *length;
  }
  head.whole = filled <= kPeekBytes;
  head.bytes.resize(std::min(filled, kPeekBytes));
  return head;
}

/// A file somebody claims.
struct Found {
  Path path;
  Claim claim;
  std::uint64_t size_bytes = 0;
};

/// Walks a folder and collects what is claimed.
class Walk {
 public:
  Walk(FileSystem& files, const ReadOptions& options, const Format* forced)
      : files_(files), options_(options), forced_(forced) {}

  void folder(const Path& path, std::size_t depth) {
    if (depth == 0) start_at(path);
    auto names = files_.list(path);
    if (!names) {
      remember(names.error());
      return;
    }
    const std::size_t first_here = found.size();
    for (const std::string& name : *names) {
      if (options_.stop.stop_requested()) return;
      entry(path / name, name, depth);
    }
    drop_doubtful(path, first_here);
  }

  std::vector<Found> found;
  std::size_t files_seen = 0;
  std::uint64_t largest_unclaimed = 0;
  std::optional<Error> why_unclaimed;  // of the largest file that no format wanted
  std::optional<Error> first_error;

 private:
  void start_at(const Path& path) {
    std::error_code failure;
    root_ = std::filesystem::canonical(path, failure);
    if (const auto info = files_.info(path)) folders_.insert({info->device, info->inode});
  }

  void entry(const Path& path, const std::string& name, std::size_t depth) {
    const auto info = files_.info(path);
    if (!info) return remember(info.error());
    if (leads_out(path)) return;
    if (info->kind == FileKind::directory) {
      const bool fresh = folders_.insert({info->device, info->inode}).second;
      if (fresh && depth < kDeepestFolder && !never_holds_logs(name)) folder(path, depth + 1);
    } else if (info->kind == FileKind::regular) {
      ++files_seen;
      if (info->size_bytes > 0 && !never_a_log(path)) file(path, info->size_bytes);
    }
  }

  void file(const Path& path, std::uint64_t size_bytes) {
    const auto head = read_head(files_, path);
    if (!head) return remember(head.error());
    const Peek peek{path, head->bytes, head->whole};
    Claim claimed;
    if (forced_ == nullptr) {
      claimed = claim(peek);
    } else if (const Sniff strength = forced_->sniff(peek); strength != Sniff::no) {
      claimed = {forced_, strength};
    }
    if (claimed.format != nullptr) {
      found.push_back({path, claimed, size_bytes});
    } else if (size_bytes > largest_unclaimed && forced_ == nullptr) {
      largest_unclaimed = size_bytes;
      why_unclaimed = unclaimed(peek);
    }
  }

  /// In a folder that holds a certain log, what is merely possible is a side file or a copy of the same numbers.
  void drop_doubtful(const Path& folder, std::size_t first_here) {
    const auto here = [&](const Found& file) { return file.path.parent_path() == folder; };
    const auto certain = [&](const Found& file) {
      return here(file) && file.claim.strength == Sniff::certain && file.claim.format->part != Part::configuration;
    };
    const auto begin = found.begin() + static_cast<std::ptrdiff_t>(first_here);
    if (std::none_of(begin, found.end(), certain)) return;
    found.erase(std::remove_if(begin, found.end(),
                               [&](const Found& file) { return here(file) && file.claim.strength != Sniff::certain; }),
                found.end());
  }

  [[nodiscard]] bool leads_out(const Path& path) const {
    std::error_code failure;
    if (!std::filesystem::is_symlink(path, failure)) return false;
    const Path target = std::filesystem::canonical(path, failure);
    if (failure) return true;
    return std::mismatch(root_.begin(), root_.end(), target.begin(), target.end()).first != root_.end();
  }

  void remember(const Error& error) {
    if (!first_error) first_error = error;
  }

  FileSystem& files_;
  const ReadOptions& options_;
  const Format* forced_;
  Path root_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> folders_;
};

/// Of files that each hold the whole run so far, only the largest says the most.
void keep_largest(std::vector<Found>& files) {
  const auto larger = [](const Found& a, const Found& b) { return a.size_bytes < b.size_bytes; };
  Found largest = *std::max_element(files.begin(), files.end(), larger);
  files = {std::move(largest)};
}

struct Group {
  Path run;
  std::vector<Found> files;
  std::string stored;  // which run of a file that holds several
};

/// Whether the same run has files in a format that tells it better.
bool told_better(const Path& run, const Format& format,
                 const std::map<std::pair<Path, std::string_view>, std::vector<Found>>& runs) {
  const Format* better = find_format(format.yields_to);
  // As many steps as there are formats, so that a circle ends.
  for (std::size_t left = formats().size(); left > 0 && better != nullptr; --left) {
    if (runs.count({run, better->id}) > 0) return true;
    better = find_format(better->yields_to);
  }
  return false;
}

/// A file that holds several runs becomes a group for each. Where they cannot be told, reading will say why.
std::vector<Group> stored_runs(FileSystem& files, Group whole) {
  const Found& file = whole.files.back();
  const auto runs = file.claim.format->store->runs(files, file.path);
  if (!runs || runs->empty()) return {std::move(whole)};
  std::map<std::string_view, std::size_t> namesakes;
  for (const StoredRun& run : *runs) ++namesakes[run.name];
  std::vector<Group> groups;
  for (const StoredRun& run : *runs) {
    const std::string name = namesakes[run.name] == 1 ? run.name : run.name + "-" + run.id;
    groups.push_back({runs->size() == 1 ? whole.run : whole.run / name, whole.files, run.id});
  }
  return groups;
}

/// Groups by run and format; configuration joins every group of its run.
std::vector<Group> group_runs(FileSystem& file_system, const std::vector<Found>& found) {
  std::map<std::pair<Path, std::string_view>, std::vector<Found>> runs;
  std::map<Path, std::vector<Found>> configurations;
  for (const Found& file : found) {
    const Format& format = *file.claim.format;
    const Path run = format.run_of(file.path);
    if (format.part == Part::configuration) {
      configurations[run].push_back(file);
    } else {
      runs[{run, format.id}].push_back(file);
    }
  }
  std::vector<Group> groups;
  for (auto& [key, files] : runs) {
    if (told_better(key.first, *files.front().claim.format, runs)) continue;
    const auto by_path = [](const Found& a, const Found& b) { return a.path < b.path; };
    std::sort(files.begin(), files.end(), by_path);
    if (files.front().claim.format->part == Part::snapshot) keep_largest(files);
    if (const auto beside = configurations.find(key.first); beside != configurations.end()) {
      files.insert(files.begin(), beside->second.begin(), beside->second.end());
    }
    if (files.back().claim.format->store != nullptr) {
      std::vector<Group> stored = stored_runs(file_system, {key.first, files, {}});
      std::move(stored.begin(), stored.end(), std::back_inserter(groups));
    } else {
      groups.push_back({key.first, files, {}});
    }
  }
  return groups;
}

/// What a run is called in full: its folder, or its file where the folder holds logs in several formats.
std::vector<Path> full_names(const std::vector<Group>& groups) {
  std::map<Path, std::size_t> runs_at;
  for (const Group& group : groups) ++runs_at[group.run];
  std::vector<Path> names;
  for (const Group& group : groups) names.push_back(runs_at[group.run] > 1 ? group.files.back().path : group.run);
  return names;
}

/// The deepest folder that holds all the paths.
Path common_folder(const std::vector<Path>& paths) {
  Path common = paths.front().parent_path();
  for (const Path& path : paths) {
    const auto parted = std::mismatch(common.begin(), common.end(), path.begin(), path.end()).first;
    Path shared;
    for (auto part = common.begin(); part != parted; ++part) shared /= *part;
    common = shared;
  }
  return common;
}

std::vector<RunSource> to_sources(const std::vector<Group>& groups) {
  const std::vector<Path> names = full_names(groups);
  const Path common = common_folder(names);
  std::vector<RunSource> sources;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Path name = names[i].lexically_relative(common);
    RunSource source{name.empty() || name == "." ? names[i].string() : name.string(), {}};
    for (const Found& file : groups[i].files) source.files.push_back({file.path, file.claim.format, {}});
    source.files.back().run = groups[i].stored;
    sources.push_back(std::move(source));
  }
  return sources;
}

Result<std::vector<RunSource>> in_folder(FileSystem& files, const Path& path, const ReadOptions& options,
                                         const Format* forced) {
  // Without the trailing slash that people type, the folder's own name can be told.
  const Path folder = path.has_filename() ? path : path.parent_path();
  Walk walk(files, options, forced);
  walk.folder(folder, 0);
  const std::vector<Group> groups = group_runs(files, walk.found);
  if (!groups.empty()) return to_sources(groups);
  if (walk.first_error) return *walk.first_error;
  if (walk.files_seen == 0) return Error{ErrorCode::not_found, "the folder holds no files", path.string()};
  std::string seen =
      "none of the " + std::to_string(walk.files_seen) + " files in it is a training log that Osler recognises";
  seen += walk.why_unclaimed
              ? "; the largest candidate, " + walk.why_unclaimed->context + ", " + walk.why_unclaimed->message
              : "; name a file to learn why";
  return Error{ErrorCode::not_found, seen, path.string()};
}

/// Configuration that lies beside a log that was named by itself, or in the folder of its run.
std::vector<SourceFile> configuration_beside(FileSystem& files, const Path& path, const Format& format) {
  std::vector<SourceFile> beside;
  const Path run = format.run_of(path);
  if (run == path) return beside;
  for (const Path& folder : std::set<Path>{run, path.parent_path()}) {
    const auto names = files.list(folder.empty() ? "." : folder);
    if (!names) continue;
    for (const std::string& name : *names) {
      const Path candidate = folder / name;
      const auto info = files.info(candidate);
      if (candidate == path || never_a_log(candidate) || !info || info->kind != FileKind::regular) continue;
      if (info->size_bytes > kPeekBytes) continue;  // no configuration is that large
      const auto head = read_head(files, candidate);
      if (!head) continue;
      const Claim claimed = claim({candidate, head->bytes, head->whole});
      if (claimed.format == nullptr || claimed.format->part != Part::configuration) continue;
      if (claimed.format->run_of(candidate) == run) beside.push_back({candidate, claimed.format, {}});
    }
  }
  return beside;
}

Result<std::vector<RunSource>> one_file(FileSystem& files, const Path& path, const Format* forced) {
  const Format* format = forced;
  if (format == nullptr) {
    const auto head = read_head(files, path);
    if (!head) return head.error();
    const Peek peek{path, head->bytes, head->whole};
    format = claim(peek).format;
    if (format == nullptr) return unclaimed(peek);
  }
  if (format->store != nullptr) {
    const std::vector<Group> groups = stored_runs(files, {path, {{path, {format, Sniff::certain}, 0}}, {}});
    if (groups.size() > 1) return to_sources(groups);
    return std::vector<RunSource>{{path.string(), {{path, format, groups.front().stored}}}};
  }
  RunSource source{path.string(), configuration_beside(files, path, *format)};
  source.files.push_back({path, format, {}});
  return std::vector<RunSource>{std::move(source)};
}

}  // namespace

Result<std::vector<RunSource>> discover(FileSystem& files, const std::filesystem::path& path,
                                        const ReadOptions& options) {
  const Format* forced = nullptr;
  if (!options.format.empty()) {
    const auto named = format_by_name(options.format);
    if (!named) return named.error();
    forced = *named;
  }
  if (path == "-") return std::vector<RunSource>{{"-", {{path, forced, {}}}}};
  const auto info = files.info(path);
  if (!info) return info.error();
  switch (info->kind) {
    case FileKind::directory:
      return in_folder(files, path, options, forced);
    case FileKind::regular:
      return one_file(files, path, forced);
    case FileKind::pipe:
      // What a pipe holds can be read only once, so it is sniffed while it is read.
      return std::vector<RunSource>{{path.string(), {{path, forced, {}}}}};
    case FileKind::other:
      break;
  }
  return Error{ErrorCode::unsupported, "is neither a file nor a folder nor a pipe", path.string()};
}

}  // namespace osler
