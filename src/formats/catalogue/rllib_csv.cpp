// progress.csv of Ray RLlib and Ray Tune.
#include "formats/table.h"
#include "osler/formats/format.h"

namespace osler::catalogue {
namespace {

using Path = std::filesystem::path;

Sniff sniff(const Peek& peek) {
  const std::string_view header = peek.head.substr(0, peek.head.find('\n'));
  const bool ours =
      peek.path.filename() == "progress.csv" && header.find("training_iteration") != std::string_view::npos;
  return ours ? Sniff::certain : Sniff::no;
}

std::unique_ptr<Reader> open(const Path&) {
  return make_table_reader();
}

Path run_of(const Path& path) {
  return path.parent_path();
}

constexpr std::string_view kDoc = R"(
`progress.csv` in a trial's folder, as Ray RLlib and Ray Tune write it.

**What is read.** Every column of numbers, with `timesteps_total` as the step where there is one, else the training iteration.

**Quirks.** `result.json` beside it holds the same numbers and more; where it is there, the table is left out.
)";

}  // namespace

Format rllib_csv() {
  return {"rllib-csv", "RLlib progress.csv", kDoc, "csv", sniff, open, run_of, Part::stretch, "rllib"};
}

}  // namespace osler::catalogue
