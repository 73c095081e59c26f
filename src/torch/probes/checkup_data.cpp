// The checkup's points about the data and what surrounds the model.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "osler/run/role.h"
#include "osler/torch/batch_check.h"
#include "probes/class_skew.h"
#include "torch/probes/checkup_points.h"
#include "torch/probes/parameters.h"

namespace osler::torch {
namespace {

PointResult inputs_finite(Examined& examined) {
  std::size_t looked = 0;
  for (const auto* batches : {&examined.batches, &examined.validation}) {
    for (const Batch& batch : *batches) {
      const BatchReport report = validate_batch(batch.inputs);
      if (report.nonfinite > 0) {
        return bad(fmt::format("{} of {} values of a {} batch are NaN or infinite.", report.nonfinite, report.inputs,
                               batches == &examined.batches ? "training" : "validation"));
      }
      ++looked;
    }
  }
  return good(fmt::format("The inputs of {} batches are finite.", looked));
}

/// Mean and standard deviation of all inputs of some batches, feature by feature along the second dimension.
struct Scale {
  double mean = 0;
  double std = 0;
  double smallest_feature = 0;  ///< standard deviations of single features
  double largest_feature = 0;
};

Scale scale_of(const std::vector<Batch>& batches) {
  std::vector<at::Tensor> all;
  for (const Batch& batch : batches) all.push_back(batch.inputs.detach().to(at::kCPU).to(at::kDouble));
  const at::Tensor inputs = at::cat(all);
  Scale scale;
  scale.mean = inputs.mean().item<double>();
  scale.std = inputs.std(false).item<double>();
  if (inputs.dim() == 2 && inputs.size(1) > 1) {
    const at::Tensor features = inputs.std(0, false);
    const at::Tensor alive = features.masked_select(features.gt(0));
    if (alive.numel() > 0) {
      scale.smallest_feature = alive.min().item<double>();
      scale.largest_feature = alive.max().item<double>();
    }
  }
  return scale;
}

PointResult normalisation(Examined& examined) {
  if (!examined.batches.front().inputs.is_floating_point())
    return good("Inputs are whole numbers: nothing to normalise.");
  constexpr double kFarMean = 3;  // seeds: mean near 0, deviation near 1
  constexpr double kLargestStd = 10;
  constexpr double kSmallestStd = 0.05;
  constexpr double kFeatures = 1000;  // between the widest and the narrowest feature
  const Scale scale = scale_of(examined.batches);
  const std::string text = fmt::format("Inputs have mean {:.3g} and standard deviation {:.3g}", scale.mean, scale.std);
  if (std::abs(scale.mean) > kFarMean || scale.std > kLargestStd || scale.std < kSmallestStd) {
    return bad(text + ": they are not normalised.");
  }
  if (scale.largest_feature > kFeatures * scale.smallest_feature) {
    return bad(fmt::format("{}; single features range from {:.2g} to {:.2g}.", text, scale.smallest_feature,
                           scale.largest_feature));
  }
  if (examined.validation.empty()) return good(text + ".");
  const Scale other = scale_of(examined.validation);
  const bool alike =
      std::abs(other.mean - scale.mean) < 0.5 * scale.std && other.std < 2 * scale.std && other.std > 0.5 * scale.std;
  if (alike) return good(text + "; validation inputs are alike.");
  return bad(fmt::format("{}, but {:.3g} and {:.3g} for validation: it is prepared differently.", text, other.mean,
                         other.std));
}

PointResult labels(Examined& examined) {
  if (!examined.batches.front().targets.defined()) return not_checked("There are no targets.");
  std::size_t constant = 0;
  for (const auto* batches : {&examined.batches, &examined.validation}) {
    for (const Batch& batch : *batches) {
      const BatchReport report = label_report(batch.targets, examined.training.classes);
      if (report.invalid_labels > 0) {
        return bad(fmt::format("{} of {} labels of a batch are NaN, fractional, negative or beyond the classes.",
                               report.invalid_labels, report.labels));
      }
      if (report.constant_label) ++constant;
    }
  }
  const std::size_t all = examined.batches.size() + examined.validation.size();
  if (2 * constant > all) return bad(fmt::format("In {} of {} batches all labels are the same.", constant, all));
  return good(fmt::format("The labels of {} batches are valid.", all));
}

PointResult batches_shuffled(Examined& examined) {
  BatchChecker checker;
  probes::ClassSkew skew(examined.training.classes);
  for (const Batch& batch : examined.batches) {
    const BatchReport report = checker.check(batch.inputs);
    if (report.identical_samples) return bad("All samples of a batch are the same.");
    if (report.repeated) return bad("The same batch comes again and again.");
    if (const auto labels = class_labels(batch); !labels.empty()) skew.add(labels);
  }
  if (const auto problem = skew.problem()) return bad(*problem);
  return good(fmt::format("{} batches differ, and their classes as chance would have it.", examined.batches.size()));
}

PointResult disjoint_splits(Examined& examined) {
  if (examined.validation.empty()) return not_checked("Training::next_validation_batch is not set.");
  const auto hashes = [](const std::vector<Batch>& batches) {
    std::vector<std::uint64_t> all;
    for (const Batch& batch : batches) {
      const std::vector<std::uint64_t> some = sample_hashes(batch.inputs);
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  };
  const std::vector<std::uint64_t> training = hashes(examined.batches);
  const std::vector<std::uint64_t> validation = hashes(examined.validation);
  const double shared = shared_samples(training, validation);
  if (shared > 0)
    return bad(fmt::format("{:.3g} % of the validation samples are among the training samples.", 100 * shared));
  return good(
      fmt::format("None of {} validation samples is among {} training samples.", validation.size(), training.size()));
}

PointResult validation_not_augmented(Examined& examined) {
  if (!examined.options.load_validation) return not_checked("CheckupOptions::load_validation is not set.");
  const std::vector<std::uint64_t> first = sample_hashes(examined.options.load_validation());
  const std::vector<std::uint64_t> second = sample_hashes(examined.options.load_validation());
  const double changed = changed_samples(first, second);
  if (changed > 0) {
    return bad(fmt::format("{:.3g} % of the validation samples differ when they are loaded again: augmentation is on.",
                           100 * changed));
  }
  return good(fmt::format("{} validation samples are the same when they are loaded again.", first.size()));
}

/// Learning rates of the next steps of the schedule.
std::vector<double> rates_ahead(const Examined& examined) {
  constexpr int kSteps = 5;
  std::vector<double> rates;
  for (int i = 0; i < kSteps; ++i) {
    examined.options.checkpoint.advance_schedule();
    for (const auto& group : examined.training.optimizer.param_groups()) rates.push_back(group.options().get_lr());
  }
  return rates;
}

PointResult scheduler_in_checkpoint(Examined& examined) {
  const CheckpointTrial& trial = examined.options.checkpoint;
  if (!trial.save || !trial.load) return not_checked("CheckupOptions::checkpoint is not set.");
  if (!trial.advance_schedule)
    return not_checked("CheckpointTrial::advance_schedule is not set: there is no schedule.");
  trial.save();
  const std::vector<double> straight = rates_ahead(examined);
  trial.load();
  const std::vector<double> resumed = rates_ahead(examined);
  trial.load();
  if (straight == resumed) return good("After a load the schedule goes on where it was saved.");
  const auto [there, here] = std::mismatch(straight.begin(), straight.end(), resumed.begin());
  return bad(
      fmt::format("After a load the learning rate is {:.3g} where it was {:.3g}: the schedule's state is not in the "
                  "checkpoint.",
                  *here, *there));
}

PointResult learning_rate_logged(Examined& examined) {
  if (examined.options.recorded == nullptr) return not_checked("CheckupOptions::recorded is not set.");
  const auto roles = RoleMap::infer(*examined.options.recorded);
  const Series* loss = roles ? roles->first(Role::train_loss) : nullptr;
  const Series* rate = roles ? roles->first(Role::learning_rate) : nullptr;
  if (rate == nullptr) return bad("The run has no series for the learning rate.");
  if (loss == nullptr) return not_checked("The run has no training loss to compare with.");
  const auto points = [](const Series& series) {
    const auto total = series.summary().total();
    return total ? total->points() : 0;
  };
  const std::uint64_t steps = points(*loss);
  const std::uint64_t rates = points(*rate);
  const std::string text = fmt::format("{} has {} points, {} has {}.", rate->name(), rates, loss->name(), steps);
  return rates >= steps ? good(text) : bad(text + " The learning rate is not logged at every step.");
}

}  // namespace

const std::vector<CheckupPoint>& data_points() {
  static const std::vector<CheckupPoint> all = {
      {"inputs-finite", inputs_finite},
      {"normalisation", normalisation},
      {"labels", labels},
      {"batches-shuffled", batches_shuffled},
      {"disjoint-splits", disjoint_splits},
      {"validation-not-augmented", validation_not_augmented},
      {"scheduler-in-checkpoint", scheduler_in_checkpoint},
      {"learning-rate-logged", learning_rate_logged},
  };
  return all;
}

}  // namespace osler::torch
