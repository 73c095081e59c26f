// Reading a run that the command line names, with progress and a Ctrl-C that keeps what was read.
#include "cli/reading.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/progress.h"
#include "cli/stream.h"
#include "cli/terminal.h"
#include "osler/runfile/reader.h"

namespace osler::cli {

Result<Run> read_input(const Input& input, const Interrupt& interrupt, ReadOptions options, bool quiet) {
  Progress progress(input.name, !quiet && can_show_progress());
  options.progress = [&progress](const ReadProgress& now) { progress.update(now); };
  if (!input.run_file.empty()) return read_run_file(input.run_file, options.limits);
  if (input.stream.empty()) {
    options.stop = interrupt.token();
    return read_run(real_file_system(), input.source, options);
  }
  // No stop token here: the stream itself ends with the interrupt, and what it gave before is read to the last byte.
  auto stream = open_stream(input.stream, interrupt.descriptor());
  if (!stream) return stream.error();
  return read_stream(**stream, input.stream, options);
}

namespace {

Result<Run> read_with_histograms(const Input& input, const Interrupt& interrupt, ReadOptions options) {
  Progress progress(input.name, can_show_progress());
  options.progress = [&progress](const ReadProgress& now) { progress.update(now); };
  options.stop = interrupt.token();
  Run run(options.limits);
  run.name = input.source.name;
  const auto read = read_events(real_file_system(), input.source, run, run.damage, options);
  if (!read) return read.error();
  return run;
}

}  // namespace

Result<Run> read_only_run(const std::string& path, const std::string& format, bool histograms) {
  constexpr std::size_t kNamed = 3;
  ReadOptions options;
  options.format = format;
  const Inputs inputs = find_inputs(real_file_system(), {path}, options);
  if (!inputs.failures.empty()) return inputs.failures.front();
  if (inputs.runs.empty()) return Error{ErrorCode::not_found, "no run there", path};
  if (inputs.runs.size() > 1) {
    std::string names;
    for (std::size_t i = 0; i < std::min(kNamed, inputs.runs.size()); ++i) {
      names += (i > 0 ? ", " : "") + inputs.runs[i].name;
    }
    return Error{ErrorCode::invalid_argument,
                 fmt::format("{} runs there, name one: {}{}", inputs.runs.size(), names,
                             inputs.runs.size() > kNamed ? ", ..." : ""),
                 path};
  }
  const Interrupt interrupt;
  const Input& input = inputs.runs.front();
  if (histograms && input.stream.empty()) return read_with_histograms(input, interrupt, options);
  return read_input(input, interrupt, options, false);
}

}  // namespace osler::cli
