// Several processes on one machine, talking through Gloo: ranks that drift apart and ranks that are slow are found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <torch/torch.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "osler/torch/monitor.h"

namespace osler::torch {
namespace {

constexpr int kRanks = 3;

struct Fault {
  bool own_seed = false;  ///< rank 1 starts with other weights
  int slow_rank = -1;
};

/// One rank's training; 0 when the finding was seen as expected on this rank.
int train(int rank, const std::string& store_path, const Fault& fault, const std::string& finding, bool expected) {
  auto store = c10::make_intrusive<c10d::FileStore>(store_path, kRanks);
  auto options = c10d::ProcessGroupGloo::Options::create();
  options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1"));
  auto group = c10::make_intrusive<c10d::ProcessGroupGloo>(store, rank, kRanks, options);

  ::torch::manual_seed(fault.own_seed ? 10 + rank : 10);
  ::torch::nn::Linear model(4, 2);
  ::torch::optim::SGD optimizer(model->parameters(), 0.05);
  MonitorOptions watching;
  watching.ranks = ranks_of(group);
  watching.ranks_every = 2;
  Monitor monitor(*model, optimizer, std::move(watching));
  for (const at::Tensor& parameter : model->parameters()) {
    // Averages in the backward pass, as data-parallel wrappers do.
    parameter.register_hook([group](const at::Tensor& gradient) {
      std::vector<at::Tensor> gradients = {gradient.clone()};
      group->allreduce(gradients)->wait();
      return gradients[0] / kRanks;
    });
  }
  ::torch::manual_seed(100 + rank);
  for (int step = 0; step < 24; ++step) {
    const at::Tensor x = at::randn({8, 4});
    monitor.train_step([&] {
      if (rank == fault.slow_rank) std::this_thread::sleep_for(std::chrono::milliseconds(40));
      return (model->forward(x) - x.sum(1, true)).square().mean();
    });
  }
  bool seen = false;
  for (const Observation& observation : monitor.report().findings) seen |= observation.finding == finding;
  return seen == expected ? 0 : 1;
}

/// Runs all ranks as processes of their own; the number of them that did not see what they should.
int failures(const Fault& fault, const std::string& finding, bool expected) {
  const std::string store = std::filesystem::temp_directory_path() / ("osler-ranks-" + std::to_string(getpid()));
  std::filesystem::remove(store);
  std::vector<pid_t> children;
  for (int rank = 0; rank < kRanks; ++rank) {
    const pid_t child = fork();
    if (child == 0) {
      at::set_num_threads(1);
      int result = 2;
      try {
        result = train(rank, store, fault, finding, expected);
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
      }
      _exit(result);
    }
    children.push_back(child);
  }
  int failed = 0;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    failed += WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
  }
  std::filesystem::remove(store);
  return failed;
}

TEST(RanksTest, RanksThatHoldDifferentWeightsAreFound) {
  EXPECT_EQ(failures({true, -1}, "rank-divergence", true), 0);
}

TEST(RanksTest, RanksThatAgreeAreNot) {
  EXPECT_EQ(failures({false, -1}, "rank-divergence", false), 0);
}

TEST(RanksTest, TheSlowRankIsFound) {
  EXPECT_EQ(failures({false, 1}, "straggler-rank", true), 0);
}

}  // namespace
}  // namespace osler::torch
