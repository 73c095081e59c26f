// The seeds' tables, row by row: a run that shows the row, the finding that must be reported, the cause that must lead.
// "course" is the table of common training failures; "symptoms", "curves", "loss and accuracy", "clipping", "gradient
// norms" and "interview" are sections of the long lesson; "ranges" is the debugging page's table of healthy ranges. The
// scene that the long lesson opens with is drawn several times, and so is its sixth curve.
#include <gmock/gmock.h>

#include <limits>
#include <numbers>

#include "diagnosis/sample_run.h"
#include "osler/diagnosis/diagnose.h"

namespace osler {
namespace {

using sample::curve;
using sample::descent;
using sample::Noise;
using sample::noisy;
using sample::record;
using sample::Values;

/// One row of a table.
struct Row {
  std::string name;
  std::string finding;              // empty: nothing worth a warning
  std::vector<std::string> causes;  // any of them must be first; empty: the table names none
  std::function<void(Run&)> log;
  std::size_t places = 1;  // among the first so many causes
};

std::ostream& operator<<(std::ostream& out, const Row& row) {
  return out << row.name;
}

constexpr std::size_t kRows = 200;

Values constant(double value) {
  return Values(kRows, value);
}

Values norms(double level, std::uint32_t seed = 5) {
  return noisy(kRows, 0.15, seed, [&](double) { return level; });
}

void explode_into_nan(Run& run) {
  Values loss = noisy(kRows, 0.02, 1, [](double x) { return descent(x) * (x < 0.6 ? 1 : std::exp(25 * (x - 0.6))); });
  Values norm = noisy(kRows, 0.1, 2, [](double x) { return x < 0.55 ? 1 : std::exp(35 * (x - 0.55)); });
  for (std::size_t i = 170; i < kRows; ++i) loss[i] = norm[i] = std::numeric_limits<double>::quiet_NaN();
  record(run, "train/loss", loss);
  record(run, "grad_norm", norm);
  record(run, "lr", constant(1e-3));
}

void vanish(Run& run) {
  record(run, "train/loss", noisy(kRows, 0.002, 3, [](double) { return std::log(10.0); }));
  record(run, "grad_norm", noisy(kRows, 0.2, 4, [](double) { return 3e-9; }));
  record(run, "lr", constant(1e-3));
}

void overfit(Run& run) {
  record(run, "train/loss", noisy(60, 0.01, 5, [](double x) { return 0.05 + 1.9 * std::exp(-5 * x); }));
  record(run, "val/loss", noisy(60, 0.01, 6, [](double x) { return 0.9 + std::exp(-9 * x) + 0.8 * x * x; }));
}

void swing(Run& run, double from, double rate) {
  record(run, "train/loss", noisy(kRows, 0.02, 7, [&](double x) {
           const double base = 0.6 + 1.4 * std::exp(-15 * x);
           return base * (1 + (x < from ? 0 : 0.4) * std::sin(250 * x));
         }));
  record(run, "lr", constant(rate));
}

void crawl(Run& run) {
  record(run, "train/loss", noisy(kRows, 0.003, 8, [](double x) { return 2.3 - 0.12 * x; }));
  record(run, "lr", constant(1e-7));
}

void nan_at_once(Run& run) {
  Values loss = constant(std::numeric_limits<double>::quiet_NaN());
  loss[0] = 2.4;
  loss[1] = 9.6;
  loss[2] = 4.1e4;
  record(run, "train/loss", loss);
  record(run, "lr", constant(1.0));
}

void stuck(Run& run, double rate) {
  record(run, "train/loss", noisy(kRows, 0.002, 9, [](double) { return std::log(10.0); }));
  record(run, "lr", constant(rate));
}

void stop_with_the_rate(Run& run) {
  record(run, "train/loss", noisy(kRows, 0.005, 10, [](double x) { return 1.1 + 1.2 * std::exp(-60 * x); }));
  record(run, "lr", curve(kRows, [](double x) { return 1e-3 * std::exp(-70 * x); }));
}

void underfit(Run& run) {
  const auto level = [](double x) { return 1.7 + 0.6 * std::exp(-15 * x); };
  record(run, "train/loss", noisy(60, 0.004, 11, level));
  record(run, "val/loss", noisy(60, 0.004, 12, [&](double x) { return 1.01 * level(x); }));
  record(run, "val/acc", noisy(60, 0.01, 13, [](double x) { return 0.38 - 0.25 * std::exp(-15 * x); }));
}

/// Both losses high and alike for most of the run, in a log without a learning rate.
void underfit_without_rate(Run& run, std::uint32_t seed, double bend) {
  const auto level = [&](double x) { return 1.7 + 0.6 * std::exp(-bend * x); };
  record(run, "train/loss", noisy(60, 0.004, seed, level));
  record(run, "val/loss", noisy(60, 0.004, seed + 1, [&](double x) { return 1.01 * level(x); }));
  record(run, "val/acc", noisy(60, 0.01, seed + 2, [&](double x) { return 0.38 - 0.25 * std::exp(-bend * x); }));
}

/// The night before the review: validation has stood at 2.341 for the last third, the rate is still at work. Training
/// falls on by `fall` over the whole run; validation scatters by `scatter`, or else repeats itself.
void production(Run& run, std::uint32_t seed, double fall, double scatter, bool rate = true) {
  constexpr std::size_t kSteps = 400;
  constexpr std::size_t kEvaluations = 80;
  const double descent = 2 + 0.5 * (seed % 5);
  const auto level = [&](double x) { return descent * std::exp(-7 * x); };
  record(run, "train/loss", noisy(kSteps, 0.02, seed, [&](double x) { return 2.31 + level(x) - fall * x; }),
         {.first = 20, .stride = 20});
  Noise noise(seed + 1);
  record(run, "val/loss",
         curve(kEvaluations,
               [&](double x) {
                 const double value = 2.341 + std::max(level(x) - level(2.0 / 3), 0.0) +
                                      (x < 2.0 / 3 ? 0.0006 : scatter) * noise.normal();
                 return std::round(1000 * value) / 1000;
               }),
         {.first = 100, .stride = 100});
  record(run, "grad_norm", noisy(kSteps, 0.15, seed + 2, [](double) { return 0.7; }), {.first = 20, .stride = 20});
  if (!rate) return;
  record(run, "lr", curve(kSteps, [](double x) { return 2.3e-5 * (1 + std::cos(0.4 * std::numbers::pi * x)); }),
         {.first = 20, .stride = 20});
}

void contradict(Run& run) {
  record(run, "train/loss", noisy(60, 0.01, 14, descent));
  record(run, "val/loss", noisy(60, 0.01, 15, [](double x) { return 0.1 + descent(x); }));
  record(run, "val/f1", noisy(60, 0.01, 16, [](double x) { return 0.8 - 0.4 * x; }));
}

void diverge(Run& run) {
  record(run, "train/loss", noisy(kRows, 0.02, 17, [](double x) {
           return descent(x) + (x < 0.5 ? 0 : 30 * (1 - std::exp(-20 * (x - 0.5))));
         }));
  record(run, "lr", constant(0.5));
}

/// Loss and accuracies of both splits, `loss` and `accuracy` for each.
void classify(Run& run, const std::function<double(double)>& loss, const std::function<double(double)>& accuracy) {
  record(run, "train/loss", noisy(80, 0.004, 18, loss));
  record(run, "train/acc", noisy(80, 0.004, 19, accuracy));
  record(run, "val/loss", noisy(80, 0.004, 20, loss));
  record(run, "val/acc", noisy(80, 0.004, 21, accuracy));
}

void clip(Run& run, double norm) {
  record(run, "train/loss", noisy(kRows, 0.01, 22, descent));
  record(run, "grad_norm", norms(norm));
  record(run, "max_grad_norm", constant(1.0));
}

/// Norms of eight layers from the first to the last.
void layers(Run& run, const std::function<double(std::size_t)>& norm) {
  record(run, "train/loss", noisy(kRows, 0.003, 23, [](double) { return 2.3; }));
  for (std::size_t i = 0; i < 8; ++i) {
    record(run, "grad_norm/layers." + std::to_string(i) + ".weight",
           noisy(kRows, 0.1, 24 + static_cast<std::uint32_t>(i), [&](double) { return norm(i); }));
  }
}

void weights(Run& run, const std::function<double(double)>& norm) {
  record(run, "train/loss", noisy(kRows, 0.01, 40, descent));
  for (std::size_t i = 0; i < 4; ++i) {
    record(run, "weights/layers." + std::to_string(i) + ".weight#norm",
           noisy(kRows, 0.01, 41 + static_cast<std::uint32_t>(i), [&](double x) { return i == 2 ? norm(x) : 12.0; }));
  }
}

void erratic_validation(Run& run) {
  record(run, "train/loss", noisy(80, 0.02, 50, [](double x) { return 1.6 - 0.3 * x; }));
  record(run, "val/loss",
         curve(80, [noise = sample::Noise(51)](double) mutable { return 1.8 * std::exp(0.8 * noise.normal()); }));
}

void widen_late(Run& run) {
  sample::Noise noise(60);
  record(run, "train/loss", curve(400, [&](double x) {
           return (0.5 + 1.8 * std::exp(-15 * x)) * (1 + (x < 0.67 ? 0.02 : 0.2) * noise.normal());
         }));
  record(run, "lr", constant(1e-3), {0, 2});
}

std::vector<Row> rows() {
  const std::vector<std::string> exploding = {"exploding-signal", "no-clipping", "lr-too-high"};
  return {
      {"course_nan", "loss-nonfinite-later", exploding, explode_into_nan},
      {"course_constant", "vanishing-gradients", {"vanishing-signal"}, vanish},
      {"course_validation_rises", "overfitting", {"too-little-data", "model-too-large"}, overfit},
      {"course_oscillates", "loss-oscillating", {"lr-too-high"}, [](Run& run) { swing(run, 0, 0.5); }},
      {"course_very_slow", "loss-too-slow", {"lr-too-low"}, crawl},
      {"symptoms_nan_at_once", "loss-nonfinite-at-start", {"lr-too-high", "log-of-zero"}, nan_at_once},
      {"symptoms_nan_later", "loss-nonfinite-later", exploding, explode_into_nan},
      {"symptoms_stuck_usual_rate",
       "loss-stuck-from-start",
       {"bad-initialization", "wrong-labels"},
       [](Run& run) { stuck(run, 1e-3); }},
      {"symptoms_stuck_tiny_rate", "loss-stuck-from-start", {"lr-too-low"}, [](Run& run) { stuck(run, 1e-9); }},
      {"symptoms_stuck_after_drop", "loss-stuck-after-drop", {"lr-decayed-too-fast"}, stop_with_the_rate},
      {"symptoms_both_high", "underfitting", {"model-too-small", "too-much-regularization"}, underfit},
      {"symptoms_metric_bad", "metric-contradicts-loss", {"metric-bug"}, contradict},
      {"curves_healthy", "", {}, [](Run& run) { record(run, "train/loss", noisy(kRows, 0.02, 70, descent)); }},
      {"curves_exploding", "loss-diverging", {"lr-too-high"}, diverge},
      {"curves_oscillating_late", "loss-oscillating", {"lr-too-high"}, [](Run& run) { swing(run, 0.5, 0.1); }},
      {"accuracy_stalls",
       "confidence-without-learning",
       {"label-smoothing", "class-imbalance"},
       // No lower: a loss below (1 - 0.4) ln 2 would prove that the accuracy is computed wrongly.
       [](Run& run) {
         classify(
             run, [](double x) { return 0.6 + 1.7 * std::exp(-4 * x); }, [](double) { return 0.4; });
       }},
      {"accuracy_first",
       "accuracy-outruns-loss",
       {"label-smoothing", "wrong-loss-function"},
       [](Run& run) {
         classify(
             run, [](double x) { return 0.9 + 0.8 * std::exp(-15 * x); }, [](double x) { return 0.4 + 0.4 * x; });
       }},
      {"accuracy_flat_loss_rises",
       "overconfidence",
       {"too-little-data", "model-too-large"},
       [](Run& run) {
         overfit(run);
         record(run, "val/acc", noisy(60, 0.003, 71, [](double x) { return 0.8 - 0.5 * std::exp(-30 * x); }));
       }},
      {"clipping_always",
       "clipping-always",
       {"clip-threshold-too-small", "lr-too-high"},
       [](Run& run) { clip(run, 15); }},
      {"clipping_never", "clipping-never", {}, [](Run& run) { clip(run, 0.001); }},
      {"norms_fade_with_depth",
       "vanishing-by-depth",
       {"vanishing-signal"},
       [](Run& run) { layers(run, [](std::size_t i) { return 1e-8 * std::pow(10, static_cast<double>(i)); }); }},
      {"norms_dead_layer",
       "dead-layer",
       {"disconnected-graph", "dead-units"},
       [](Run& run) { layers(run, [](std::size_t i) { return i == 3 ? 0.0 : 0.3; }); }},
      {"norms_bounce",
       "gradient-norm-oscillating",
       {"lr-too-high"},
       [](Run& run) {
         record(run, "train/loss", noisy(kRows, 0.01, 72, descent));
         bool high = false;
         record(run, "grad_norm", noisy(kRows, 0.1, 73, [&](double) { return (high = !high) ? 8 : 0.3; }));
       }},
      {"interview_wrong_mode", "loss-oscillating", {"eval-mode-left-on"}, erratic_validation, 3},
      {"ranges_weights_explode",
       "weight-norm-exploding",
       {"lr-too-high", "exploding-signal"},
       [](Run& run) { weights(run, [](double x) { return 12 * std::exp(9 * x); }); }},
      {"ranges_weights_collapse",
       "weight-norm-collapsing",
       {"too-much-regularization"},
       [](Run& run) { weights(run, [](double x) { return 12 * std::exp(-9 * x); }); }},
      {"ranges_variance_grows_late",
       "late-loss-variance",
       {"lr-too-high", "batch-too-small", "sharp-minimum"},
       widen_late},
  };
}

class SeedRow : public testing::TestWithParam<Row> {};

TEST_P(SeedRow, IsAnswered) {
  osler::Run run;
  GetParam().log(run);
  const Result<Report> report = diagnose(run);
  ASSERT_TRUE(report);
  std::vector<std::string> seen;
  for (const Observation& observation : report->findings) {
    if (GetParam().finding.empty() && observation.severity == Severity::note) continue;
    seen.push_back(observation.finding);
  }
  if (GetParam().finding.empty()) {
    EXPECT_THAT(seen, testing::IsEmpty());
    return;
  }
  EXPECT_THAT(seen, testing::Contains(GetParam().finding));
  if (GetParam().causes.empty()) return;
  std::vector<std::string> leading;
  for (const WeighedCause& cause : report->causes) {
    if (leading.size() < GetParam().places) leading.push_back(cause.cause);
  }
  EXPECT_THAT(leading, testing::Contains(testing::AnyOfArray(GetParam().causes)));
}

std::vector<Row> draws() {
  std::vector<Row> drawn;
  const auto add = [&](const std::string& name, const std::string& finding, const std::vector<std::string>& causes,
                       const std::function<void(Run&)>& log) {
    drawn.push_back({name, finding, causes, log, 2});
  };
  for (const std::uint32_t seed : {101U, 202U, 303U}) {
    const std::string draw = "_" + std::to_string(seed);
    for (const std::string cause : {"stale-checkpoint", "validation-pipeline-bug"}) {
      const std::string name = "frozen_" + cause.substr(0, 5) + draw;
      add(name + "_falling", "validation-frozen", {cause}, [=](Run& run) { production(run, seed, 0.12, 0); });
      add(name + "_resting", "validation-frozen", {cause}, [=](Run& run) { production(run, seed, 0, 0); });
      add(name + "_no_rate", "validation-frozen", {cause}, [=](Run& run) { production(run, seed, 0.12, 0, false); });
    }
    add("standing" + draw, "loss-plateau", {"converged"}, [=](Run& run) { production(run, seed, 0.15, 0.0006); });
    for (const double bend : {6.0, 15.0, 60.0}) {
      const std::string name = "underfit_no_rate_" + std::to_string(static_cast<int>(bend)) + draw;
      drawn.push_back(
          {name, "underfitting", {"model-too-small"}, [=](Run& run) { underfit_without_rate(run, seed, bend); }});
    }
  }
  return drawn;
}

INSTANTIATE_TEST_SUITE_P(Draws, SeedRow, testing::ValuesIn(draws()),
                         [](const testing::TestParamInfo<Row>& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(Tables, SeedRow, testing::ValuesIn(rows()),
                         [](const testing::TestParamInfo<Row>& row) { return row.param.name; });

}  // namespace
}  // namespace osler
