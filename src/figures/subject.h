// Subject: a run as the figures see it: its roles, its layers, the steps to show.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/layers.h"
#include "osler/diagnosis/catalogue.h"
#include "osler/figures/figure.h"

namespace osler::figure {

/// A run with what was said and asked of it. Points into run, report and wish, which must outlive it.
class Subject {
 public:
  /// Fails when the wish names a series or a window that does not exist.
  [[nodiscard]] static Result<Subject> of(const Run& run, const Report& report, const FigureWish& wish);

  [[nodiscard]] const Run& run() const { return run_; }
  [[nodiscard]] const Report& report() const { return report_; }
  [[nodiscard]] const FigureWish& wish() const { return wish_; }
  [[nodiscard]] const RoleMap& roles() const { return roles_; }
  [[nodiscard]] std::int64_t first_step() const { return first_step_; }
  [[nodiscard]] std::int64_t last_step() const { return last_step_; }

  /// The part of a series that is to be shown.
  [[nodiscard]] std::vector<Bucket> shown(const Series& series) const;
  [[nodiscard]] Line line(const Series& series) const;
  /// The role that a series plays.
  [[nodiscard]] Role role_of(const Series& series) const;
  /// The layers that have something in a layer role, from input to output; without biases where there are weights.
  [[nodiscard]] std::vector<Layer> layers(Role role) const;

  /// A figure with everything but its panels: title, findings, restarts.
  [[nodiscard]] Figure blank(std::string title) const;

 private:
  Subject(const Run& run, const Report& report, const FigureWish& wish, RoleMap roles);

  const Run& run_;
  const Report& report_;
  const FigureWish& wish_;
  RoleMap roles_;
  std::int64_t first_step_ = 0;
  std::int64_t last_step_ = 0;
};

/// A finding as a pointer.
[[nodiscard]] Pointer pointer_to(const Observation& finding);
/// Restarts and crashes as pointers.
[[nodiscard]] std::vector<Pointer> pointers_to(const std::vector<Mark>& marks);

/// Series that are drawn together because their values compare: all losses, all accuracies.
enum class Family { loss, accuracy, metric, gradient, rate, reward, layer, alone };
[[nodiscard]] Family family_of(Role role);

/// What the series of one family are called above their panel.
[[nodiscard]] std::string heading_of(Role role);

/// The panel of a family, from everything the run has of it; no lines when it has nothing. `first` are shown in any
/// case and before the others.
[[nodiscard]] Panel family_panel(const Subject& subject, Family family, const std::vector<const Series*>& first = {});
/// One or more series in a panel.
[[nodiscard]] Panel series_panel(const Subject& subject, const std::vector<const Series*>& series, std::string heading);

/// The layers' statistic as curves, coloured by depth. With `sick`, those layers alone are coloured and the rest is
/// context.
[[nodiscard]] Panel layer_panel(const Subject& subject, Role role, const std::set<std::string>& sick = {});
/// The same as a heat map.
[[nodiscard]] Panel layer_map(const Subject& subject, Role role);

/// "Gradient of each layer: norm".
[[nodiscard]] std::string layer_heading(const std::vector<Layer>& layers, Role role);
/// The statistic of a layer that a figure shows, or nullptr.
[[nodiscard]] const Series* shown_statistic(const Layer& layer, Role role);

}  // namespace osler::figure
