// The recorder: from several threads to sinks and a live run, with nothing that matters lost on the way.
#include "osler/recorder/recorder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <csignal>
#include <latch>
#include <limits>
#include <thread>

#include "osler/run/role.h"
#include "osler/runfile/reader.h"
#include "recorder/waiting.h"
#include "run_file_samples.h"

namespace osler {
namespace {

using osler::testing::read_all;
using osler::testing::TestFolder;

/// What a sink was told, for the test to look at when the recorder is closed.
struct Told {
  std::vector<std::string> names;
  std::vector<Event> events;
  std::vector<Mark> marks;
  std::vector<Histogram> histograms;
  std::map<std::string, std::string> config;
  std::vector<LayerInfo> layers;
  std::string report;
  std::atomic<int> batches = 0;
  bool closed = false;
};

class TellingSink final : public Sink {
 public:
  explicit TellingSink(Told& told, std::latch* gate = nullptr) : told_(told), gate_(gate) {}
  std::string name() const override { return "telling"; }
  Result<void> write(const RecordBatch& batch) override {
    if (gate_ != nullptr) gate_->wait();
    told_.names.assign(batch.names.begin(), batch.names.end());
    told_.marks.insert(told_.marks.end(), batch.marks.begin(), batch.marks.end());
    told_.events.insert(told_.events.end(), batch.events.begin(), batch.events.end());
    told_.histograms.insert(told_.histograms.end(), batch.histograms.begin(), batch.histograms.end());
    for (const auto& [key, value] : batch.config) told_.config[key] = value;
    if (!batch.layers.empty()) told_.layers.assign(batch.layers.begin(), batch.layers.end());
    ++told_.batches;
    return {};
  }
  Result<void> report(std::int64_t, double, std::string_view json) override {
    told_.report = json;
    return {};
  }
  Result<void> close() override {
    told_.closed = true;
    return {};
  }

 private:
  Told& told_;
  std::latch* gate_;
};

class FailingSink final : public Sink {
 public:
  std::string name() const override { return "failing"; }
  Result<void> write(const RecordBatch&) override { return Error{ErrorCode::io, "no space left", "x"}; }
  Result<void> close() override { return {}; }
};

Recorder recorder_with(SinkPointer sink, RecorderOptions options = {}) {
  std::vector<SinkPointer> sinks;
  if (sink) sinks.push_back(std::move(sink));
  auto recorder = Recorder::open(std::move(options), std::move(sinks));
  EXPECT_TRUE(recorder);
  return std::move(*recorder);
}

constexpr double kLongPause = 3600;  // nothing is written unless something asks for it

TEST(Recorder, PassesEverythingOn) {
  Told told;
  {
    Recorder recorder = recorder_with(std::make_unique<TellingSink>(told), {"run"});
    recorder.config("lr", "0.1");
    recorder.layers({{"fc1", "Linear", {2, 3}, 6}});
    const SeriesId loss = recorder.series("loss");
    EXPECT_EQ(recorder.series("loss"), loss);
    recorder.record(loss, 1, 2.5);
    recorder.scalar(1, "accuracy", 0.5);
    const SeriesValue values[] = {{loss, 2.25}, {loss, 2.0}};
    recorder.record(2, values);
    const Event old[] = {{loss, 0, 123.0, 9.0}};
    recorder.record(old);
    recorder.histogram(2, "weights/fc1", Histogram{0, 0, kNoTime, 0, 1, 2, 1, 1, {1}, {2}});
    recorder.mark(Mark::Kind::note, 2, "hello");
    recorder.report(2, "{}");
    ASSERT_TRUE(recorder.close());
    recorder.scalar(3, "late", 1);  // is ignored
  }
  EXPECT_TRUE(told.closed);
  EXPECT_EQ(told.names, (std::vector<std::string>{"loss", "accuracy", "weights/fc1"}));
  ASSERT_EQ(told.events.size(), 5U);
  EXPECT_EQ(told.events[0].value, 2.5);
  EXPECT_EQ(told.events[0].wall_time, told.events[1].wall_time) << "values of one step share their time";
  EXPECT_EQ(told.events[4].wall_time, 123.0);
  EXPECT_EQ(told.config.at("lr"), "0.1");
  EXPECT_EQ(told.layers.at(0).name, "fc1");
  EXPECT_EQ(told.histograms.at(0).step, 2);
  EXPECT_FALSE(std::isnan(told.histograms.at(0).wall_time));
  EXPECT_EQ(told.marks.at(0).text, "hello");
  EXPECT_EQ(told.report, "{}");
}

TEST(Recorder, TakesValuesFromSeveralThreads) {
  Told told;
  Recorder recorder = recorder_with(std::make_unique<TellingSink>(told), {"run", 0.001});
  constexpr int kThreads = 4;
  constexpr int kValues = 20'000;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        const SeriesId own = recorder.series("series" + std::to_string(t));
        for (int i = 0; i < kValues; ++i) recorder.record(own, i, i);
      });
    }
  }
  ASSERT_TRUE(recorder.close());
  std::vector<int> next(kThreads, 0);
  for (const Event& event : told.events) EXPECT_EQ(event.value, next[event.series]++);
  EXPECT_EQ(told.events.size(), std::size_t{kThreads * kValues});
  EXPECT_EQ(recorder.thinned(), 0U);
}

TEST(Recorder, TakesNamesAndTensorsFromSeveralThreadsWhileSomebodyLooks) {
  Told told;
  Recorder recorder = recorder_with(std::make_unique<TellingSink>(told), {"run", 0.001});
  constexpr int kThreads = 3;
  constexpr int kSteps = 500;
  stats::TensorStats stats;
  stats.count = 4;
  stats.min = stats.max = stats.mean = 1;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int step = 0; step < kSteps; ++step) {
          recorder.scalar(step, "shared", step);
          recorder.scalar(step, "own" + std::to_string(t), step);
          recorder.tensor(step, TensorKind::weight, "layer" + std::to_string((step + t) % 7), stats);
          if (step % 100 == t) recorder.visit([](const osler::Run& run) { EXPECT_NE(run.find("shared"), nullptr); });
        }
      });
    }
  }
  ASSERT_TRUE(recorder.close());
  std::map<std::string, int> counts;
  for (const Event& event : told.events) ++counts[told.names.at(event.series)];
  EXPECT_EQ(counts["shared"], kThreads * kSteps);
  for (int t = 0; t < kThreads; ++t) EXPECT_EQ(counts["own" + std::to_string(t)], kSteps);
  int norms = 0;
  for (int layer = 0; layer < 7; ++layer) norms += counts["weights/layer" + std::to_string(layer) + "#norm"];
  EXPECT_EQ(norms, kThreads * kSteps);
}

TEST(Recorder, ShowsTheLiveRunWithEverythingSoFar) {
  Recorder recorder = recorder_with(nullptr, {"run", kLongPause});
  for (int step = 0; step < 100; ++step) recorder.scalar(step, "loss", 1.0 / (step + 1));
  recorder.config("lr", "0.1");
  int looked = 0;
  recorder.visit([&](const osler::Run& run) {
    ++looked;
    EXPECT_EQ(run.name, "run");
    EXPECT_EQ(run.find("loss")->summary().points(), 100U);
    EXPECT_EQ(run.configuration().at("lr"), "0.1");
  });
  EXPECT_EQ(looked, 1);
}

TEST(Recorder, ARestartTakesBackWhatCameAfterItsStep) {
  const TestFolder folder;
  const auto path = folder / "a.osler";
  auto sink = run_file_sink(path);
  ASSERT_TRUE(sink);
  Recorder recorder = recorder_with(std::move(*sink), {"run", kLongPause});
  for (int step = 0; step < 100; ++step) recorder.scalar(step, "loss", 1);
  recorder.mark(Mark::Kind::restart, 40, "resumed");
  for (int step = 40; step < 60; ++step) recorder.scalar(step, "loss", 2);
  recorder.visit([](const osler::Run& run) { EXPECT_EQ(run.find("loss")->summary().points(), 60U); });
  ASSERT_TRUE(recorder.close());
  const auto loss = read_all(path).at("loss");
  ASSERT_EQ(loss.size(), 60U);
  EXPECT_EQ(loss[39].value, 1);
  EXPECT_EQ(loss[40].value, 2);
}

TEST(Recorder, WritesAtOnceWhatMustNotWait) {
  Told told;
  Recorder recorder = recorder_with(std::make_unique<TellingSink>(told), {"run", kLongPause});
  const auto wait_for_batch = [&](int number) {
    for (int i = 0; i < 20'000 && told.batches < number; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_GE(told.batches, number);
  };
  recorder.scalar(1, "loss", std::nan(""));
  wait_for_batch(1);
  recorder.mark(Mark::Kind::crashed, 2, "out of memory");
  wait_for_batch(2);
  recorder.scalar(3, "loss", 1);
  ASSERT_TRUE(recorder.flush());
  EXPECT_EQ(told.events.size(), 2U);
  EXPECT_EQ(told.marks.size(), 1U);
}

TEST(Recorder, ThinsWhatWaitsForASlowSinkButKeepsExtremesAndNonFinite) {
  Told told;
  std::latch gate(1);
  RecorderOptions options{"run", 0.001};
  options.most_waiting = 1000;
  Recorder recorder = recorder_with(std::make_unique<TellingSink>(told, &gate), options);
  const SeriesId loss = recorder.series("loss");
  recorder.config("lr", "0.1");
  for (int step = 0; step < 50'000; ++step) {
    double value = std::sin(step * 0.001);
    if (step == 33'333) value = 1e6;
    if (step % 1000 == 7) value = std::nan("");
    recorder.record(loss, step, value);
    if (step % 5000 == 0) recorder.mark(Mark::Kind::note, step, "mark");
  }
  EXPECT_GT(recorder.thinned(), 0U);
  gate.count_down();
  ASSERT_TRUE(recorder.close());
  int nonfinite = 0;
  bool spike = false;
  std::int64_t before = -1;
  for (const Event& event : told.events) {
    EXPECT_LT(before, event.step);
    before = event.step;
    nonfinite += std::isnan(event.value) ? 1 : 0;
    spike = spike || event.value == 1e6;
  }
  EXPECT_EQ(nonfinite, 50);
  EXPECT_TRUE(spike);
  EXPECT_LT(told.events.size(), 5000U);
  std::size_t notes = 0;
  bool said = false;
  for (const Mark& mark : told.marks) {
    notes += mark.text == "mark" ? 1 : 0;
    said = said || mark.text.find("too slow") != std::string::npos;
  }
  EXPECT_EQ(notes, 10U);
  EXPECT_TRUE(said);
}

TEST(Recorder, GoesOnWhenASinkFailsAndSaysWhich) {
  Told told;
  std::vector<SinkPointer> sinks;
  sinks.push_back(std::make_unique<FailingSink>());
  sinks.push_back(std::make_unique<TellingSink>(told));
  auto recorder = Recorder::open({"run", kLongPause}, std::move(sinks));
  ASSERT_TRUE(recorder);
  recorder->scalar(1, "loss", 1);
  const auto flushed = recorder->flush();
  ASSERT_FALSE(flushed);
  EXPECT_EQ(flushed.error().message, "no space left");
  EXPECT_FALSE(recorder->close());
  EXPECT_EQ(told.events.size(), 1U);
  const auto failures = recorder->failures();
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_EQ(failures[0].sink, "failing");
  EXPECT_GE(failures[0].times, 2U);
}

TEST(Recorder, RefusesImpossibleOptions) {
  EXPECT_FALSE(Recorder::open({"run", 0}, {}));
  RecorderOptions options;
  options.most_waiting = 1;
  EXPECT_FALSE(Recorder::open(options, {}));
}

TEST(Recorder, NamesTensorStatisticsSoThatTheirRolesAreUnderstood) {
  Recorder recorder = recorder_with(nullptr);
  stats::TensorStats stats;
  stats.count = 10;
  stats.mean = 0.1;
  stats.m2 = 9;
  stats.min = -1;
  stats.max = 3;
  stats.zeros = 5;
  recorder.tensor(1, TensorKind::gradient, "encoder.0.weight", stats);
  stats.nan_count = 1;
  recorder.tensor(2, TensorKind::gradient, "encoder.0.weight", stats);
  recorder.tensor(1, TensorKind::weight, "fc", stats);
  recorder.tensor(1, TensorKind::update, "fc", stats);
  recorder.tensor(1, TensorKind::activation, "fc", stats);
  recorder.visit([](const osler::Run& run) {
    const RoleGuess guess = guess_role("gradients/encoder.0.weight#zero-share");
    EXPECT_EQ(guess.role, Role::layer_gradient);
    EXPECT_EQ(guess.layer, "encoder.0.weight");
    EXPECT_EQ(guess.statistic, "zero-share");
    const auto norm = run.find("gradients/encoder.0.weight#norm")->summary().recent();
    EXPECT_FLOAT_EQ(static_cast<float>(norm[0].value), std::sqrt(9.1F));
    EXPECT_TRUE(std::isnan(norm[1].value));
    EXPECT_EQ(run.find("gradients/encoder.0.weight#nonfinite")->summary().points(), 1U);
    EXPECT_EQ(run.find("gradients/encoder.0.weight#max")->summary().recent()[0].value, 3);
    const auto roles = RoleMap::infer(run);
    EXPECT_FALSE(roles->in(Role::layer_weight).empty());
    EXPECT_FALSE(roles->in(Role::layer_update).empty());
    EXPECT_FALSE(roles->in(Role::layer_activation).empty());
  });
}

TEST(Recorder, TurnsLogHistogramsIntoHistogramsThatHoldTheirBins) {
  stats::LogHistogram counts;
  stats::TensorStats stats;
  for (const double value : {-2.0, -1.5, -1.0, 0.0, 0.25, 0.3, 0.5, 4.0}) {
    if (value == 0) {
      ++counts.zeros;
    } else {
      ++(value < 0 ? counts.negative : counts.positive)[stats::LogHistogram::bin_of(value)];
    }
    stats::TensorStats one;
    one.count = 1;
    one.mean = value;
    one.min = one.max = value;
    stats.append(one);
  }
  const Histogram histogram = to_histogram(counts, stats);
  EXPECT_EQ(histogram.count, 8);
  EXPECT_EQ(histogram.min, -2);
  EXPECT_EQ(histogram.max, 4);
  EXPECT_NEAR(histogram.sum, 0.55, 1e-12);
  EXPECT_EQ(histogram.limits.back(), 4);
  double total = 0;
  double up_to_zero = 0;
  double below_half = 0;
  for (std::size_t i = 0; i < histogram.limits.size(); ++i) {
    if (i > 0) {
      EXPECT_LT(histogram.limits[i - 1], histogram.limits[i]);
    }
    total += histogram.counts[i];
    if (histogram.limits[i] <= 0) up_to_zero += histogram.counts[i];
    if (histogram.limits[i] < 0.5) below_half += histogram.counts[i];
  }
  EXPECT_EQ(total, 8);
  EXPECT_EQ(up_to_zero, 4);
  EXPECT_EQ(below_half, 6);
}

/// Records in a child process that is then struck by `signal`; returns how it ended.
int struck_by(int signal, const std::filesystem::path& path) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(signal, SIG_DFL);  // a sanitizer has a handler of its own
    auto sink = run_file_sink(path);
    if (!sink) ::_exit(9);
    std::vector<SinkPointer> sinks;
    sinks.push_back(std::move(*sink));
    RecorderOptions options{"run", kLongPause};
    options.flush_on_signals = true;
    auto recorder = Recorder::open(std::move(options), std::move(sinks));
    for (int step = 0; step < 1000; ++step) recorder->scalar(step, "loss", step);
    ::raise(signal);
    for (int i = 0; i < 1000; ++i) ::usleep(10'000);  // a signal from outside is answered while training goes on
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

TEST(Recorder, WritesWhatWaitsBeforeASignalEndsTheProcess) {
  const TestFolder folder;
  for (const int signal : {SIGTERM, SIGINT, SIGABRT, SIGSEGV}) {
    const auto path = folder / (std::to_string(signal) + ".osler");
    const int status = struck_by(signal, path);
    EXPECT_TRUE(WIFSIGNALED(status)) << signal;
    EXPECT_EQ(WTERMSIG(status), signal);
    EXPECT_EQ(read_all(path).at("loss").size(), 1000U) << signal;
  }
}

}  // namespace
}  // namespace osler
