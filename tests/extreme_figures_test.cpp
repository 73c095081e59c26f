// Logs of figures at the ends of what a double can hold: whatever is finite is told in finite numbers, by every
// finding, comparison and format of the report.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <regex>

#include "osler/diagnosis/compare.h"
#include "osler/diagnosis/diagnose.h"
#include "osler/report/comparison.h"
#include "osler/report/render.h"
#include "simulate/random.h"

namespace osler {
namespace {

using simulate::Random;

constexpr double kMost = 1.7e308;
constexpr double kLeast = std::numeric_limits<double>::denorm_min();
constexpr std::size_t kDraws = 400;

constexpr const char* kNames[] = {"train_loss",
                                  "val_loss",
                                  "train_acc",
                                  "val_acc",
                                  "grad_norm",
                                  "lr",
                                  "reward",
                                  "perplexity",
                                  "val_mAP",
                                  "elbo",
                                  "g_loss",
                                  "d_loss",
                                  "loss_scale",
                                  "epoch_time",
                                  "ep_len_mean",
                                  "entropy",
                                  "value_loss",
                                  "policy_loss",
                                  "throughput",
                                  "weights/fc1.weight",
                                  "kl",
                                  "val_mse",
                                  "val_f1",
                                  "clip_ratio",
                                  "updates/fc1.weight#ratio",
                                  "mse",
                                  "momentum",
                                  "memory",
                                  "approx_kl",
                                  "activations/fc1#std",
                                  "system/gpu",
                                  "data_time",
                                  "val_iou",
                                  "tokens_seen",
                                  "gradients/fc1.weight",
                                  "mfu",
                                  "epsilon",
                                  "explained_variance",
                                  "val_loss_ema",
                                  "gradients/fc2.weight"};

double descent(double at) {
  return 0.3 + 2 * std::exp(-8 * at);
}

/// A curve over 0 to 1 that is, comes to, or now and then meets a figure of any size.
double drawn(int shape, double size, double at, Random& random) {
  const double usual = descent(at) + 0.02 * random.normal();
  switch (shape) {
    case 0:
      return usual;
    case 1:
      return random.chance(0.5) ? size : -size;
    case 2:
      return size * random.uniform(-1, 1);
    case 3:
      return at < 0.5 ? usual : size;
    case 4:
      return at > 0.5 && at < 0.52 ? size : usual;
    case 5:
      return size * std::exp(-8 * at);
    case 6:
      return -size * at;
    case 7:
      return size;
    case 8:
      return at < 0.02 ? size : usual;
    case 9:
      return std::pow(10, random.uniform(-308, 308));
    default:
      return std::pow(10, -300 + 600 * at);
  }
}

/// Some series, half of them with figures of extreme size.
osler::Run drawn_run(Random& random) {
  osler::Run run;
  const std::size_t points = random.pick({5U, 20U, 60U, 200U, 600U});
  const auto series = static_cast<int>(random.integer(1, 6));
  for (int i = 0; i < series; ++i) {
    const auto name = static_cast<std::size_t>(random.integer(0, std::size(kNames) - 1));
    const SeriesId id = run.series(i == 0 && random.chance(0.7) ? "train_loss" : kNames[name]);
    const int shape = random.chance(0.4) ? 0 : static_cast<int>(random.integer(1, 13));
    const double size = random.pick({kMost, 1e308, 1e200, 1e155, 1e61, kLeast, 1e-300, 1e-160});
    for (std::size_t at = 0; at < points; ++at) {
      const double x = static_cast<double>(at) / static_cast<double>(points - 1);
      run.add(Event{id, static_cast<std::int64_t>(at), kNoTime, drawn(shape, size, x, random)});
    }
  }
  if (random.chance(0.3)) run.config("lr", random.pick({"1.7e308", "5e-324", "0.1"}));
  if (random.chance(0.3)) run.config("batch_size", random.pick({"1e300", "64"}));
  return run;
}

/// A figure that is none, in a text about the run: "inf noise units", "NaN standard errors", "infx".
void expect_figures(const std::string& text, const std::string& where, std::size_t draw) {
  static const std::regex kNone(R"((^|[^A-Za-z])-?(inf|Inf|nan|NaN)x?([^A-Za-z]|$))");
  EXPECT_FALSE(std::regex_search(text, kNone)) << "draw " << draw << ", " << where << ": " << text;
}

void expect_finite_numbers(const nlohmann::json& node, const std::string& path, std::size_t draw) {
  if (node.is_string() && node != "NaN") {
    const auto& text = node.get_ref<const std::string&>();
    EXPECT_TRUE(text != "inf" && text != "-inf") << "draw " << draw << ": " << path;
    return;
  }
  if (!node.is_structured()) return;
  for (const auto& [key, value] : node.items()) {
    // What was compared with nothing has no threshold.
    if (key == "threshold" && value == "nan") continue;
    EXPECT_NE(value, "nan") << "draw " << draw << ": " << path << "/" << key;
    expect_finite_numbers(value, path + "/" + key, draw);
  }
}

void expect_told(const Report& report, std::size_t draw) {
  expect_figures(report.headline, "headline", draw);
  for (const Observation& seen : report.findings) {
    expect_figures(seen.summary, seen.finding, draw);
    for (const auto& [name, value] : seen.qualifiers) expect_figures(value, seen.finding + " " + name, draw);
    for (const Evidence& fact : seen.evidence) {
      expect_figures(fact.text, seen.finding, draw);
      EXPECT_TRUE(std::isfinite(fact.observed)) << "draw " << draw << ", " << seen.finding << ": " << fact.text;
    }
  }
  for (const WeighedCause& cause : report.causes) {
    for (const Remedy& remedy : cause.remedies) {
      if (!remedy.change) continue;
      expect_figures(remedy.change->from + " -> " + remedy.change->to, cause.cause, draw);
      expect_figures(remedy.code ? remedy.code->text : "", cause.cause, draw);
    }
  }
  for (const auto& [name, value] : report.metrics) EXPECT_TRUE(std::isfinite(value)) << "draw " << draw << ", " << name;
  if (report.prognosis) expect_figures(report.prognosis->text, "prognosis", draw);
}

TEST(ExtremeFigures, AreToldInFiniteNumbers) {
  DiagnosisOptions options;
  options.layers = true;
  std::size_t found = 0;
  for (std::size_t draw = 0; draw < kDraws; ++draw) {
    Random random(90'000 + draw);
    const osler::Run run = drawn_run(random);
    const Result<Report> report = diagnose(run, options);
    ASSERT_TRUE(report);
    expect_told(*report, draw);
    found += report->findings.size();
    // Curves and tables: prose says NaN where it speaks of remedies, but never writes a figure like this.
    static const std::regex kInfinite(R"((^|[^A-Za-z])-?(inf|Inf)x?([^A-Za-z]|$))");
    std::string text = render_text(*report);
    for (std::size_t at = 0; (at = text.find("NaN, Inf", at)) != std::string::npos;) text.erase(at, 8);
    EXPECT_FALSE(std::regex_search(text, kInfinite)) << "draw " << draw << ":\n" << text;
    const auto json = nlohmann::json::parse(render_json(*report));
    expect_finite_numbers(json, "", draw);
    if (HasFailure()) return;
  }
  EXPECT_GT(found, kDraws / 2) << "such logs are rarely sound";
}

TEST(ExtremeFigures, AreComparedInFiniteNumbers) {
  for (std::size_t draw = 0; draw < kDraws / 4; ++draw) {
    Random random(95'000 + draw);
    const osler::Run first = drawn_run(random);
    const osler::Run second = drawn_run(random);
    const Result<Comparison> comparison = compare(first, second, {});
    if (!comparison) continue;  // nothing in common
    expect_figures(render_text(*comparison), "comparison", draw);
    if (HasFailure()) return;
  }
}

TEST(ExtremeFigures, AreWrittenAsBeyondWhatIsKept) {
  osler::Run run;
  const SeriesId id = run.series("train_loss");
  for (std::int64_t step = 0; step < 200; ++step) {
    run.add(Event{id, step, kNoTime, step < 100 ? descent(static_cast<double>(step) / 200) : kMost});
  }
  const Result<Report> report = diagnose(run);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->status, Status::critical);
  EXPECT_NE(report->headline.find(">1e+60"), std::string::npos) << report->headline;
}

}  // namespace
}  // namespace osler
