// osler convert: a run from any format Osler reads into one that others read.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>

#include "cli/fleet/door.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "cli/reading.h"
#include "cli/suggest.h"
#include "cli/terminal.h"
#include "cli/wishes.h"
#include "osler/recorder/sink.h"
#include "osler/recorder/sink_feed.h"
#include "osler/runfile/reader.h"
#include "osler/source/source.h"
#include "osler/store/store.h"
#include "report/numbers.h"

namespace osler::cli {
namespace {

constexpr const char* kFooter = R"(Examples:
  osler convert runs/exp42 -o exp42.csv          TensorBoard to a table
  osler convert train.log -o train.jsonl         a program's output to JSON lines
  osler convert metrics.csv -o board/            a table to TensorBoard: tensorboard --logdir board
  osler convert run.wandb -o exp42.osler         to Osler's own run file, which keeps everything
  osler convert metrics.csv -o offline/ --to wandb
  osler convert runs/ -o converted/ --to csv     many runs: a file or folder for each
  osler convert exp42.osler -o - | head          standard output: CSV, or JSON lines with --to jsonl
  osler convert exp42 --store clickhouse://localhost/osler -o exp42.osler
                                                 a run from a fleet's store (osler ship sends runs there)

The format follows from the name of OUT: .csv, .jsonl, .osler, or a folder for TensorBoard; --to overrides it. Steps,
wall times and values are kept exactly; in CSV, JSON lines and W&B, all that was logged for a step shares a line and its
first time. Histograms go to TensorBoard, W&B and run files; configuration and marks go everywhere but to CSV, restarts
and notes not to W&B either. Osler says what was left out. If writing fails, the old file is left as it was.)";

/// What can be written.
struct Target {
  std::string_view id;
  std::string_view extension;  ///< empty: a folder
  bool settings;               ///< has a place for configuration and for how the run ended
  bool marks;                  ///< has a place for restarts and notes
  bool histograms;             ///< has a place for them
  Result<SinkPointer> (*open)(const std::filesystem::path& path, const std::string& run);
};

Result<SinkPointer> open_csv(const std::filesystem::path& path, const std::string& /*run*/) {
  return csv_sink(real_file_system(), path);
}
Result<SinkPointer> open_jsonl(const std::filesystem::path& path, const std::string& /*run*/) {
  return jsonl_sink(real_file_system(), path);
}
Result<SinkPointer> open_run_file(const std::filesystem::path& path, const std::string& run) {
  return run_file_sink(path, run);
}
Result<SinkPointer> open_tensorboard(const std::filesystem::path& path, const std::string& /*run*/) {
  TensorBoardOptions options;
  options.exact = true;
  return tensorboard_sink(real_file_system(), path, options);
}
Result<SinkPointer> open_wandb(const std::filesystem::path& path, const std::string& run) {
  WandbOptions options;
  // Only the last part: where the file lies on this machine is nobody else's business.
  options.name = std::filesystem::path(run).filename().string();
  return wandb_sink(real_file_system(), path, options);
}

constexpr std::array kTargets = {
    Target{"csv", ".csv", false, false, false, open_csv}, Target{"jsonl", ".jsonl", true, true, false, open_jsonl},
    Target{"osler", ".osler", true, true, true, open_run_file},
    Target{"tensorboard", "", true, true, true, open_tensorboard}, Target{"wandb", "", true, false, true, open_wandb}};

struct Arguments {
  std::vector<std::string> paths;
  std::string out;
  std::string to;
  std::string format;
  bool force = false;
  DoorWords door;
};

constexpr const char* kStandardOutput = "-";

Result<const Target*> target_of(const Arguments& arguments) {
  if (arguments.out == kStandardOutput && arguments.to.empty()) return kTargets.data();
  std::vector<std::string> ids;
  const std::string extension = std::filesystem::path(arguments.out).extension().string();
  for (const Target& target : kTargets) {
    ids.emplace_back(target.id);
    if (arguments.to == target.id) return &target;
    if (arguments.to.empty() && !target.extension.empty() && extension == target.extension) return &target;
  }
  if (!arguments.to.empty()) {
    return Error{
        ErrorCode::invalid_argument,
        fmt::format("cannot be written{}; there are: {}", did_you_mean(arguments.to, ids), fmt::join(ids, ", ")),
        arguments.to};
  }
  const auto info = real_file_system().info(arguments.out);
  if (arguments.out.ends_with('/') || extension.empty() || (info && info->kind == FileKind::directory)) {
    return &*std::find_if(kTargets.begin(), kTargets.end(),
                          [](const Target& target) { return target.id == "tensorboard"; });
  }
  return Error{
      ErrorCode::invalid_argument,
      fmt::format("cannot tell the format from the ending '{}'; use --to ({})", extension, fmt::join(ids, ", ")),
      arguments.out};
}

/// Passes events on and counts them.
class CountingFeed final : public EventSink {
 public:
  explicit CountingFeed(EventSink& inner) : inner_(inner) {}

  SeriesId series(std::string_view name) override {
    const SeriesId id = inner_.series(name);
    series_count = std::max<std::size_t>(series_count, id + std::size_t{1});
    return id;
  }
  void add(const Event& event) override {
    ++values;
    inner_.add(event);
  }
  void add(Mark mark) override {
    ++(mark.kind == Mark::Kind::finished || mark.kind == Mark::Kind::crashed ? ends : marks);
    inner_.add(std::move(mark));
  }
  void config(std::string_view key, std::string_view value) override {
    settings.emplace(key);
    inner_.config(key, value);
  }
  void distribution(const Histogram& histogram) override {
    ++histograms;
    inner_.distribution(histogram);
  }

  std::uint64_t values = 0;
  std::uint64_t ends = 0;   ///< marks of how the run ended
  std::uint64_t marks = 0;  ///< the others
  std::uint64_t histograms = 0;
  std::set<std::string, std::less<>> settings;  ///< a key may be told more than once
  std::size_t series_count = 0;

 private:
  EventSink& inner_;
};

/// Tells a run to a sink.
using Reading = std::function<Result<void>(EventSink& sink, DamageReport& damage)>;

Result<void> read_into(const Source& input, EventSink& sink, DamageReport& damage, const Interrupt& interrupt,
                       const std::string& format) {
  if (!input.run_file.empty()) {
    auto reader = RunFileReader::open(input.run_file);
    if (!reader) return reader.error();
    auto read = reader->read_events(sink);
    damage.merge(reader->damage());
    return read;
  }
  Progress progress(input.name, can_show_progress());
  ReadOptions options;
  options.format = format;
  options.stop = interrupt.token();
  options.progress = [&progress](const ReadProgress& now) { progress.update(now); };
  RunSource source = input.log;
  if (!input.stream.empty()) source = {input.stream, {{input.stream, format.empty() ? nullptr : find_format(format)}}};
  return read_events(real_file_system(), source, sink, damage, options);
}

/// The path of one of many runs: its name below OUT, with the target's ending; numbered where another has that name.
std::filesystem::path path_of(const Source& input, const Arguments& arguments, const Target& target, bool several,
                              std::set<std::filesystem::path>& used) {
  if (!several) return arguments.out;
  std::string name = input.name;
  std::replace(name.begin(), name.end(), '/', '-');
  if (name.find_first_not_of('.') == std::string::npos) name = "run";
  const std::filesystem::path folder(arguments.out);
  std::filesystem::path path = folder / (name + std::string(target.extension));
  for (int number = 2; !used.insert(path).second; ++number) {
    path = folder / fmt::format("{}-{}{}", name, number, target.extension);
  }
  return path;
}

std::vector<std::string> files_of(const Source& input) {
  std::vector<std::string> files;
  if (!input.run_file.empty()) files.push_back(input.run_file);
  if (!input.stream.empty()) files.push_back(input.stream);
  for (const SourceFile& file : input.log.files) files.push_back(file.path.string());
  return files;
}

/// Where the run may be written; fails when that would lose something.
Result<std::filesystem::path> place_of(const Source& input, const std::filesystem::path& path, const Target& target,
                                       bool force) {
  const std::vector<std::string> inputs = files_of(input);
  if (target.extension.empty()) {
    const auto into = real_file_system().info(path);
    std::vector<std::string> folders;
    for (const std::string& file : inputs)
      folders.push_back((std::filesystem::path(".") / file).parent_path().string());
    if (into && into->kind != FileKind::directory) {
      return Error{ErrorCode::invalid_argument, "is not a folder", path.string()};
    }
    if (is_one_of(path, folders)) {
      return Error{ErrorCode::invalid_argument, "holds the run being read; choose another folder", path.string()};
    }
    return path;
  }
  const auto place = replaceable(path, inputs);
  if (!place) return place.error();
  if (!force && real_file_system().info(*place)) {
    return Error{ErrorCode::invalid_argument, "exists already; --force overwrites it", path.string()};
  }
  // SQLite keeps what was written last in a file beside; with it, the new run file would be damaged.
  const auto log = real_file_system().info(place->string() + "-wal");
  if (log && log->size_bytes > 0) {
    return Error{ErrorCode::invalid_argument, "is a run file that is being written, or was not closed", path.string()};
  }
  return *place;
}

/// What of the run the target has no place for, as the end of a sentence; empty where it has all of it.
std::string left_out(const CountingFeed& run, const Target& target) {
  std::vector<std::string> parts;
  const auto part = [&](bool has_place, std::uint64_t count, const std::string& what) {
    if (!has_place && count > 0) parts.push_back(layout::counted(count, what));
  };
  part(target.settings, run.settings.size(), "setting");
  part(target.settings && target.marks, (target.settings ? 0 : run.ends) + (target.marks ? 0 : run.marks), "mark");
  part(target.histograms, run.histograms, "histogram");
  return parts.empty() ? "" : fmt::format("; {} has no place for {}", target.id, fmt::join(parts, ", "));
}

/// Reads the run and writes it to `path`; gives what is to be said of it, under the name `shown`.
Result<std::string> write_run(const std::string& name, const Reading& reading, const std::filesystem::path& path,
                              const std::string& shown, const Target& target) {
  auto sink = target.open(path, name);
  if (!sink) return Error{sink.error().code, sink.error().message, shown};
  SinkFeed feed(std::move(*sink));
  CountingFeed counting(feed);
  DamageReport damage;
  const auto read = reading(counting, damage);
  const auto closed = feed.close();
  if (!read) return read.error();
  if (!closed) return Error{closed.error().code, closed.error().message, shown};
  // SQLite says nothing when its log could not be taken over into the file, and the file alone would be empty.
  const auto log = real_file_system().info(path.string() + "-wal");
  if (log && log->size_bytes > 0) return Error{ErrorCode::io, "the run file could not be completed", shown};
  for (const Damage& item : damage.items()) complain(fmt::format("{}: {}", item.source, item.what));
  return fmt::format("{}: {} of {} series written to {}{}", name, layout::counted(counting.values, "value"),
                     counting.series_count, shown, left_out(counting, target));
}

/// Prints a file in pieces.
Result<void> print_file(const std::filesystem::path& path) {
  constexpr std::size_t kPiece = std::size_t{1} << 18U;
  auto file = real_file_system().open_read(path);
  if (!file) return file.error();
  std::string piece(kPiece, '\0');
  for (;;) {
    const auto length = (*file)->read(std::as_writable_bytes(std::span(piece)));
    if (!length) return length.error();
    if (*length == 0) return {};
    if (!print(std::string_view(piece).substr(0, *length))) {
      return Error{ErrorCode::io, "not all of the run was written", "standard output"};
    }
  }
}

Result<void> convert_to_output(const Source& input, const Reading& reading, const Target& target) {
  const auto draft = Draft::in_temporary_folder();
  if (!draft) return draft.error();
  const auto written = write_run(input.name, reading, draft->path(), "standard output", target);
  if (!written) return written.error();
  if (const auto printed = print_file(draft->path()); !printed) return printed.error();
  complain(*written);
  return {};
}

Result<void> convert(const Source& input, const Reading& reading, const std::filesystem::path& path,
                     const Target& target, bool force, const Interrupt& interrupt) {
  const auto place = place_of(input, path, target, force);
  if (!place) return place.error();
  const bool replaces = !target.extension.empty() && real_file_system().info(*place).has_value();
  const std::filesystem::path folder = (place->has_filename() ? *place : place->parent_path()).parent_path();
  if (!folder.empty()) {
    if (const auto made = real_file_system().make_directory(folder); !made) return made.error();
  }
  const auto draft = Draft::beside(*place);
  if (!draft) return draft.error();
  const auto written = write_run(input.name, reading, draft->path(), path.string(), target);
  if (!written) return written.error();
  if (interrupt.happened() && replaces) {
    return Error{ErrorCode::io, "interrupted: the old file stays as it is", path.string()};
  }
  auto placed = target.extension.empty() ? draft->place_folder() : draft->place_file();
  if (placed) complain(*written);
  return placed;
}

Result<void> check_output(const Arguments& arguments, const Target& target, const Sources& inputs) {
  if (arguments.out != kStandardOutput) return {};
  if (target.id != "csv" && target.id != "jsonl") {
    return Error{ErrorCode::invalid_argument, "only csv and jsonl go to standard output", std::string(target.id)};
  }
  if (inputs.runs.size() > 1) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("{} go to a folder, not to standard output", layout::counted(inputs.runs.size(), "run")),
                 "-o -"};
  }
  return {};
}

/// The runs of a store that the words name; they have no files.
Sources find_in_store(Store& store, const std::string& project, const std::vector<std::string>& words,
                      std::vector<StoredRunId>& ids) {
  Sources sources;
  for (const std::string& word : words) {
    const auto card = store.find(word, project);
    if (!card) {
      sources.failures.push_back(card.error());
      continue;
    }
    ids.push_back(card->id);
    sources.runs.push_back({card->name, {}, {}, {}});
  }
  return sources;
}

int run_convert(const Arguments& arguments) {
  const auto fail = [](const Error& error) {
    complain(error);
    return kCannotJudge;
  };
  const auto target = target_of(arguments);
  if (!target) return fail(target.error());
  if (const auto format = check_format(arguments.format); !format) return fail(format.error());
  ReadOptions options;
  options.format = arguments.format;
  std::optional<Store> store;
  std::string project;
  std::vector<StoredRunId> ids;  // of the inputs, when they are in a store
  if (!arguments.door.address.empty()) {
    const auto door = open_door(arguments.door);
    if (!door) return fail(door.error());
    store.emplace(door->address, door->access);
    project = door->address.project;
  }
  const Sources inputs = store ? find_in_store(*store, project, arguments.paths, ids)
                               : find_sources(real_file_system(), arguments.paths, options);
  for (const Error& failure : inputs.failures) complain(failure);
  if (!inputs.left_out.empty()) complain(told(inputs.left_out));
  if (const auto fits = check_output(arguments, **target, inputs); !fits) return fail(fits.error());
  bool failed = !inputs.failures.empty();
  const Interrupt interrupt;
  const bool several = inputs.runs.size() > 1;
  std::set<std::filesystem::path> used;
  for (const Source& input : inputs.runs) {
    const std::filesystem::path path = path_of(input, arguments, **target, several, used);
    const Reading reading = [&](EventSink& sink, DamageReport& damage) {
      if (store) return store->read_events(ids.at(static_cast<std::size_t>(&input - inputs.runs.data())), sink);
      return read_into(input, sink, damage, interrupt, arguments.format);
    };
    const auto done = arguments.out == kStandardOutput
                          ? convert_to_output(input, reading, **target)
                          : convert(input, reading, path, **target, arguments.force, interrupt);
    if (!done) complain(done.error());
    failed = failed || !done;
    if (interrupt.happened()) {
      complain("interrupted: what was read so far is written");
      return kCannotJudge;
    }
  }
  return failed || inputs.runs.empty() ? kCannotJudge : kFine;
}

void add(CLI::App& program, Work& work) {
  CLI::App* verb = program.add_subcommand("convert", "Write runs as CSV, JSON lines, TensorBoard, W&B or run files");
  auto arguments = std::make_shared<Arguments>();
  verb->footer(kFooter);
  verb->add_option("PATH", arguments->paths, "Files, folders, patterns, or - for standard input")
      ->required()
      ->type_name("");
  verb->add_option("-o,--out", arguments->out, "Where to write; - is standard output")->required()->type_name("OUT");
  verb->add_option("--to", arguments->to, "csv, jsonl, osler, tensorboard or wandb")->type_name("FORMAT");
  verb->add_option("--format", arguments->format, "Read as this format instead of looking (osler list formats)")
      ->type_name("ID");
  add_door_options(*verb, arguments->door, "--store")
      ->description("Read runs of this store; PATH is then a name, or the end of one");
  verb->add_flag("--force", arguments->force, "Overwrite existing files (never the input)");
  verb->callback([arguments, &work] { work = [arguments] { return run_convert(*arguments); }; });
}

}  // namespace

namespace verb {
Verb convert() {
  return {add};
}
}  // namespace verb

}  // namespace osler::cli
