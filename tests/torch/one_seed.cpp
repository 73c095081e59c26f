// LibTorch seeds itself by chance. Every test begins with the same random numbers, so that what passes once passes
// again; `--gtest_random_seed=N` tries others.
#include <ATen/Context.h>
#include <gtest/gtest.h>

#include <mutex>

namespace {

class OneSeed : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& /*test*/) override {
    // Of the host alone: tests that fork must not have touched a GPU.
    at::Generator generator = at::globalContext().defaultGenerator(at::Device(at::kCPU));
    const std::lock_guard lock(generator.mutex());
    // The flag: UnitTest::random_seed() is the time of day where nobody gave one.
    generator.set_current_seed(1 + static_cast<std::uint64_t>(GTEST_FLAG_GET(random_seed)));
  }
};

[[maybe_unused]] const bool kInstalled = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new OneSeed);  // GoogleTest deletes it
  return true;
}();

}  // namespace
