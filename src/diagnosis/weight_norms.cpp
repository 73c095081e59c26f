// Reading the course of weight norms.
#include "diagnosis/weight_norms.h"

#include <algorithm>
#include <cmath>

#include "diagnosis/layers.h"
#include "signal/robust.h"

namespace osler {

WeightCourses weight_courses(const Patient& patient, double fewest) {
  WeightCourses courses;
  std::vector<double> early_sizes;
  for (const Layer& layer : layers_in(patient, Role::layer_weight)) {
    const Series* series = layer.find({"norm", "std"});
    if (series == nullptr) continue;
    const signal::Curve curve = layer_curve(*series);
    const std::size_t n = curve.size();
    if (static_cast<double>(n) < fewest) continue;
    const Bucket total = *series->summary().total();
    WeightCourse course;
    course.layer = layer.name;
    course.series = series->name();
    const std::size_t tenth = std::max<std::size_t>(1, n / 10);
    course.early = signal::median(std::span(curve.value).first(tenth));
    course.late = signal::median(std::span(curve.value).last(tenth));
    const double before = signal::median(std::span(curve.value).subspan(2 * n / 3 - tenth / 2, tenth));
    course.last_third = before > 0 ? course.late / before : 1;
    const std::vector<Point> recent = series->summary().recent();
    course.ends_nonfinite = !recent.empty() && !std::isfinite(recent.back().value);
    std::vector<double> logarithm(curve.value.begin() + static_cast<std::ptrdiff_t>(n / 2), curve.value.end());
    for (double& value : logarithm) value = std::log(std::max(value, 1e-300));
    course.trend = signal::trend_of(std::span(curve.step).subspan(n / 2), logarithm);
    course.first_step = total.first_step;
    course.last_step = total.last_step;
    early_sizes.push_back(course.early);
    courses.layers.push_back(std::move(course));
  }
  if (!early_sizes.empty()) courses.usual = signal::median(early_sizes);
  return courses;
}

}  // namespace osler
