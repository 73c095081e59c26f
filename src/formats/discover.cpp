// Finding the runs at a path: walks folders, sniffs files, puts the files of one run together.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <system_error>

#include "formats/claim.h"
#include "formats/ending.h"
#include "osler/formats/read.h"

namespace osler {
namespace {

using Path = std::filesystem::path;

constexpr std::size_t kDeepestFolder = 64;

// What lies beside logs in folders and never is one; sniffing would only cost time. Arrow's tables are the Python
// package's, and mostly data.
constexpr std::array<std::string_view, 70> kNoLogs = {
    ".7z",     ".a",    ".arrow",   ".avi", ".bin",         ".bmp",    ".bz2",  ".c",       ".cc",   ".cfg",
    ".cpp",    ".css",  ".cu",      ".cuh", ".data",        ".dll",    ".exe",  ".flac",    ".gif",  ".h",
    ".h5",     ".hdf5", ".hpp",     ".htm", ".html",        ".ico",    ".idx",  ".ini",     ".java", ".jpeg",
    ".jpg",    ".js",   ".lock",    ".md",  ".model",       ".mp3",    ".mp4",  ".msgpack", ".npy",  ".npz",
    ".o",      ".onnx", ".parquet", ".pb",  ".pdf",         ".pickle", ".pkl",  ".png",     ".pt",   ".pth",
    ".py",     ".pyc",  ".rs",      ".rst", ".safetensors", ".sh",     ".so",   ".spm",     ".svg",  ".tar",
    ".tflite", ".tif",  ".toml",    ".ts",  ".ttf",         ".wav",    ".webp", ".weights", ".whl",  ".zip"};
// Files of W&B that hold numbers, but not of the training.
constexpr std::array<std::string_view, 4> kNoLogNames = {"debug-core.log", "debug-internal.log", "requirements.txt",
                                                         "wandb-events.jsonl"};
// What people wrote about the log of that name; osler/source/notes.h.
constexpr std::string_view kNotes = ".notes.jsonl";
constexpr std::array<std::string_view, 4> kPackings = {".gz", ".xz", ".zst", ".zstd"};
constexpr std::array<std::string_view, 4> kNoLogFolders = {"__pycache__", "node_modules", "site-packages", "venv"};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

bool is_packed(const Path& path) {
  const std::string extension = lower(path.extension().string());
  return std::find(kPackings.begin(), kPackings.end(), extension) != kPackings.end();
}

bool never_a_log(const Path& path) {
  if (path.string().ends_with(kNotes)) return true;
  // "metrics.csv.gz" is what "metrics.csv" is; archives and bare names, such as those of datasets, are no logs.
  if (is_packed(path)) return !path.stem().has_extension() || never_a_log(path.stem());
  const std::string extension = lower(path.extension().string());
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
  bool curves = true;  // a document that holds lists of numbers, or anything but a document
};

/// Words of which the names of a program's output are made: such a file beside a log is the same run once more.
constexpr std::array<std::string_view, 19> kOutputWords = {
    "console", "debug", "err",   "info",   "job", "log",    "logs",  "main",     "nohup", "out",
    "rank",    "run",   "slurm", "stderr", "std", "stdout", "train", "training", "output"};

/// "train_log.txt", "slurm-4711.out", "output.log": names that say nothing but that a program wrote here.
bool named_like_output(const Path& path) {
  std::string word;
  for (const char c : lower(path.stem().string()) + ".") {
    if (c >= 'a' && c <= 'z') {
      word += c;
      continue;
    }
    if (!word.empty() && std::find(kOutputWords.begin(), kOutputWords.end(), word) == kOutputWords.end()) return false;
    word.clear();
  }
  return true;
}

/// Whether a JSON document holds rows, or a list of three numbers or more of which one has a fraction.
bool holds_curves(std::string_view head) {
  const std::size_t start = head.find_first_not_of(" \t\r\n");
  if (start != std::string_view::npos && head[start] == '[') return true;
  int numbers = 0;
  bool fraction = false;
  bool in_list = false;
  for (const char c : head) {
    if (c == '[') {
      in_list = true;
      numbers = 1;
      fraction = false;
    } else if (c == ',' && in_list) {
      if (++numbers > 3 && fraction) return true;
    } else if (c == '.') {
      fraction = true;
    } else if (std::string_view("0123456789+-eE \t\r\nNaInfity").find(c) == std::string_view::npos) {
      if (in_list && c == ']' && numbers >= 3 && fraction) return true;
      in_list = false;
    }
  }
  return false;
}

// Entries that are looked at behind links which lead out of the folder: one may lead to a dataset of millions.
constexpr std::size_t kMostLinkedEntries = 20'000;

/// Walks a folder and collects what is claimed.
class Walk {
 public:
  Walk(FileSystem& files, const ReadOptions& options, const Format* forced)
      : files_(files), options_(options), forced_(forced) {}

  void search(const Path& path) {
    std::error_code failure;
    root_ = std::filesystem::canonical(path, failure);
    if (const auto info = files_.info(path)) seen_.insert({info->device, info->inode});
    folder(path, 0);
    // Links come last, so that what they name is called by its own name where it lies here as well.
    while (!links_.empty()) {
      const Link link = std::move(links_.back());
      links_.pop_back();
      follow(link);
    }
    drop_side_files();
  }

  std::vector<Found> found;
  std::vector<Path> others;
  std::vector<LeftOut> left_out;
  std::vector<Error> unreadable;
  std::size_t files_seen = 0;
  std::uint64_t largest_unclaimed = 0;
  std::optional<Error> why_unclaimed;  // of the largest file that no format wanted

 private:
  struct Link {
    Path path;
    std::size_t depth;
  };

  void folder(const Path& path, std::size_t depth) {
    auto names = files_.list(path);
    if (!names) {
      unreadable.push_back(names.error());
      return;
    }
    for (const std::string& name : *names) {
      if (options_.stop.stop_requested()) return;
      entry(path / name, name, depth);
    }
  }

  void entry(const Path& path, const std::string& name, std::size_t depth) {
    std::error_code failure;
    if (std::filesystem::is_symlink(path, failure)) {
      if (!never_a_log(path) && !never_holds_logs(name)) links_.push_back({path, depth});
      return;
    }
    const auto info = files_.info(path);
    if (!info) {
      // Between the list and the look a file may have gone.
      if (info.error().code != ErrorCode::not_found) unreadable.push_back(info.error());
      return;
    }
    take(path, name, *info, depth);
  }

  void take(const Path& path, const std::string& name, const FileInfo& info, std::size_t depth) {
    if (behind_link_ && ++linked_entries_ > kMostLinkedEntries) {
      if (linked_entries_ == kMostLinkedEntries + 1) {
        left_out.push_back({path, "the search behind links ended here, after 20,000 files and folders"});
      }
      return;
    }
    if (info.kind == FileKind::directory) {
      const bool fresh = seen_.insert({info.device, info.inode}).second;
      if (fresh && depth < kDeepestFolder && !never_holds_logs(name)) folder(path, depth + 1);
    } else if (info.kind == FileKind::regular) {
      ++files_seen;
      if (!seen_.insert({info.device, info.inode}).second && behind_link_) return;
      if (!options_.other_ending.empty() && path.extension() == options_.other_ending) return others.push_back(path);
      if (info.size_bytes > 0 && !never_a_log(path)) file(path, info.size_bytes);
    }
  }

  void follow(const Link& link) {
    std::error_code failure;
    const Path target = std::filesystem::canonical(link.path, failure);
    const auto info = files_.info(link.path);
    if (failure || !info) {
      left_out.push_back({link.path, "a link that leads nowhere"});
      return;
    }
    if (seen_.contains({info->device, info->inode})) return;
    const bool inside = lies_in(target, root_);
    if (!inside && !options_.follow_links_out) {
      if (info->kind == FileKind::directory || info->size_bytes > 0) {
        left_out.push_back({link.path, "a link that leads out of the folder"});
      }
      return;
    }
    if (lies_in(root_, target)) {
      left_out.push_back({link.path, "a link to a folder around this one"});
      return;
    }
    behind_link_ = true;
    take(link.path, link.path.filename().string(), *info, link.depth);
    behind_link_ = false;
  }

  static bool lies_in(const Path& path, const Path& folder) {
    return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
  }

  void file(const Path& path, std::uint64_t size_bytes) {
    const auto head = read_head(files_, path);
    if (!head) return unreadable.push_back(head.error());
    const Peek peek{path, head->bytes, head->whole};
    Claim claimed;
    if (forced_ == nullptr) {
      claimed = claim(peek);
    } else if (const Sniff strength = forced_->sniff(peek); strength != Sniff::no) {
      claimed = {forced_, strength};
    }
    if (claimed.format != nullptr && claimed.format->id == "notebook") {
      if (!speaks_of_training(path)) return;
      claimed.strength = Sniff::possible;  // only reading it tells
    }
    if (claimed.format != nullptr) {
      const bool document = claimed.format->id == "json" && claimed.strength == Sniff::possible;
      found.push_back({path, claimed, size_bytes, !document || holds_curves(head->bytes)});
    } else if (size_bytes > largest_unclaimed && forced_ == nullptr) {
      largest_unclaimed = size_bytes;
      why_unclaimed = unclaimed(peek);
    }
  }

  /// Whether a notebook has a word of a training anywhere: most have none, and are not worth a word themselves.
  bool speaks_of_training(const Path& path) {
    constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20U;
    const auto text = read_whole(files_, path, kMostBytes);
    if (!text) return true;
    const auto has = [&](std::string_view word) { return text->find(word) != std::string::npos; };
    return has("loss") || has("Loss") || has("epoch") || has("Epoch") || has("reward");
  }

  /// Beside a certain log, what is merely possible may be a side file, or the same numbers as the program printed them.
  void drop_side_files() {
    std::map<Path, std::vector<const Found*>> certain;
    for (const Found& file : found) {
      const bool log = file.claim.strength == Sniff::certain && file.claim.format->part != Part::configuration;
      if (log) certain[file.path.parent_path()].push_back(&file);
    }
    std::vector<Found> kept;
    for (const Found& file : found) {
      const auto beside = certain.find(file.path.parent_path());
      if (file.claim.strength == Sniff::certain || beside == certain.end()) {
        kept.push_back(file);
        continue;
      }
      if (!file.curves) continue;
      if (file.claim.format->id == "compressed") {
        left_out.push_back({file.path, "compressed, and perhaps no log"});
        continue;
      }
      if (file.claim.format->id == "csv") {
        left_out.push_back({file.path, "a table without the columns of a training"});
        continue;
      }
      if (crashed_last(file, beside->second)) {
        kept.push_back(file);
        continue;
      }
      const auto twin = std::find_if(beside->second.begin(), beside->second.end(),
                                     [&](const Found* log) { return log->path.stem() == file.path.stem(); });
      if (twin != beside->second.end()) {
        left_out.push_back({file.path, "taken for another form of " + (*twin)->path.filename().string()});
      } else if (one_run(beside->second) && named_like_output(file.path)) {
        left_out.push_back(
            {file.path, "taken for the output of the run in " + beside->second.front()->path.filename().string()});
      } else {
        kept.push_back(file);
      }
    }
    found = std::move(kept);
  }

  /// Whether a program's output ends in a crash and the logs beside it were not written to since, as by a later launch.
  /// Such an output is a run of its own: the other logs do not know how it ended.
  bool crashed_last(const Found& output, const std::vector<const Found*>& logs) {
    constexpr double kFlushed = 60;  // seconds within which a program writes all that it holds back
    if (output.claim.format->id != "text") return false;
    const auto info = files_.info(output.path);
    if (!info) return false;
    const bool newest = std::none_of(logs.begin(), logs.end(), [&](const Found* log) {
      const auto other = files_.info(log->path);
      return other && other->modified_seconds > info->modified_seconds + kFlushed;
    });
    return newest && ends_in_a_crash(files_, output.path, info->size_bytes);
  }

  static bool one_run(const std::vector<const Found*>& logs) {
    const auto run = [](const Found* log) { return log->claim.format->run_of(log->path); };
    return std::all_of(logs.begin(), logs.end(), [&](const Found* log) { return run(log) == run(logs.front()); });
  }

  FileSystem& files_;
  const ReadOptions& options_;
  const Format* forced_;
  Path root_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen_;
  std::vector<Link> links_;
  bool behind_link_ = false;
  std::size_t linked_entries_ = 0;
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
    RunSource source{name.empty() || name == "." ? names[i].string() : name.string(), {}, {}};
    source.doubtful = groups.size() > 1 && groups[i].files.back().claim.strength != Sniff::certain;
    for (const Found& file : groups[i].files) source.files.push_back({file.path, file.claim.format, {}});
    source.files.back().run = groups[i].stored;
    sources.push_back(std::move(source));
  }
  return sources;
}

Error nothing_in(const Walk& walk, const Path& path) {
  if (!walk.unreadable.empty()) return walk.unreadable.front();
  if (!walk.left_out.empty()) {
    return {ErrorCode::not_found,
            "the folder holds no run; " + walk.left_out.front().path.string() + " is " + walk.left_out.front().why,
            path.string()};
  }
  if (walk.files_seen == 0) return {ErrorCode::not_found, "the folder holds no files", path.string()};
  std::string seen =
      "none of the " + std::to_string(walk.files_seen) + " files in it is a training log that Osler recognises";
  seen += walk.why_unclaimed
              ? "; the largest candidate, " + walk.why_unclaimed->context + ", " + walk.why_unclaimed->message
              : "; name a file to learn why";
  return {ErrorCode::not_found, seen, path.string()};
}

Result<Survey> in_folder(FileSystem& files, const Path& path, const ReadOptions& options, const Format* forced) {
  // Without the trailing slash that people type, the folder's own name can be told.
  const Path folder = path.has_filename() ? path : path.parent_path();
  Walk walk(files, options, forced);
  walk.search(folder);
  const std::vector<Group> groups = group_runs(files, walk.found);
  if (groups.empty() && walk.others.empty()) return nothing_in(walk, path);
  Survey survey;
  if (!groups.empty()) survey.runs = to_sources(groups);
  survey.others = std::move(walk.others);
  survey.left_out = std::move(walk.left_out);
  survey.unreadable = std::move(walk.unreadable);
  return survey;
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
    return std::vector<RunSource>{{path.string(), {{path, format, groups.front().stored}}, {}}};
  }
  RunSource source{path.string(), configuration_beside(files, path, *format), {}};
  source.files.push_back({path, format, {}});
  return std::vector<RunSource>{std::move(source)};
}

}  // namespace

Result<Survey> survey(FileSystem& files, const std::filesystem::path& path, const ReadOptions& options) {
  const Format* forced = nullptr;
  if (!options.format.empty()) {
    const auto named = format_by_name(options.format);
    if (!named) return named.error();
    forced = *named;
  }
  const auto only = [](std::vector<RunSource> runs) {
    Survey survey;
    survey.runs = std::move(runs);
    return survey;
  };
  if (path == "-") return only({{"-", {{path, forced, {}}}, {}}});
  const auto info = files.info(path);
  if (!info) return info.error();
  switch (info->kind) {
    case FileKind::directory:
      return in_folder(files, path, options, forced);
    case FileKind::regular: {
      auto runs = one_file(files, path, forced);
      if (!runs) return runs.error();
      return only(std::move(*runs));
    }
    case FileKind::pipe:
      // What a pipe holds can be read only once, so it is sniffed while it is read.
      return only({{path.string(), {{path, forced, {}}}, {}}});
    case FileKind::other:
      break;
  }
  return Error{ErrorCode::unsupported, "is neither a file nor a folder nor a pipe", path.string()};
}

Result<std::vector<RunSource>> discover(FileSystem& files, const std::filesystem::path& path,
                                        const ReadOptions& options) {
  auto found = survey(files, path, options);
  if (!found) return found.error();
  return std::move(found->runs);
}

}  // namespace osler
