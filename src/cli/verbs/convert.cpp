// osler convert: a run from any format Osler reads into one that others read.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>

#include "cli/inputs.h"
#include "cli/interrupt.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "cli/suggest.h"
#include "cli/terminal.h"
#include "cli/wishes.h"
#include "osler/recorder/sink.h"
#include "osler/recorder/sink_feed.h"
#include "osler/runfile/reader.h"
#include "report/numbers.h"

namespace osler::cli {
namespace {

constexpr const char* kFooter = R"(Examples:
  osler convert runs/exp42 -o exp42.csv          TensorBoard to a table
  osler convert train.log -o train.jsonl         a program's output to JSON lines
  osler convert metrics.csv -o board/            a table to TensorBoard: tensorboard --logdir board
  osler convert run.wandb -o exp42.osler         into Osler's own run file, which keeps everything
  osler convert metrics.csv -o offline/ --to wandb
  osler convert runs/ -o converted/ --to csv     many runs: one file or folder each below it

The name of OUT tells the format: .csv, .jsonl, .osler, and a folder for TensorBoard; --to overrides it. Step, wall time
and value are kept exactly. Histograms go to TensorBoard and run files, configuration and marks to all but CSV.)";

/// What can be written.
struct Target {
  std::string_view id;
  std::string_view extension;  ///< empty: a folder
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
  options.name = run;
  return wandb_sink(real_file_system(), path, options);
}

constexpr std::array kTargets = {Target{"csv", ".csv", open_csv}, Target{"jsonl", ".jsonl", open_jsonl},
                                 Target{"osler", ".osler", open_run_file}, Target{"tensorboard", "", open_tensorboard},
                                 Target{"wandb", "", open_wandb}};

struct Arguments {
  std::vector<std::string> paths;
  std::string out;
  std::string to;
  std::string format;
  bool force = false;
};

Result<const Target*> target_of(const Arguments& arguments) {
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
      fmt::format("the ending '{}' tells no format; say which with --to ({})", extension, fmt::join(ids, ", ")),
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
  void add(Mark mark) override { inner_.add(std::move(mark)); }
  void config(std::string_view key, std::string_view value) override { inner_.config(key, value); }
  void distribution(const Histogram& histogram) override { inner_.distribution(histogram); }

  std::uint64_t values = 0;
  std::size_t series_count = 0;

 private:
  EventSink& inner_;
};

Result<void> read_into(const Input& input, EventSink& sink, DamageReport& damage, const Interrupt& interrupt,
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
  RunSource source = input.source;
  if (!input.stream.empty()) source = {input.stream, {{input.stream, format.empty() ? nullptr : find_format(format)}}};
  return read_events(real_file_system(), source, sink, damage, options);
}

/// The path of one of many runs: its name below OUT, with the target's ending.
std::filesystem::path path_of(const Input& input, const Arguments& arguments, const Target& target, bool several) {
  if (!several) return arguments.out;
  std::string name = input.name;
  std::replace(name.begin(), name.end(), '/', '-');
  if (name.find_first_not_of('.') == std::string::npos) name = "run";
  return std::filesystem::path(arguments.out) / (name + std::string(target.extension));
}

Result<void> convert(const Input& input, const std::filesystem::path& path, const Target& target,
                     const Arguments& arguments, const Interrupt& interrupt) {
  if (!target.extension.empty() && real_file_system().info(path)) {
    if (!arguments.force)
      return Error{ErrorCode::invalid_argument, "exists already; --force overwrites it", path.string()};
    if (const auto removed = real_file_system().remove(path); !removed) return removed.error();
  }
  const std::filesystem::path folder = target.extension.empty() ? path : path.parent_path();
  if (!folder.empty()) {
    if (const auto made = real_file_system().make_directory(folder); !made) return made.error();
  }
  auto sink = target.open(path, input.name);
  if (!sink) return sink.error();
  SinkFeed feed(std::move(*sink));
  CountingFeed counting(feed);
  DamageReport damage;
  const auto read = read_into(input, counting, damage, interrupt, arguments.format);
  const auto closed = feed.close();
  if (!read) return read.error();
  if (!closed) return closed.error();
  for (const Damage& item : damage.items()) complain(fmt::format("{}: {}", item.source, item.what));
  complain(fmt::format("{}: {} of {} written to {}", input.name, layout::counted(counting.values, "value"),
                       fmt::format("{} series", counting.series_count), path.string()));
  return {};
}

int run_convert(const Arguments& arguments) {
  const auto target = target_of(arguments);
  if (!target) {
    complain(describe(target.error()));
    return kCannotJudge;
  }
  if (const auto format = check_format(arguments.format); !format) {
    complain(describe(format.error()));
    return kCannotJudge;
  }
  ReadOptions options;
  options.format = arguments.format;
  const Inputs inputs = find_inputs(real_file_system(), arguments.paths, options);
  for (const Error& failure : inputs.failures) complain(describe(failure));
  bool failed = !inputs.failures.empty();
  const Interrupt interrupt;
  const bool several = inputs.runs.size() > 1;
  for (const Input& input : inputs.runs) {
    const auto done = convert(input, path_of(input, arguments, **target, several), **target, arguments, interrupt);
    if (!done) complain(describe(done.error()));
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
  verb->add_option("-o,--out", arguments->out, "Where to write")->required()->type_name("OUT");
  verb->add_option("--to", arguments->to, "csv, jsonl, osler, tensorboard or wandb")->type_name("FORMAT");
  verb->add_option("--format", arguments->format, "Read as this format instead of looking (osler list formats)")
      ->type_name("ID");
  verb->add_flag("--force", arguments->force, "Overwrite a file that exists");
  verb->callback([arguments, &work] { work = [arguments] { return run_convert(*arguments); }; });
}

}  // namespace

namespace verb {
Verb convert() {
  return {add};
}
}  // namespace verb

}  // namespace osler::cli
