// The small files beside a W&B run: its configuration, its summary, its metadata.
#include <algorithm>

#include "formats/json/config.h"
#include "formats/small_file.h"
#include "formats/wandb/run_folder.h"
#include "formats/yaml.h"

namespace osler::catalogue {
namespace {

bool is_config(const std::filesystem::path& path) {
  return path.filename() == "config.yaml";
}

Sniff sniff(const Peek& peek) {
  if (peek.path.filename() == "wandb-summary.json" || peek.path.filename() == "wandb-metadata.json") {
    return Sniff::certain;
  }
  // Many tools have a config.yaml; W&B's tells its version, in `wandb_version: 1` or under `_wandb:`.
  const bool ours = is_config(peek.path) && peek.head.find("wandb") != std::string_view::npos;
  return ours ? Sniff::certain : Sniff::no;
}

/// A configuration whose keys begin with `prefix`.
class Prefixed final : public EventSink {
 public:
  Prefixed(std::string_view prefix, EventSink& sink) : prefix_(prefix), sink_(sink) {}

  SeriesId series(std::string_view name) override { return sink_.series(name); }
  void add(const Event& event) override { sink_.add(event); }
  void add(Mark mark) override { sink_.add(std::move(mark)); }
  void config(std::string_view key, std::string_view value) override {
    // "lr: {desc: null, value: 0.1}" is the setting lr; what W&B keeps for itself is none.
    if (key.starts_with('_') || key.starts_with("wandb_version")) return;
    // The name of a setting may have slashes of its own: "model/hidden: {desc: null, value: 64}".
    if (key.ends_with("/desc")) return;
    std::string name(key);
    constexpr std::string_view kWrapper = "/value";
    const std::size_t wrapper = name.find(kWrapper);
    const std::size_t behind = wrapper == std::string::npos ? name.size() : wrapper + kWrapper.size();
    if (wrapper != std::string::npos && (behind == name.size() || name[behind] == '/')) {
      name.erase(wrapper, kWrapper.size());
    }
    sink_.config(std::string(prefix_) + name, value);
  }

 private:
  std::string_view prefix_;
  EventSink& sink_;
};

std::unique_ptr<Reader> open(const std::filesystem::path& path) {
  if (is_config(path)) {
    return make_small_file_reader([](std::string_view text, EventSink& sink) {
      Prefixed plain("", sink);
      yaml_to_config(text, plain);
    });
  }
  // The summary repeats the last values of the history: neither settings nor series.
  const bool summary = path.filename() == "wandb-summary.json";
  return make_small_file_reader([summary](std::string_view text, EventSink& sink) {
    if (summary) return;
    Prefixed prefixed("wandb/", sink);
    json_to_config(text, prefixed);
  });
}

constexpr std::string_view kDoc = R"(
What the W&B client leaves in a run's `files` folder: `config.yaml`, `wandb-summary.json`, `wandb-metadata.json`.

**What is read.** Every scalar, as configuration of the run in the folder above: the settings under their own names, the
metadata as `wandb/NAME`. The summary repeats the last values of the history and is passed over. There are no series in these files,
so they are never a run by themselves.
)";

}  // namespace

Format wandb_files() {
  return {"wandb-files", "W&B side files", kDoc, "", sniff, open, wandb_run_folder, Part::configuration};
}

}  // namespace osler::catalogue
