// Reading a run that the command line names, with progress and a Ctrl-C that keeps what was read.
#include "cli/reading.h"

#include <algorithm>

#include "cli/progress.h"
#include "cli/stream.h"
#include "cli/terminal.h"

namespace osler::cli {

std::string told(const std::vector<LeftOut>& left_out) {
  constexpr std::size_t kNamed = 3;
  if (left_out.empty()) return {};
  std::string text = "left out ";
  for (std::size_t i = 0; i < std::min(kNamed, left_out.size()); ++i) {
    text += (i > 0 ? "; " : "") + left_out[i].path.string() + ", " + left_out[i].why;
  }
  if (left_out.size() > kNamed) text += "; and " + std::to_string(left_out.size() - kNamed) + " more";
  return text + ". Name a file to examine it.";
}

Result<Run> read_input(const Source& input, const Interrupt& interrupt, ReadOptions options, bool quiet) {
  Progress progress(input.name, !quiet && can_show_progress());
  options.progress = [&progress](const ReadProgress& now) { progress.update(now); };
  if (input.stream.empty()) {
    options.stop = interrupt.token();
    return read_source(real_file_system(), input, options);
  }
  // No stop token here: the stream itself ends with the interrupt, and what it gave before is read to the last byte.
  auto stream = open_stream(input.stream, interrupt.descriptor());
  if (!stream) return stream.error();
  return read_stream(**stream, input.stream, options);
}

Result<Run> read_only_run(const std::string& path, const std::string& format) {
  ReadOptions options;
  options.format = format;
  const Sources inputs = find_sources(real_file_system(), {path}, options);
  if (!inputs.runs.empty()) {
    for (const Error& failure : inputs.failures) complain(failure);
  }
  if (inputs.runs.size() != 1) return not_one_run(inputs, path);
  const Interrupt interrupt;
  return read_input(inputs.runs.front(), interrupt, options, false);
}

}  // namespace osler::cli
