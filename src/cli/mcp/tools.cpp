// The tools: a table of name, description, schema and function.
#include "cli/mcp/tools.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "cli/drawing.h"
#include "cli/mcp/arguments.h"
#include "cli/mcp/base64.h"
#include "cli/mcp/pages.h"
#include "cli/mcp/summary.h"
#include "cli/wishes.h"
#include "osler/diagnosis/compare.h"
#include "osler/report/comparison.h"
#include "osler/report/render.h"
#include "osler/run/experiment.h"
#include "osler/source/source.h"
#include "report/numbers.h"

namespace osler::cli::mcp {
namespace {

// A list longer than this is no short answer; detail "full" goes as far as kMostRuns.
constexpr std::size_t kShownRuns = 20;
// Reading more in one call would outlast any client's patience.
constexpr std::size_t kMostRuns = 500;

/// What a tool works with.
struct Bench {
  ConfinedFiles& files;
  std::stop_token stop;
  const Arguments& arguments;
};

Json text_content(const std::string& text) {
  return Json::array({{{"type", "text"}, {"text", text}}});
}

TextOptions plain() {
  TextOptions options;
  options.verbose = true;
  options.unicode = false;
  return options;
}

/// The path by which a client can ask for a run again; of a file that holds several, with the name of the run.
std::string path_of(const Source& source, const ConfinedFiles& files) {
  if (!source.run_file.empty()) return files.shown(source.run_file);
  if (source.log.files.empty()) return source.name;
  const SourceFile& first = source.log.files.front();
  const bool single = source.log.files.size() == 1 || first.format == nullptr;
  const std::string path = files.shown(single ? first.path.string() : first.format->run_of(first.path).string());
  return first.run.empty() ? path : fmt::format("{} (run {})", path, first.run);
}

/// The runs at a path. Patterns are resolved here, so that no name outside the roots is told.
Result<Sources> found(const Bench& bench, const std::string& path, const ReadOptions& options) {
  if (path == "-") return Error{ErrorCode::invalid_argument, "standard input is taken by the protocol", path};
  const std::string place = bench.files.place(path);
  const auto all = expand(bench.files, place);
  if (!all) return all.error();
  std::vector<std::string> inside;
  for (const std::string& each : *all) {
    if (bench.files.inside(each)) inside.push_back(each);
  }
  if (inside.empty()) {
    const auto refused = bench.files.inside(place);
    return refused ? Error{ErrorCode::not_found, "no run there", path} : refused.error();
  }
  Sources sources = find_sources(bench.files, inside, options);
  for (const Source& source : sources.runs) {
    if (!source.stream.empty()) return Error{ErrorCode::invalid_argument, "is a pipe; name a file", path};
  }
  for (Source& source : sources.runs) source.name = path_of(source, bench.files);
  return sources;
}

Result<Run> read_confined(const Bench& bench, const Source& source, ReadOptions options) {
  if (!source.run_file.empty()) {  // run files are SQLite's to open
    if (const auto real = bench.files.inside(source.run_file); !real) return real.error();
  }
  options.stop = bench.stop;
  auto run = read_source(bench.files, source, options);
  if (run) run->name = source.name;
  return run;
}

Result<ReadOptions> reading_of(const Wishes& wishes) {
  if (const auto known = check_format(wishes.format); !known) return known.error();
  ReadOptions options;
  options.format = wishes.format;
  return options;
}

/// The only run at a path.
Result<Run> one_run(const Bench& bench, const std::string& path, const Wishes& wishes) {
  const auto options = reading_of(wishes);
  if (!options) return options.error();
  const auto sources = found(bench, path, *options);
  if (!sources) return sources.error();
  if (sources->runs.size() != 1) return not_one_run(*sources, path);
  return read_confined(bench, sources->runs.front(), *options);
}

Result<Report> examined(const Run& run, const DiagnosisOptions& options) {
  if (const auto known = check_series(options, run); !known) return known.error();
  return diagnose(run, options);
}

std::string full_text(Report report) {
  report.sketches.clear();  // drawn with letters they are of no use here: plot shows them
  return render_text(report, plain());
}

/// Lines on what could not be read.
std::string failures_of(const std::vector<Error>& failures, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(most, failures.size()); ++i) text += "- " + describe(failures[i]) + "\n";
  if (failures.size() > most) text += fmt::format("- {} more\n", failures.size() - most);
  return text.empty() ? text : "\nNot read\n" + text;
}

Result<Json> list_runs(const Bench& bench) {
  const auto folder = bench.arguments.text("folder");
  const auto detail = bench.arguments.detail({"short", "full"});
  if (!folder || !detail) return (folder ? detail : folder).error();
  const auto sources = found(bench, *folder, {});
  if (!sources) return sources.error();
  if (sources->runs.empty()) return not_one_run(*sources, *folder);
  const std::size_t most = *detail == "full" ? kMostRuns : kShownRuns;
  std::string text = fmt::format("{} in {}\n", layout::counted(sources->runs.size(), "run"),
                                 folder->empty() ? bench.files.roots().front().string() : *folder);
  for (std::size_t i = 0; i < std::min(most, sources->runs.size()); ++i) {
    const Source& source = sources->runs[i];
    const bool log = source.run_file.empty() && !source.log.files.empty();
    const Format* const format = log ? source.log.files.front().format : nullptr;
    text += fmt::format("- {} ({})\n", source.name, format != nullptr ? format->id : std::string_view("run file"));
  }
  if (sources->runs.size() > most) text += fmt::format("- {} more\n", sources->runs.size() - most);
  return text_content(text + failures_of(sources->failures, *detail == "full" ? kMostRuns : 3));
}

/// Several runs: a line for each.
Result<Json> diagnose_many(const Bench& bench, const Sources& sources, const DiagnosisOptions& options,
                           const ReadOptions& reading, const std::string& detail) {
  std::vector<Report> reports;
  std::vector<Error> failures = sources.failures;
  const std::size_t most = std::min(kMostRuns, sources.runs.size());
  for (std::size_t i = 0; i < most && !bench.stop.stop_requested(); ++i) {
    const Source& source = sources.runs[i];
    const auto run = read_confined(bench, source, reading);
    auto report = run ? examined(*run, options) : Result<Report>(run.error());
    if (report) {
      reports.push_back(std::move(*report));
    } else if (!source.log.doubtful) {
      failures.push_back(report.error());
    }
  }
  if (reports.empty()) {
    return failures.empty() ? Error{ErrorCode::not_found, "no run there could be read", ""} : failures.front();
  }
  if (detail == "json") return text_content(render_json(reports));
  std::string text = summary(std::move(reports), detail == "full" ? kMostRuns : kShownRuns);
  if (sources.runs.size() > most) text += fmt::format("Only the first {} runs were read.\n", most);
  return text_content(text + failures_of(failures, 3));
}

Result<Json> diagnose_path(const Bench& bench) {
  const auto path = bench.arguments.text("path");
  const auto detail = bench.arguments.detail({"short", "full", "json"});
  const auto wishes = bench.arguments.wishes();
  if (!path) return path.error();
  if (!detail) return detail.error();
  if (!wishes) return wishes.error();
  const auto options = to_options(*wishes);
  const auto reading = reading_of(*wishes);
  if (!options) return options.error();
  if (!reading) return reading.error();
  const auto sources = found(bench, *path, *reading);
  if (!sources) return sources.error();
  if (sources->runs.size() > 1) return diagnose_many(bench, *sources, *options, *reading, *detail);
  if (sources->runs.empty()) return not_one_run(*sources, *path);
  const auto run = read_confined(bench, sources->runs.front(), *reading);
  if (!run) return run.error();
  const auto report = examined(*run, *options);
  if (!report) return report.error();
  return text_content(*detail == "json"   ? render_json(*report)
                      : *detail == "full" ? full_text(*report)
                                          : summary(*report));
}

Result<Json> explain_id(const Bench& bench) {
  const auto id = bench.arguments.text("id");
  const auto detail = bench.arguments.detail({"short", "full"});
  if (!id || !detail) return (id ? detail : id).error();
  const auto text = explain(*id, *detail == "full");
  if (!text) return text.error();
  return text_content(*text);
}

Result<Json> compare_runs(const Bench& bench) {
  const auto first = bench.arguments.text("a");
  const auto second = bench.arguments.text("b");
  const auto detail = bench.arguments.detail({"short", "full", "json"});
  const auto wishes = bench.arguments.wishes();
  for (const auto* each : {&first, &second, &detail}) {
    if (!*each) return each->error();
  }
  if (!wishes) return wishes.error();
  CompareOptions options;
  auto diagnosis = to_options(*wishes);
  if (!diagnosis) return diagnosis.error();
  options.diagnosis = std::move(*diagnosis);
  const auto a = one_run(bench, *first, *wishes);
  if (!a) return a.error();
  const auto b = one_run(bench, *second, *wishes);
  if (!b) return b.error();
  auto comparison = compare(*a, *b, options);
  if (!comparison) return comparison.error();
  if (*detail == "json") return text_content(render_json(*comparison));
  if (*detail == "short") return text_content(summary(*comparison));
  comparison->a.sketches.clear();
  comparison->b.sketches.clear();
  return text_content(render_text(*comparison, plain()));
}

Result<Json> plot_run(const Bench& bench) {
  const auto path = bench.arguments.text("path");
  const auto wishes = bench.arguments.wishes();
  if (!path) return path.error();
  if (!wishes) return wishes.error();
  auto drawing = bench.arguments.drawing();
  if (!drawing) return drawing.error();
  drawing->wishes = *wishes;
  const auto style = bench.arguments.style();
  if (!style) return style.error();
  if (const auto fine = check(*drawing); !fine) return fine.error();
  const auto run = one_run(bench, *path, *wishes);
  if (!run) return run.error();
  const auto figure = draw(*drawing, *run);
  if (!figure) return figure.error();
  const auto bytes = render(*figure, FigureType::png, *style);
  if (!bytes) return bytes.error();
  return Json::array({{{"type", "image"}, {"data", base64(*bytes)}, {"mimeType", "image/png"}},
                      {{"type", "text"}, {"text", figure->title}}});
}

Result<Json> probe_results(const Bench& bench) {
  const auto path = bench.arguments.text("path");
  const auto detail = bench.arguments.detail({"short", "full", "json"});
  if (!path || !detail) return (path ? detail : path).error();
  const auto probe = bench.arguments.text_or("probe", "");
  if (!probe) return probe.error();
  const auto run = one_run(bench, *path, {});
  if (!run) return run.error();
  std::string text;
  for (const Experiment& each : experiments(*run)) {
    if (!probe->empty() && each.probe != *probe) continue;
    text += *detail == "json"   ? to_json(each) + "\n"
            : *detail == "full" ? render_text(each, plain()) + "\n"
                                : summary(each);
  }
  if (!text.empty()) return text_content(text);
  return text_content(
      fmt::format("{} holds no result of {}. The probes of osler.torch and osler::torch write them "
                  "into the run file of their monitor.\n",
                  run->name, probe->empty() ? "a probe" : *probe));
}

/// One tool.
struct Tool {
  const char* name;
  const char* title;
  const char* description;
  const char* required;    ///< the arguments it needs, with spaces between them
  const char* properties;  ///< of its schema, as JSON
  Result<Json> (*call)(const Bench& bench);
};

constexpr const char* kReadingProperties = R"(,
  "roles": {"type": "object", "additionalProperties": {"type": "string"},
            "description": "What a series means where its name does not say it: {\"train-loss\": \"my_objective\"}"},
  "settings": {"type": "object", "additionalProperties": {"type": "number"},
               "description": "What a finding decides by: {\"loss-diverging.noise_units\": 8}"},
  "only": {"type": "array", "items": {"type": "string"}, "description": "Ids of the findings to check; all without it"},
  "domain": {"type": "string", "description": "What kind of training it is: language-model, reinforcement, ..."},
  "format": {"type": "string", "description": "The id of the log's format; it is recognised without it"})";

constexpr const char* kThree = R"(,
  "detail": {"type": "string", "enum": ["short", "full", "json"], "default": "short",
             "description": "short: what one needs to act; full: everything as text; json: everything as data"})";
constexpr const char* kTwo = R"(,
  "detail": {"type": "string", "enum": ["short", "full"], "default": "short"})";

constexpr std::array kTools = {
    Tool{"list_runs", "List runs", "The training runs below a folder, with the format of each log.", "",
         R"("folder": {"type": "string", "description": "A folder; the server's own without it"})", list_runs},
    Tool{"diagnose", "Diagnose a training",
         "What is wrong with a training, since which step, why (with probabilities, what speaks for and against) and "
         "what "
         "to "
         "change. Takes a log (CSV, JSON lines, TensorBoard, W&B, MLflow, plain text and more), a run's folder, or a "
         "folder "
         "or pattern of many runs, which gives one line for each, the worst first.",
         "path",
         R"("path": {"type": "string", "description": "A log, a run's folder, a folder of runs, or a pattern"})",
         diagnose_path},
    Tool{"explain", "Explain an id",
         "The page on a finding, a cause, a log format, a setting (loss-diverging.stays) or a guide (rl, llm, gan, "
         "tree).",
         "id", R"("id": {"type": "string", "description": "For example overfitting or lr-too-high"})", explain_id},
    Tool{"compare", "Compare two runs",
         "Where two runs part (first series and step), whether the second is worse, and which settings differ.", "a b",
         R"("a": {"type": "string", "description": "The first run, perhaps a known good one"},
        "b": {"type": "string", "description": "The run to hold against it"})",
         compare_runs},
    Tool{"plot", "Plot a run", "The curves of a run with the findings marked, as a PNG image.", "path",
         R"("path": {"type": "string", "description": "A log or a run's folder"},
        "kind": {"type": "string", "enum": ["curves", "gradients", "heatmap", "overview"], "default": "curves"},
        "finding": {"type": "string", "description": "Draw the evidence for this finding instead"},
        "experiment": {"type": "string", "description": "Draw what this probe measured instead"},
        "series": {"type": "array", "items": {"type": "string"}, "description": "Series to draw, by name"},
        "theme": {"type": "string", "enum": ["light", "dark"], "default": "light"},
        "width": {"type": "integer", "minimum": 320, "maximum": 2000, "default": 800})",
         plot_run},
    Tool{"probe_results", "Results of probes",
         "What active tests (LR range test, overfit one batch, sharpness, checkup and others) measured, from a run "
         "file.",
         "path",
         R"("path": {"type": "string", "description": "A run file"},
        "probe": {"type": "string", "description": "One probe, for example lr-range-test; all without it"})",
         probe_results},
};

const Tool* tool_called(const std::string& name) {
  const auto* const found =
      std::find_if(kTools.begin(), kTools.end(), [&](const Tool& tool) { return tool.name == name; });
  return found == kTools.end() ? nullptr : found;
}

Json schema_of(const Tool& tool) {
  const std::string_view name = tool.name;
  std::string properties = tool.properties;
  if (name == "list_runs" || name == "explain") properties += kTwo;
  if (name == "diagnose" || name == "compare" || name == "probe_results") properties += kThree;
  if (name == "diagnose" || name == "compare" || name == "plot") properties += kReadingProperties;
  Json required = Json::array();
  std::string_view words = tool.required;
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    required.push_back(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return {{"type", "object"},
          {"properties", Json::parse("{" + properties + "}")},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

}  // namespace

Json Tools::list() {
  Json all = Json::array();
  for (const Tool& tool : kTools) {
    all.push_back({{"name", tool.name},
                   {"title", tool.title},
                   {"description", tool.description},
                   {"inputSchema", schema_of(tool)},
                   {"annotations", {{"title", tool.title}, {"readOnlyHint", true}, {"openWorldHint", false}}}});
  }
  return all;
}

bool Tools::knows(const std::string& name) {
  return tool_called(name) != nullptr;
}

Json Tools::call(const std::string& name, const Json& arguments) {
  const Tool* const tool = tool_called(name);
  const Arguments taken(arguments);
  const auto known = taken.check(schema_of(*tool));
  const auto result = known ? tool->call({files_, stop_, taken}) : Result<Json>(known.error());
  if (!result) return {{"content", text_content(describe(result.error()))}, {"isError", true}};
  return {{"content", *result}, {"isError", false}};
}

}  // namespace osler::cli::mcp
