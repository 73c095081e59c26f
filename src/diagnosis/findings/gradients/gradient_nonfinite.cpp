// gradient-nonfinite: NaN or infinite gradients.
#include <algorithm>
#include <cmath>

#include "diagnosis/layers.h"
#include "diagnosis/movement.h"
#include "diagnosis/observe.h"

namespace osler::catalogue {
namespace {

constexpr std::string_view kDoc = R"(
## What it is
Gradients, of single layers or their global norm, are NaN or infinite.

## Signature
Any non-finite value in a gradient series. It is critical when the newest values are non-finite, a warning when they are
more than `share` of the values after the first `settling`, and a note otherwise. Of the layers, those hit first are
named; among them the one nearest to the output comes first, since the gradient flows from there.

## Why it matters
One update with a NaN gradient makes every weight it touches NaN, for good.

## When it is harmless
Mixed precision tries a loss scale, finds that the gradient overflows, skips the step and lowers the scale: single
non-finite norms, and a handful in the first steps, are part of the method. A norm that is never a number while training
goes well was simply not measured.

## References
- Micikevicius et al. 2018, Mixed Precision Training.
)";

struct Bad {
  std::string series;
  std::string layer;
  double points = 0;
  double count = 0;
  double later = 0;  // beyond the settling phase
  double later_points = 0;
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
  bool ends = false;
  std::size_t depth = 0;
};

Bad inspect(const Series& series, double settling) {
  const Bucket total = *series.summary().total();
  Bad bad{series.name(),
          "",
          static_cast<double>(total.points()),
          static_cast<double>(total.nonfinite),
          0,
          0,
          total.first_nonfinite_step,
          total.last_step,
          false,
          0};
  if (total.nonfinite == 0) return bad;
  double before = 0;
  for (const Bucket& bucket : series.summary().buckets()) {
    if (before >= settling) {
      bad.later += static_cast<double>(bucket.nonfinite);
      bad.later_points += static_cast<double>(bucket.points());
    }
    before += static_cast<double>(bucket.points());
  }
  constexpr std::size_t kInARow = 3;
  const std::vector<Point> recent = series.summary().recent();
  bad.ends = recent.size() >= kInARow && std::none_of(recent.end() - kInARow, recent.end(),
                                                      [](const Point& point) { return std::isfinite(point.value); });
  return bad;
}

std::vector<Bad> inspect_all(const Patient& patient, double settling) {
  std::vector<Bad> all;
  std::size_t depth = 0;
  for (const Layer& layer : layers_in(patient, Role::layer_gradient)) {
    ++depth;
    const Series* series = layer.find({"norm", "max", "std", "mean"});
    if (series == nullptr) continue;
    all.push_back(inspect(*series, settling));
    all.back().layer = layer.name;
    all.back().depth = depth;
  }
  for (const Cast& cast : patient.roles().in(Role::gradient_norm)) {
    if (!cast.series->summary().empty()) all.push_back(inspect(*cast.series, settling));
  }
  return all;
}

Verdict check(const Patient& patient, const SettingValues& settings) {
  std::vector<Bad> all = inspect_all(patient, settings["settling"]);
  if (all.empty()) return NotChecked{"no gradients in the log, neither of layers nor as a whole"};
  const bool never_measured =
      std::all_of(all.begin(), all.end(), [](const Bad& bad) { return bad.count == bad.points; });
  std::erase_if(all, [](const Bad& bad) { return bad.count == 0; });
  if (all.empty() || (never_measured && training_improves(patient))) return NotFound{};

  std::stable_sort(all.begin(), all.end(), [](const Bad& a, const Bad& b) {
    return a.first_step != b.first_step ? a.first_step < b.first_step : a.depth > b.depth;
  });
  const auto often = [&](const Bad& bad) {
    return bad.later >= settings["fewest"] && bad.later > settings["share"] * bad.later_points;
  };
  const bool ends = std::any_of(all.begin(), all.end(), [](const Bad& bad) { return bad.ends; });
  const bool frequent = std::any_of(all.begin(), all.end(), often);
  const Bad& first = all.front();
  const std::string what = first.layer.empty() ? first.series : "The gradient of " + first.layer;
  Observation seen =
      observe(ends       ? Severity::critical
              : frequent ? Severity::warning
                         : Severity::note,
              ends       ? 0.98
              : frequent ? 0.9
                         : 0.6,
              first.first_step, first.last_step,
              what + " is NaN or infinite on " + number(first.count) + " of " + number(first.points) +
                  " logged steps, first at " + at_step(first.first_step) + (ends ? ", and to the end." : "."));
  for (const Bad& bad : all) {
    if (bad.first_step == first.first_step && !bad.layer.empty()) seen.layers.push_back(bad.layer);
  }
  constexpr std::size_t kShown = 4;
  for (std::size_t i = 0; i < std::min(all.size(), kShown); ++i) {
    seen.evidence.push_back(evidence(all[i].series, all[i].first_step, all[i].last_step, all[i].count, 0,
                                     number(all[i].count) + " of " + number(all[i].points) +
                                         " values are not finite, the first at " + at_step(all[i].first_step)));
  }
  return seen;
}

}  // namespace

Finding gradient_nonfinite() {
  return {"gradient-nonfinite",
          "Gradients are NaN or infinite",
          {Need::layer, Need::curve, Need::live},
          kDoc,
          {{"settling", 20, "first values in which a loss scale is still being sought"},
           {"share", 0.05, "share of later values beyond which it is no longer the odd skipped step"},
           {"fewest", 3, "non-finite values after the first that it takes for a warning"}},
          check};
}

}  // namespace osler::catalogue
