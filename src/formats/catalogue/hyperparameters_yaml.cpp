// YAML files of hyperparameters that lie beside logs.
#include <algorithm>
#include <array>

#include "formats/small_file.h"
#include "formats/yaml.h"

namespace osler::catalogue {
namespace {

Sniff sniff(const Peek& peek) {
  constexpr std::array<std::string_view, 4> kNames = {"hparams.yaml", "args.yaml", "opt.yaml", "hyp.yaml"};
  const std::string name = peek.path.filename().string();
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end() ? Sniff::certain : Sniff::no;
}

std::unique_ptr<Reader> open(const std::filesystem::path&) {
  return make_small_file_reader(yaml_to_config);
}

std::filesystem::path run_of(const std::filesystem::path& path) {
  return path.parent_path();
}

constexpr std::string_view kDoc = R"(
The hyperparameters of a run, as trainers leave them beside its log: Lightning's `hparams.yaml`, Ultralytics' `args.yaml`, and
YOLOv5's `opt.yaml` and `hyp.yaml`.

**What is read.** Every scalar, as configuration of the run in the same folder; nested keys are joined with `/`. Lists and
texts of several lines are left out. There are no series in it, so it is never a run by itself.
)";

}  // namespace

Format hyperparameters_yaml() {
  return {"hyperparameters-yaml", "Hyperparameters as YAML", kDoc, "", sniff, open, run_of, Part::configuration};
}

}  // namespace osler::catalogue
