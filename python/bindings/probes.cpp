// Probes: what their measurements mean. The training itself is run by Python; experiments go there as JSON.
#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "osler/diagnosis/report.h"
#include "osler/figures/figure.h"
#include "osler/probes/settle.h"
#include "osler/probes/treat.h"
#include "osler/run/experiment.h"
#include "probes/class_skew.h"
#include "probes/curvature_verdict.h"
#include "probes/fresh_start.h"
#include "probes/krylov.h"
#include "probes/memorising.h"
#include "probes/noise_scale.h"
#include "probes/range_verdict.h"
#include "probes/start.h"
#include "probes/surface_verdict.h"

namespace osler::python {
namespace {

namespace py = pybind11;
using Numbers = std::vector<double>;

Experiment named(const char* probe) {
  Experiment experiment;
  experiment.probe = probe;
  return experiment;
}

probes::RangeCurveOptions curve_options(double smoothing, double divergence) {
  probes::RangeCurveOptions options;
  options.smoothing = smoothing;
  options.divergence = divergence;
  return options;
}

std::string judged_range(const Numbers& rates, const std::vector<Numbers>& passes, double present, double smoothing,
                         double divergence, const std::optional<std::string>& batches) {
  Experiment experiment = named("lr-range-test");
  probes::write_range(rates, passes, present, curve_options(smoothing, divergence), batches, experiment);
  return to_json(experiment);
}

/// The judgement, and whether more gradients could decide.
std::pair<std::string, bool> judged_noise(const Numbers& products, double batch_size, double factor) {
  Experiment experiment = named("gradient-noise-scale");
  probes::write_noise_scale(products, batch_size, factor, experiment);
  return {to_json(experiment), probes::wants_more_gradients(experiment)};
}

std::string judged_sharpness(double base, double radius, double threshold, Numbers plain, Numbers filter,
                             Numbers worst) {
  Experiment experiment = named("sharpness");
  experiment.values = {{"loss", base, {}, {}}, {"radius", radius, {}, {}}};
  if (std::isfinite(base)) {
    probes::write_sharpness({radius, threshold, std::move(plain), std::move(filter), std::move(worst)}, experiment);
  } else {
    experiment.verdict = "The loss is not finite: there is no surface to measure.";
  }
  return to_json(experiment);
}

std::string judged_surface(int dimensions, double span, double base, Numbers a, Numbers b, Numbers loss) {
  Experiment experiment = named("loss-surface");
  probes::write_surface({dimensions, span, base, std::move(a), std::move(b), std::move(loss)}, experiment);
  return to_json(experiment);
}

py::tuple ends_of(const probes::Krylov& krylov) {
  const probes::KrylovEnds& ends = krylov.ends();
  return py::make_tuple(ends.lowest, ends.lowest_error, ends.highest, ends.highest_error, ends.converged,
                        ends.lowest_coordinates);
}

/// The judgement of a curvature: first what kind of place it is, then everything together.
class Curvature {
 public:
  Curvature(double loss, double norm, double signal, double weights, const probes::Krylov& krylov, double gain,
            double negative)
      : facts_{loss, norm, signal, weights, krylov.ends()}, options_{gain, negative} {}

  [[nodiscard]] bool saddle() const { return probes::ground_of(facts_, options_) == probes::Ground::saddle; }
  [[nodiscard]] std::string told(bool exact, const probes::TraceSamples& traces,
                                 const std::vector<std::pair<std::string, std::optional<double>>>& layers,
                                 bool by_chance,
                                 const std::optional<std::tuple<double, double, double, std::string>>& stability,
                                 const std::string& more) const {
    Experiment experiment = named("curvature");
    experiment.values = {{"loss", facts_.loss, {}, {}}};
    std::vector<probes::LayerCurvature> blocks;
    for (const auto& [layer, top] : layers) blocks.push_back({layer, top});
    probes::write_curvature(facts_, exact, traces, blocks, experiment);
    probes::write_ground(facts_, probes::ground_of(facts_, options_), by_chance, options_, experiment);
    if (stability) {
      const auto& [top, limit, rate, words] = *stability;
      probes::write_stability(top, limit, rate, words, experiment);
    }
    experiment.verdict += more;
    return to_json(experiment);
  }

 private:
  probes::CurvatureFacts facts_;
  probes::GroundOptions options_;
};

/// What a fresh start has left to train, as Python takes it: the factor of the rate, and whether it is regularised.
class FreshStart {
 public:
  FreshStart(const Numbers& now, const Numbers& first, double rate, std::size_t steps, double largest, bool classes)
      : trial_(probes::level_of(now), probes::level_of(first), rate, steps, largest, classes) {}

  std::optional<std::pair<double, bool>> next() {
    arm_ = trial_.next();
    if (!arm_) return std::nullopt;
    return std::pair(arm_->factor, arm_->regularised);
  }
  void trained(Numbers losses) {
    if (arm_) trial_.trained(*arm_, std::move(losses));
  }
  void nothing_to_drop() { trial_.nothing_to_drop(); }
  [[nodiscard]] std::string told() const {
    Experiment experiment = named("fresh-start");
    trial_.write(experiment);
    return to_json(experiment);
  }

 private:
  probes::FreshTrial trial_;
  std::optional<probes::FreshArm> arm_;
};

std::string judged_starts(const py::list& starts) {
  std::vector<probes::WeightStart> all;
  for (const py::handle each : starts) {
    const auto start = py::reinterpret_borrow<py::dict>(each);
    probes::WeightStart& made = all.emplace_back();
    made.name = py::cast<std::string>(start["name"]);
    made.size = py::cast<double>(start["size"]);
    made.largest = py::cast<double>(start["largest"]);
    made.rows = py::cast<double>(start["rows"]);
    made.units = py::cast<std::int64_t>(start["units"]);
    made.inputs = py::cast<double>(start["inputs"]);
    made.outputs = py::cast<double>(start["outputs"]);
    made.recurrent = py::cast<bool>(start["recurrent"]);
    made.embedding = py::cast<bool>(start["embedding"]);
    made.vector = py::cast<bool>(start["vector"]);
  }
  Experiment experiment = named("initialisation-check");
  probes::write_starts(all, experiment);
  return to_json(experiment);
}

std::string concluded(const std::string& json) {
  Experiment experiment = taken(experiment_from_json(json));
  probes::conclude_checkup(experiment);
  return to_json(experiment);
}

std::string written(const probes::MemoryGoal& goal, const Numbers& losses) {
  Experiment experiment = named("overfit-one-batch");
  goal.write(losses, experiment);
  return to_json(experiment);
}

py::dict told(const probes::Settled& settled) {
  py::list tests;
  for (const probes::Tested& tested : settled.tests) {
    py::list shifts;
    for (const probes::OddsShift& shift : tested.shifts) {
      shifts.append(py::make_tuple(shift.cause, shift.before, shift.after));
    }
    tests.append(py::make_tuple(to_json(tested.experiment), tested.between, tested.cost, shifts));
  }
  py::dict told;
  told["before"] = std::make_shared<Report>(settled.before);
  told["report"] = std::make_shared<Report>(settled.report);
  told["tests"] = tests;
  told["budget"] = settled.budget;
  told["cost"] = settled.cost;
  told["ended"] = settled.ended;
  told["text"] = describe(settled);
  return told;
}

using RunProbe = std::function<std::pair<std::string, std::int64_t>(const std::string&, std::int64_t, std::int64_t)>;

py::dict settled(const RunProbe& run, const std::function<void(const std::string&)>& record,
                 const std::function<std::shared_ptr<Report>()>& weigh, const std::function<std::string()>& ended,
                 std::int64_t steps, double share, std::optional<std::int64_t> passes, double lead) {
  probes::SettleMeans means;
  means.run = [&](std::string_view probe, std::int64_t wanted, std::int64_t left) {
    const auto [json, cost] = run(std::string(probe), wanted, left);
    return probes::SettleMeans::Spent{taken(experiment_from_json(json)), cost};
  };
  means.record = [&](const Experiment& experiment) { record(to_json(experiment)); };
  means.weigh = [&] { return *weigh(); };
  means.ended = ended;
  probes::SettleOptions options;
  options.share = share;
  options.steps = passes;
  options.lead = lead;
  return told(probes::settle(means, steps, options));
}

using Change = std::tuple<std::string, std::string, std::string>;

Change change_of(const Remedy::Change& change) {
  return {change.name, change.from, change.to};
}

py::dict treated(const Report& report, const std::function<bool(const Change&)>& can_apply,
                 const std::function<std::pair<double, std::shared_ptr<Report>>(const std::vector<Change>&)>& run,
                 std::size_t causes, std::size_t trials, double improvement) {
  probes::Forks forks;
  forks.can_apply = [&](const Remedy::Change& change) { return can_apply(change_of(change)); };
  forks.run = [&](const probes::Changes& changes) {
    std::vector<Change> plain;
    for (const Remedy::Change& change : changes) plain.push_back(change_of(change));
    const auto [loss, after] = run(plain);
    return probes::Fork{loss, after ? *after : Report{}};
  };
  const probes::Cure cure = probes::treat(report, forks, {causes, trials, improvement});
  py::list tried;
  for (const probes::Trial& trial : cure.trials) {
    tried.append(py::make_tuple(trial.cause, trial.remedy, change_of(trial.change), trial.before, trial.after,
                                trial.kept, trial.why));
  }
  py::list kept;
  for (const Remedy::Change& change : cure.kept) kept.append(change_of(change));
  py::dict told;
  told["untreated"] = cure.untreated;
  told["treated"] = cure.treated;
  told["kept"] = kept;
  told["trials"] = tried;
  told["for_a_person"] = cure.for_a_person;
  return told;
}

std::string experiment_svg(const std::string& json, int width) {
  const Experiment experiment = taken(experiment_from_json(json));
  FigureStyle style;
  style.width = width;
  return taken(render(taken(experiment_figure(experiment)), FigureType::svg, style));
}

std::vector<std::string> experiments_in(const Run& run) {
  std::vector<std::string> found;
  for (const Experiment& experiment : experiments(run)) found.push_back(to_json(experiment));
  return found;
}

void add_parts(py::module_& module) {
  py::class_<probes::Divergence>(module, "Divergence")
      .def(py::init(
          [](double smoothing, double divergence) { return probes::Divergence(curve_options(smoothing, divergence)); }))
      .def("add", &probes::Divergence::add);
  py::class_<probes::ClassSkew>(module, "ClassSkew")
      .def(py::init<std::optional<std::int64_t>>())
      .def("add", &probes::ClassSkew::add)
      .def("problem", &probes::ClassSkew::problem);
  py::class_<probes::Krylov>(module, "Krylov")
      .def(py::init<std::size_t, double>())
      .def("add", &probes::Krylov::add)
      .def("ends", &ends_of);
  py::class_<Curvature>(module, "Curvature")
      .def(py::init<double, double, double, double, const probes::Krylov&, double, double>())
      .def("saddle", &Curvature::saddle)
      .def("told", &Curvature::told);
  py::class_<FreshStart>(module, "FreshStart")
      .def(py::init<const Numbers&, const Numbers&, double, std::size_t, double, bool>())
      .def("next", &FreshStart::next)
      .def("trained", &FreshStart::trained)
      .def("nothing_to_drop", &FreshStart::nothing_to_drop)
      .def("told", &FreshStart::told);
  py::class_<probes::MemoryGoal>(module, "MemoryGoal")
      .def(py::init(&probes::MemoryGoal::towards))
      .def_readwrite("target", &probes::MemoryGoal::target)
      .def("reached", [](const probes::MemoryGoal& goal, const Numbers& losses) { return goal.reached(losses); })
      .def("still_falls", [](const probes::MemoryGoal& goal, const Numbers& losses,
                             std::size_t steps) { return goal.still_falls(losses, steps); })
      .def("went_wild", [](const probes::MemoryGoal& goal, const Numbers& losses) { return goal.went_wild(losses); })
      .def("written", &written);
}

}  // namespace

void add_probes(py::module_& module) {
  add_parts(module);
  module.def("range_rates", &probes::range_rates);
  module.def("judge_range", &judged_range);
  module.def("judge_noise", &judged_noise);
  module.def("judge_sharpness", &judged_sharpness);
  module.def("judge_surface", &judged_surface);
  module.def("judge_starts", &judged_starts);
  module.def("conclude_checkup", &concluded);
  module.def("most_vectors", &probes::most_vectors);
  module.def("squared_signal", &probes::squared_signal);
  module.def("bends_down", &probes::bends_down);
  module.def("falls_without_end", [](const Numbers& losses) { return probes::falls_without_end(losses); });
  module.def("settle", &settled);
  module.def("treat", &treated);
  module.def("experiment_key", [](const std::string& probe) { return experiment_key(probe); });
  module.def("experiment_svg", &experiment_svg);
  module.def("experiments", &experiments_in);
}

}  // namespace osler::python
