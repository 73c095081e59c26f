// Engines answer the same with any number of threads, keep batches apart, and do not allocate while they work.
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "stats/batch_work.h"
#include "stats/test_tensors.h"

namespace osler::stats {
namespace {

/// One large tensor, many small ones and everything else that can be asked.
class Mixture {
 public:
  Mixture() {
    std::mt19937 random(11);
    std::normal_distribution<float> distribution(0.1f, 1);
    large_.resize(3'000'001);
    for (float& x : large_) x = distribution(random);
    large_[2'345'678] = std::numeric_limits<float>::quiet_NaN();
  }
  void ask(Batch& batch) const {
    batch.summarize(TensorView::of(large_), {.histogram = true});
    for (std::size_t i = 0; i < 1000; ++i) {
      batch.summarize(TensorView::of(std::span(large_).subspan(i * 100, i % 90)), {.histogram = i % 2 == 0});
    }
    const TensorView half = TensorView::of(std::span(large_).first(1'500'000));
    const TensorView other = TensorView::of(std::span(large_).last(1'500'000));
    ASSERT_TRUE(batch.compare(half, other));
    const std::int64_t sizes[] = {1000, 300, 10};
    const TensorView matrix = TensorView::contiguous(large_.data(), DType::f32, sizes).value();
    ASSERT_TRUE(batch.count_units(matrix, 1, 0.5));
    ASSERT_TRUE(batch.compare_rows(matrix));
  }

 private:
  std::vector<float> large_;
};

void expect_equal_answers(const Batch& got, const Batch& want) {
  for (std::size_t i = 0; i < 1001; ++i) {
    ASSERT_EQ(got.summary(i), want.summary(i)) << i;
    ASSERT_EQ(got.histogram(i), want.histogram(i)) << i;
  }
  EXPECT_EQ(got.pair(0), want.pair(0));
  EXPECT_EQ(got.units(0), want.units(0));
  EXPECT_EQ(got.rows(0).mean_cosine, want.rows(0).mean_cosine);
  EXPECT_EQ(got.rows(0).spread, want.rows(0).spread);
}

TEST(Engine, AnswersAreTheSameToTheLastBitWithAnyNumberOfThreads) {
  const Mixture mixture;
  Batch alone;
  mixture.ask(alone);
  run_here(alone);
  EXPECT_EQ(alone.summary(0).first_nan, 2'345'678u);
  EXPECT_EQ(alone.histogram(0).total(), 3'000'000u);
  for (const unsigned threads : {1u, 2u, 3u, 8u}) {
    SCOPED_TRACE(threads);
    const auto engine = make_cpu_engine(threads);
    Batch batch;
    mixture.ask(batch);
    ASSERT_TRUE(engine->submit(batch));
    engine->wait(batch);
    EXPECT_TRUE(engine->done(batch));
    expect_equal_answers(batch, alone);
  }
}

TEST(Engine, ACrewAnswersTheSame) {
  const Mixture mixture;
  Batch alone;
  mixture.ask(alone);
  run_here(alone);
  int called = 0;
  const auto engine = make_crew_engine([&](const CrewWork& work) {
    ++called;
    std::thread other(work, 1, 2);
    work(0, 2);
    other.join();
  });
  Batch batch;
  mixture.ask(batch);
  ASSERT_TRUE(engine->submit(batch));
  engine->wait(batch);
  expect_equal_answers(batch, alone);
  EXPECT_EQ(called, 1);
  const std::vector<float> few(100, 1.0f);
  batch.clear();
  batch.summarize(TensorView::of(few));
  ASSERT_TRUE(engine->submit(batch));
  engine->wait(batch);
  EXPECT_EQ(batch.summary(0).mean, 1);
  EXPECT_EQ(called, 1) << "too little to be shared";
}

TEST(Engine, ACrewKeepsToTheStretchesThatTrainingThreadsHave) {
  const std::vector<float> large(65536);
  const std::vector<float> small(16384);
  Batch batch;
  batch.summarize(TensorView::of(large));
  batch.summarize(TensorView::of(small));
  cut(batch.work());
  std::vector<double> homes;
  for (const Grain& grain : batch.work().grains) homes.push_back(grain.home);
  EXPECT_EQ(homes, (std::vector<double>{0, 0.25, 0.5, 0.75, 0})) << "small tensors are the first thread's";
}

TEST(Engine, ABatchIsFinishedWithoutAnybodyWaiting) {
  const std::vector<float> values(100000, 2.0f);
  const auto engine = make_cpu_engine(1);
  Batch batch;
  batch.summarize(TensorView::of(values));
  ASSERT_TRUE(engine->submit(batch));
  while (!engine->done(batch)) std::this_thread::yield();
  EXPECT_EQ(batch.summary(0).mean, 2);
}

TEST(Engine, SeveralBatchesAreUnderWayAtOnceAndFromSeveralThreads) {
  const auto engine = make_cpu_engine(2);
  std::vector<std::thread> callers;
  std::atomic<int> right = 0;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&engine, &right, caller] {
      const std::vector<float> values(50000, static_cast<float>(caller + 1));
      std::vector<Batch> batches(5);
      for (int round = 0; round < 10; ++round) {
        for (Batch& batch : batches) {
          batch.clear();
          batch.summarize(TensorView::of(values));
          if (!engine->submit(batch)) return;
        }
        for (auto batch = batches.rbegin(); batch != batches.rend(); ++batch) {
          engine->wait(*batch);
          if (batch->summary(0).mean == caller + 1) ++right;
        }
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(right, 4 * 10 * 5);
}

TEST(Engine, DestroyingItFinishesWhatWasSubmitted) {
  const std::vector<float> values(1'000'000, 3.0f);
  for (const unsigned threads : {0u, 2u}) {
    Batch batch;
    batch.summarize(TensorView::of(values));
    {
      const auto engine = make_cpu_engine(threads);
      ASSERT_TRUE(engine->submit(batch));
    }
    EXPECT_EQ(batch.summary(0).mean, 3);
  }
}

TEST(Engine, SubmittingAgainMeasuresTheNewContents) {
  std::vector<float> values(5000, 1.0f);
  const auto engine = make_cpu_engine(1);
  Batch batch;
  batch.summarize(TensorView::of(values), {.histogram = true});
  const std::int64_t sizes[] = {50, 100};
  const TensorView matrix = TensorView::contiguous(values.data(), DType::f32, sizes).value();
  ASSERT_TRUE(batch.count_units(matrix, 1));
  ASSERT_TRUE(batch.compare_rows(matrix));
  for (const float value : {1.0f, 0.0f, 4.0f}) {
    std::fill(values.begin(), values.end(), value);
    ASSERT_TRUE(engine->submit(batch));
    engine->wait(batch);
    EXPECT_EQ(batch.summary(0).mean, value);
    EXPECT_EQ(batch.histogram(0).total(), 5000u);
    EXPECT_EQ(batch.units(0).silent(), value == 0 ? 100u : 0u);
    EXPECT_EQ(batch.rows(0).zero_rows, value == 0 ? 50u : 0u);
  }
}

TEST(Engine, NothingIsAllocatedOnceABatchIsWarm) {
  const Mixture mixture;
  const auto engine = make_cpu_engine(2);
  Batch batch;
  for (int step = 0; step < 3; ++step) {
    const std::size_t before = allocations_so_far();
    batch.clear();
    mixture.ask(batch);
    ASSERT_TRUE(engine->submit(batch));
    engine->wait(batch);
    if (step > 0) {
      EXPECT_EQ(allocations_so_far(), before);
    }
  }
}

TEST(Engine, MemoryItCannotReachIsRefused) {
  const std::vector<float> values(10);
  const std::int64_t size = 10;
  const auto device = TensorView::contiguous(values.data(), DType::f32, {&size, 1}, {Device::Kind::cuda, 0}).value();
  const auto engine = make_cpu_engine(0);
  Batch batch;
  batch.summarize(device);
  const Result<void> submitted = engine->submit(batch);
  ASSERT_FALSE(submitted);
  EXPECT_EQ(submitted.error().code, ErrorCode::unsupported);
  engine->wait(batch);  // returns at once
  EXPECT_FALSE(engine->done(batch));
  EXPECT_FALSE(batch.compare(device, TensorView::of(values)));
}

TEST(Engine, AnswersTooLargeForMemoryAreRefused) {
  const float value = 0;
  const std::int64_t sizes[] = {2, std::int64_t{1} << 40};
  const std::int64_t strides[] = {0, 0};
  const TensorView endless = TensorView::strided(&value, DType::f32, sizes, strides).value();
  Batch batch;
  EXPECT_FALSE(batch.count_units(endless, 1));
  EXPECT_FALSE(batch.count_units(endless, 0)) << "more places than a count can hold";
  EXPECT_FALSE(batch.compare_rows(endless));
}

TEST(Engine, ABatchInProgressCannotBeSubmittedTwice) {
  const std::vector<float> values(10);
  const auto engine = make_cpu_engine(0);
  Batch batch;
  batch.summarize(TensorView::of(values));
  ASSERT_TRUE(engine->submit(batch));
  EXPECT_FALSE(engine->submit(batch));
  engine->wait(batch);
}

TEST(Engine, AnEmptyBatchIsDoneAtOnce) {
  const auto engine = make_cpu_engine(0);
  Batch batch;
  batch.summarize(TensorView());
  ASSERT_TRUE(engine->submit(batch));
  engine->wait(batch);
  EXPECT_TRUE(engine->done(batch));
  EXPECT_EQ(batch.summary(0), TensorStats{});
}

}  // namespace
}  // namespace osler::stats
