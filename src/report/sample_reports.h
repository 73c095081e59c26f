// Reports as the diagnosis would write them, for the tests of the renderers.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "osler/diagnosis/report.h"

namespace osler::samples {

/// A sketch of `columns` columns up to `last_step`; `curve` gives the mean, the band is a tenth of it either way.
inline Sketch sketch(std::string series, std::string role, int columns, std::int64_t last_step,
                     const std::function<double(double)>& curve) {
  Sketch out{std::move(series), std::move(role), {}};
  for (int i = 0; i < columns; ++i) {
    const double share = columns > 1 ? static_cast<double>(i) / (columns - 1) : 0;
    const double mean = curve(share);
    Sketch::Column column;
    column.step = static_cast<std::int64_t>(std::llround(share * static_cast<double>(last_step)));
    if (std::isfinite(mean)) {
      const double spread = 0.1 * std::fabs(mean) * (1 + std::sin(i * 12.9898) * 0.5);
      column.low = mean - spread;
      column.high = mean + spread;
      column.mean = mean;
    } else {
      column.low = column.high = column.mean = std::numeric_limits<double>::quiet_NaN();
      column.nonfinite = 25;
    }
    out.columns.push_back(column);
  }
  return out;
}

inline void add_unchecked(Report& report) {
  for (const char* id : {"vanishing-by-depth", "dead-layer", "poor-initialization", "weights-frozen",
                         "updates-too-small", "updates-too-large", "gradients-mostly-zero"}) {
    report.checks_not_run.push_back({id, "the log has no statistics per layer"});
  }
  for (const char* id : {"dead-neurons", "saturated-activations", "collapsed-representation"}) {
    report.checks_not_run.push_back({id, "the log has no statistics of activations"});
  }
  for (const char* id : {"batch-nonfinite", "labels-invalid", "class-imbalance", "split-overlap"}) {
    report.checks_not_run.push_back({id, "the data is not at hand"});
  }
  report.checks_not_run.push_back({"clipping-always", "no clipping threshold in the log"});
  report.checks_not_run.push_back({"loss-scale-collapsing", "no loss scale in the log"});
}

inline Report base(std::string name) {
  Report report;
  report.run_name = std::move(name);
  report.sources = {report.run_name + "/metrics.csv"};
  report.format = "csv";
  report.steps = {0, 9999, 10000};
  report.checks_ran = {"loss-nonfinite-at-start", "loss-nonfinite-later", "loss-diverging",
                       "loss-stuck-from-start",   "loss-oscillating",     "overfitting",
                       "vanishing-gradients",     "exploding-gradients"};
  report.roles = {{"train-loss", {"train/loss"}}, {"learning-rate", {"lr"}}, {"gradient-norm", {"grad_norm"}}};
  add_unchecked(report);
  return report;
}

/// The loss turns NaN at step 4,102 after the gradient norm ran away.
inline Report nan_run() {
  Report report = base("runs/exp42");
  report.status = Status::critical;
  report.headline = "The training loss is NaN from step 4,102 on; the gradient norm ran away 38 steps before.";
  const auto loss = [](double x) { return x < 0.41 ? 0.35 + 2.0 * std::exp(-9 * x) : std::nan(""); };
  const auto norm = [](double x) { return x < 0.405 ? 0.8 + 0.1 * std::sin(40 * x) : x < 0.41 ? 2.4e4 : std::nan(""); };
  report.sketches = {sketch("train/loss", "train-loss", 200, 9999, loss),
                     sketch("grad_norm", "gradient-norm", 200, 9999, norm)};

  Observation nan;
  nan.finding = "loss-nonfinite-later";
  nan.severity = Severity::critical;
  nan.confidence = 0.998;
  nan.first_step = 4102;
  nan.last_step = 9999;
  nan.summary = "The training loss is finite and falling up to step 4,101 and NaN from step 4,102 on.";
  nan.evidence = {{"train/loss", 4102, 9999, 5898, 0, "5,898 of the last 5,898 values of train/loss are NaN or Inf"},
                  {"train/loss", 0, 4101, 0.413, std::nan(""), "train/loss had fallen from 2.31 to 0.413 before"}};
  Observation explosion;
  explosion.finding = "exploding-gradients";
  explosion.severity = Severity::critical;
  explosion.confidence = 0.93;
  explosion.first_step = 4064;
  explosion.last_step = 4101;
  explosion.summary = "The gradient norm grows from 0.82 to 2.4e+04 within 38 steps.";
  explosion.evidence = {
      {"grad_norm", 4064, 4101, 2.4e4, 100, "grad_norm reaches 2.4e+04 at step 4,101; its median is 0.81"}};
  report.findings = {nan, explosion};

  WeighedCause lr;
  lr.cause = "lr-too-high";
  lr.probability = 0.71;
  lr.speaks_for = {{"exploding-gradients", 1.9, "the gradient norm ran away before the loss did"},
                   {"", 0.8, "the learning rate (0.1) was at its peak when it happened"}};
  lr.speaks_against = {{"", 0.6, "the first 4,000 steps at the same learning rate were calm"}};
  lr.settle = {"lr-range-test",
               "Run the LR range test, or 500 steps from the last good checkpoint at a tenth of the rate."};
  lr.remedies = {{"Restart from the checkpoint before step 4,064.", std::nullopt},
                 {"Lower the peak learning rate to 0.01.", Remedy::Change{"lr", "0.1", "0.01"},
                  Remedy::Code{"Keras", "model.optimizer.learning_rate = 0.01"}},
                 {"Clip the global gradient norm: its median is 0.81.", Remedy::Change{"clip_norm", "", "1.0"}}};
  WeighedCause clip;
  clip.cause = "no-clipping";
  clip.probability = 0.22;
  clip.speaks_for = {{"exploding-gradients", 1.2, "one step of 2.4e+04 went through unclipped"}};
  clip.settle = {"", "Look whether the training loop clips gradients at all."};
  clip.remedies = {{"Clip the global gradient norm at 1.0.", Remedy::Change{"clip_norm", "", "1.0"}}};
  WeighedCause bad_batch;
  bad_batch.cause = "bad-batches";
  bad_batch.probability = 0.05;
  bad_batch.speaks_for = {{"", 0.4, "the explosion took few steps"}};
  bad_batch.settle = {"", "Train past step 4,064 with another shuffle seed."};
  report.causes = {lr, clip, bad_batch};
  report.ruled_out = {{"fp16-overflow", "no loss scale is logged and the norm grew over 38 steps, not in one"},
                      {"log-of-zero", "the loss was smooth and far from zero before"}};
  report.metrics = {{"best-train-loss", 0.391}, {"final-train-loss", std::nan("")}};
  report.measures = {{"gradient-norm", 924, 0.998, 2310, "classifiers"}, {"rate-left", 0.5, std::nullopt, 0, ""}};
  return report;
}

/// Validation turns up at step 2,400 of 10,000 while training still falls.
inline Report overfitting_run() {
  Report report = base("runs/small-data");
  report.status = Status::warning;
  report.headline =
      "The model overfits since step 2,400: validation loss is up 41 % from its best while training still falls.";
  report.roles["validation-loss"] = {"val/loss"};
  report.sketches = {
      sketch("train/loss", "train-loss", 200, 9999, [](double x) { return 0.03 + 2.2 * std::exp(-7 * x); }),
      sketch("val/loss", "validation-loss", 25, 9999,
             [](double x) { return 0.9 + 1.4 * std::exp(-12 * x) + 0.5 * std::max(0.0, x - 0.24); })};
  Observation finding;
  finding.finding = "overfitting";
  finding.severity = Severity::warning;
  finding.confidence = 0.91;
  finding.first_step = 2400;
  finding.last_step = 9999;
  finding.summary = "Validation loss turns up at step 2,400 while training loss keeps falling.";
  finding.evidence = {
      {"val/loss", 2400, 9999, 1.28, 0.98, "val/loss rises from its best 0.906 (step 2,400) to 1.28"},
      {"train/loss", 2400, 9999, 0.032, 0.44, "train/loss falls from 0.44 to 0.032 over the same steps"}};
  report.findings = {finding};
  WeighedCause data;
  data.cause = "too-little-data";
  data.probability = 0.55;
  data.speaks_for = {{"overfitting", 1.5, "training loss goes far below validation loss"}};
  data.settle = {"", "Train on half of the data: if the gap widens, data is what is missing."};
  data.remedies = {{"Stop at the best checkpoint.", Remedy::Change{"max_steps", "10000", "2400"}},
                   {"Add data or augmentation.", std::nullopt}};
  report.causes = {data};
  report.metrics = {{"best-validation-loss", 0.906}, {"final-train-loss", 0.032}};
  return report;
}

inline Report healthy_run() {
  Report report = base("runs/good");
  report.status = Status::healthy;
  report.headline = "Nothing is wrong: training and validation loss fall together to 0.213 and 0.241.";
  report.roles["validation-loss"] = {"val/loss"};
  report.sketches = {
      sketch("train/loss", "train-loss", 200, 9999, [](double x) { return 0.21 + 2.1 * std::exp(-8 * x); }),
      sketch("val/loss", "validation-loss", 20, 9999, [](double x) { return 0.24 + 2.0 * std::exp(-7.5 * x); })};
  report.metrics = {{"best-validation-loss", 0.241}, {"final-train-loss", 0.213}};
  return report;
}

inline Report insufficient_run() {
  Report report;
  report.run_name = "short.csv";
  report.sources = {"short.csv"};
  report.format = "csv";
  report.steps = {0, 3, 4};
  report.status = Status::insufficient_data;
  report.headline = "Only 4 points of training loss: most checks need at least 10.";
  report.roles = {{"train-loss", {"loss"}}};
  report.sketches = {sketch("loss", "train-loss", 4, 3, [](double x) { return 2.3 - x; })};
  report.checks_ran = {"loss-nonfinite-at-start"};
  for (const char* id : {"loss-diverging", "loss-stuck-from-start", "loss-oscillating"}) {
    report.checks_not_run.push_back({id, "4 points are too few (needs 10)"});
  }
  report.checks_not_run.push_back({"overfitting", "no validation loss in the log"});
  return report;
}

/// Names that try to take over the terminal, break the JSON, or fill the screen.
inline Report hostile_run() {
  Report report = nan_run();
  const std::string escape = "loss\x1b[31;1m\x1b]0;owned\x07\x1b[2J";
  const std::string bytes = "bad\xff\xfe utf8 \xc3";
  const std::string bidi = "evil\u202Egnp.exe";
  report.run_name = escape + "\n\r" + std::string(5000, 'x');
  report.sources = {bytes, "-", "a b%\"<\n>.csv"};
  report.headline = "line one\nline two\x1b[0m\x9b" + bidi;
  report.findings[0].summary = escape + " is NaN";
  report.findings[0].evidence[0].series = escape;
  report.findings[0].evidence[0].text = bytes + std::string(3000, 'y');
  report.findings[0].qualifiers = {{"period\x1b[7m", "\t500"}};
  report.findings[0].layers = std::vector<std::string>(2000, escape);
  report.sketches[0].series = escape;
  report.sketches[0].columns[7].high = 1e308;
  report.sketches[0].columns[8].low = -1e308;
  report.sketches[0].columns[9].mean = std::numeric_limits<double>::infinity();
  report.roles["train-loss"] = {escape, bytes, std::string(10000, 'z')};
  report.roles["other"] = std::vector<std::string>(5000, bidi);
  report.causes[0].probability = std::nan("");
  report.causes[1].probability = 1e9;
  report.findings[0].confidence = -std::numeric_limits<double>::infinity();
  report.marks.push_back({Mark::Kind::restart, std::numeric_limits<std::int64_t>::min(), kNoTime, escape});
  report.damage.add({bytes, 12, 3, "value '" + escape + "' is not a number", 17});
  report.metrics["odd\x1b"] = -std::numeric_limits<double>::infinity();
  return report;
}

/// As much as the diagnosis can find: more than fits a screen.
inline Report crowded_run() {
  Report report = nan_run();
  const std::string prose =
      " and this sentence goes on with further numbers, 0.123 and 4.56e-07, so that it takes more than one line of "
      "text";
  for (int i = 0; i < 9; ++i) {
    Observation finding = report.findings[static_cast<std::size_t>(i % 2)];
    finding.severity = Severity::warning;
    finding.finding = "loss-oscillating";
    finding.summary += prose;
    for (int k = 0; k < 5; ++k) finding.evidence.push_back(finding.evidence.front());
    for (Evidence& evidence : finding.evidence) evidence.text += prose;
    report.findings.push_back(finding);
  }
  for (int i = 0; i < 8; ++i) {
    WeighedCause cause = report.causes[static_cast<std::size_t>(i % 3)];
    cause.probability = 0.04;
    for (int k = 0; k < 4; ++k) cause.speaks_for.push_back({"overfitting", 0.2, "one more reason" + prose});
    for (int k = 0; k < 4; ++k) cause.speaks_against.push_back({"", 0.3, "one more objection" + prose});
    cause.settle.text += prose;
    report.causes.push_back(cause);
  }
  report.causes[0] = report.causes[3];
  report.causes[0].probability = 0.7;
  for (int i = 0; i < 12; ++i) report.ruled_out.push_back({"label-noise", "the reason number one" + prose});
  for (int i = 0; i < 40; ++i) report.roles["layer-gradient"].push_back("grad_norm/layer" + std::to_string(i));
  for (int i = 0; i < 6; ++i) report.marks.push_back({Mark::Kind::restart, 1000 * i, kNoTime, "resumed"});
  for (int i = 0; i < 150; ++i)
    report.damage.add({"metrics.csv", 100, 7, "value 'abc' in column 'loss' is not a number", 0});
  return report;
}

}  // namespace osler::samples
