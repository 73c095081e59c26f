// The list of the gallery's probes.
#include "osler/gallery/probe.h"

#include <fmt/format.h>

#include <algorithm>

namespace osler::gallery {

std::span<const Probe> probes() {
  static const std::vector<Probe> all = {
      {"checkup", "Is everything in place before the training begins?", false, 110, {"checkup"}},
      {"initialisation",
       "Do the first weights let a signal through, forward and backward?",
       false,
       5,
       {"initialisation-check", "signal-propagation"}},
      {"overfit", "Can the network memorise a single batch, and if not, why?", false, 40, {"overfit-one-batch"}},
      {"lr-range", "Which learning rates can this training take?", false, 270, {"lr-range-test"}},
      {"update-ratios", "How far does one step move each weight?", false, 5, {"update-ratios"}},
      {"noise-scale", "Which batch size do the gradients suggest?", true, 128, {"gradient-noise-scale"}},
      {"sharpness", "Is the minimum it found sharp or flat?", true, 280, {"sharpness"}},
      {"surface", "How does the loss look around the weights?", true, 880, {"loss-surface"}},
      {"curvature",
       "Do the weights lie at a minimum, on a saddle, on a plateau or on a slope?",
       true,
       5,
       {"curvature"}},
      {"fresh-start", "Would it have gone better at another learning rate?", true, 610, {"fresh-start"}},
      {"settle",
       "Which of the report's causes is it? The tests that tell them apart are chosen and run.",
       true,
       80,
       {}},
  };
  return all;
}

Result<const Probe*> find_probe(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Probe& probe : probes()) {
    const auto& ids = probe.experiments;
    if (probe.name == name || std::find(ids.begin(), ids.end(), name) != ids.end()) return &probe;
    names.push_back(probe.name);
  }
  return Error{ErrorCode::not_found, fmt::format("no probe '{}'; there are: {}", name, fmt::join(names, ", ")), {}};
}

double seconds_left(const ProbeProgress& progress) {
  if (progress.passes <= 0 || progress.passes >= progress.expected) return 0;
  return progress.seconds * static_cast<double>(progress.expected - progress.passes) /
         static_cast<double>(progress.passes);
}

}  // namespace osler::gallery
