// vis_data/scalars.json of mmengine.
#include <algorithm>
#include <cmath>

#include "formats/json/lines.h"

namespace osler::catalogue {
namespace {

using Path = std::filesystem::path;

Sniff sniff(const Peek& peek) {
  const bool named_so = peek.path.filename() == "scalars.json" || peek.path.parent_path().filename() == "vis_data";
  const std::string_view line = peek.head.substr(0, peek.head.find('\n'));
  const bool has_keys = line.find("\"step\"") != std::string_view::npos &&
                        line.find("\"iter\"") != std::string_view::npos &&
                        line.find("\"data_time\"") != std::string_view::npos;
  return (named_so || has_keys) && json_shape(peek) == JsonShape::lines ? Sniff::certain : Sniff::no;
}

/// Evaluation rows have no `iter`, and their `step` is the epoch: they belong where training stands.
struct PlaceEvaluation {
  double reached = 0;

  void operator()(JsonRow& row, RowAssembler& rows) {
    const std::uint32_t iter = rows.column("iter");
    const std::uint32_t step = rows.column("step");
    double value = std::nan("");
    bool trains = false;
    for (const Cell& cell : row.row().cells) {
      if (cell.column == step) value = cell.value;
      trains = trains || cell.column == iter;
    }
    if (trains) {
      reached = std::isnan(value) ? reached : value;
    } else if (value < reached) {
      row.drop(step);
    }
  }
};

std::unique_ptr<Reader> open(const Path&) {
  return make_json_lines_reader(PlaceEvaluation());
}

Path run_of(const Path& path) {
  return path;
}

constexpr std::string_view kDoc = R"(
`vis_data/scalars.json` of mmengine, and so of mmdetection 3, mmsegmentation 1 and the like.

**What is read.** JSON lines. Training rows have `iter` and `step`, which count over the whole training. Evaluation rows have only
`step`, and where training goes by epochs that is the epoch's number: such a row stands at the step that training has
reached.
)";

}  // namespace

Format mmengine_json() {
  return {"mmengine-json", "mmengine scalars.json", kDoc, "json-lines", sniff, open, run_of};
}

}  // namespace osler::catalogue
