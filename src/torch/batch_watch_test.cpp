// Batches under a budget: which of them are looked at, and that what is wrong with them shows all the same.
#include "torch/batch_watch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "osler/diagnosis/diagnose.h"

namespace osler::torch {
namespace {

/// A loader that is watched, and the time that its training takes.
struct WatchedLoader {
  BatchWatch watch{{10, 100}, 0, 0.01};
  Recorder recorder = std::move(*Recorder::open({}, {}));
  std::int64_t batches = 0;

  /// Hands out the batch of a number; `seconds` of training follow.
  bool hand_out(std::int64_t number, double seconds) {
    const at::Tensor inputs = at::sin(at::arange(160).view({16, 10}) * (number + 1.7));
    const at::Tensor labels = (at::arange(16) * 7 + number).remainder(10);
    const bool looked = watch.look(inputs, labels, batches++, recorder).has_value();
    watch.budget().earn(seconds);
    return looked;
  }

  /// Hands out batches until so many were looked at, each chosen by `order` from how many there were before it.
  void hand_out_until(int looks, const std::function<std::int64_t(std::int64_t)>& order) {
    const std::int64_t before = batches;
    int looked = 0;
    while (looked < looks) looked += hand_out(order(batches), 3e-5) ? 1 : 0;
    ASSERT_GT(batches - before, 2 * looks) << "few were passed over";
  }

  bool told(const std::string& finding) {
    bool found = false;
    recorder.visit([&](const Run& run) {
      const Result<Report> report = diagnose(run);
      ASSERT_TRUE(report);
      found = std::any_of(report->findings.begin(), report->findings.end(),
                          [&](const Observation& each) { return each.finding == finding; });
    });
    return found;
  }
};

TEST(BatchWatchTest, LooksAtTheFirstBatchesAtAnyPrice) {
  WatchedLoader loader;
  for (int i = 0; i < 64; ++i) EXPECT_TRUE(loader.hand_out(i, 0));
  for (int i = 64; i < 200; ++i) EXPECT_FALSE(loader.hand_out(i, 0));
}

TEST(BatchWatchTest, LaterLooksAtSeveralInARow) {
  WatchedLoader loader;
  for (int i = 0; i < 64; ++i) loader.hand_out(i, 0);
  for (int times = 0; times < 5; ++times) {
    while (!loader.hand_out(loader.batches, 1e-5)) continue;
    int in_a_row = 1;
    while (loader.hand_out(loader.batches, 0)) ++in_a_row;
    EXPECT_EQ(in_a_row % 8, 0) << in_a_row;  // more than eight where the machine was quicker than it had been
  }
}

TEST(BatchWatchTest, FindsALoaderThatGotStuckBetweenTheLooks) {
  WatchedLoader loader;
  loader.hand_out_until(200, [](std::int64_t before) { return before < 64 ? before : 64 + before % 2; });
  EXPECT_TRUE(loader.told("batch-repeated"));
}

TEST(BatchWatchTest, AFixedOrderIsNoStuckLoader) {
  WatchedLoader loader;
  loader.hand_out_until(200, [](std::int64_t before) { return before % 37; });
  EXPECT_FALSE(loader.told("batch-repeated"));
}

}  // namespace
}  // namespace osler::torch
