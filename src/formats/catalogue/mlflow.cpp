// MLflow's file store.
#include <array>

#include "formats/numbers.h"
#include "formats/small_file.h"
#include "formats/table.h"
#include "formats/yaml.h"

namespace osler::catalogue {
namespace {

using Path = std::filesystem::path;

/// Where in a run's folder a file lies.
struct Place {
  Path run;
  std::string part;  // "metrics", "params" or "meta.yaml"; empty when it is none of them
  std::string name;  // of the metric or parameter: its path below the part
  bool certain = false;
};

bool is_run_id(const std::string& name) {
  return name.size() == 32 && name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// A metric's name may hold a folder "metrics" itself, and so may the way to the store: the one below a run's id
/// counts, else the outermost.
Place place_of(const Path& path) {
  if (path.filename() == "meta.yaml") return {path.parent_path(), "meta.yaml", {}, false};
  Place place;
  Path above;
  for (auto part = path.begin(); part != path.end(); above /= *part, ++part) {
    if ((*part != "metrics" && *part != "params") || above.empty() || std::next(part) == path.end()) continue;
    const bool certain = is_run_id(above.filename().string());
    if (!place.part.empty() && !certain) continue;
    place = {above, part->string(), path.lexically_relative(above / *part).generic_string(), certain};
    if (certain) break;
  }
  return place;
}

/// "1707671885683 0.13625 0": milliseconds, value, step. The first versions wrote no step.
bool is_metric_line(const std::string& line) {
  const std::vector<std::string> fields = split_fields(line, TableLayout::kBlanks);
  if (fields.size() != 2 && fields.size() != 3) return false;
  const CellValue time = read_cell(fields[0]);
  return fields[0].size() == 13 && time.kind == CellKind::number && time.value > 0 &&
         read_cell(fields[1]).kind == CellKind::number;
}

Sniff sniff(const Peek& peek) {
  const Place place = place_of(peek.path);
  if (place.part == "meta.yaml") {
    const bool of_run =
        peek.head.find("artifact_uri:") != std::string_view::npos &&
        (peek.head.find("run_id:") != std::string_view::npos || peek.head.find("run_uuid:") != std::string_view::npos);
    return of_run ? Sniff::certain : Sniff::no;
  }
  if (place.part == "params") return place.certain && peek.whole ? Sniff::certain : Sniff::no;
  if (place.part != "metrics") return Sniff::no;
  const std::vector<std::string> lines = first_lines(peek);
  return !lines.empty() && is_metric_line(lines.front()) ? Sniff::certain : Sniff::no;
}

std::unique_ptr<Reader> open(const Path& path) {
  const Place place = place_of(path);
  if (place.part == "meta.yaml") return make_small_file_reader(yaml_to_config);
  if (place.part == "params") {
    return make_small_file_reader(
        [name = place.name](std::string_view text, EventSink& sink) { sink.config(name, text.substr(0, 1000)); });
  }
  const std::string name = place.name.empty() ? path.filename().string() : place.name;
  return make_table_reader({.header = {"timestamp", name, "step"}, .rename = {}, .only_column = {}});
}

Path run_of(const Path& path) {
  const Place place = place_of(path);
  return place.part.empty() ? path : place.run;
}

constexpr std::string_view kDoc = R"(
MLflow's file store: `mlruns/<experiment>/<run>/` with one file per metric in `metrics/`, one per parameter in `params/`, and
`meta.yaml`.

**What is read.** A metric's file holds a line `milliseconds value step` for each point; its name is its path below `metrics/`, so
`metrics/val/loss` is `val/loss`. Parameters and `meta.yaml` become configuration. The run's folder is the run.

**Quirks.** A metric that was logged without a step has step 0 on every line: then the order of the lines is the
axis. Autologging repeats the last epoch's metrics at the end; the later value wins.
)";

}  // namespace

Format mlflow() {
  return {"mlflow", "MLflow file store", kDoc, "csv", sniff, open, run_of};
}

}  // namespace osler::catalogue
