// Checkpoints: a training goes on bit for bit, a damaged file is recognised, and the wrong model is named.
#include "osler/torch/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <fstream>

#include "base/faulty_file_system.h"
#include "torch/test_folder.h"

namespace osler::torch {
namespace {

namespace nn = ::torch::nn;
namespace optim = ::torch::optim;
using testing::HasSubstr;

/// A training of its own: nothing in it is shared with another one.
struct Session {
  explicit Session(const std::string& kind, std::int64_t hidden = 6)
      : model(nn::Linear(4, hidden), nn::BatchNorm1d(hidden), nn::Dropout(0.5), nn::Linear(hidden, 3)),
        optimizer(make(kind, model->parameters())),
        scheduler(*optimizer, warmup_cosine({.warmup = 3, .steps = 40})) {}

  static std::unique_ptr<optim::Optimizer> make(const std::string& kind, std::vector<at::Tensor> p) {
    if (kind == "SGD") return std::make_unique<optim::SGD>(p, optim::SGDOptions(0.1).momentum(0.9).nesterov(true));
    if (kind == "Adam") return std::make_unique<optim::Adam>(p, optim::AdamOptions(0.01).amsgrad(true));
    if (kind == "AdamW") return std::make_unique<optim::AdamW>(p, optim::AdamWOptions(0.01));
    if (kind == "Adagrad") return std::make_unique<optim::Adagrad>(p, optim::AdagradOptions(0.1));
    if (kind == "RMSprop") {
      return std::make_unique<optim::RMSprop>(p, optim::RMSpropOptions(0.01).momentum(0.9).centered(true));
    }
    return std::make_unique<optim::LBFGS>(p, optim::LBFGSOptions(0.1).max_iter(3));
  }
  void step() {
    const at::Tensor x = at::randn({8, 4});
    const at::Tensor y = at::randint(0, 3, {8}, at::kLong);
    optimizer->step([&] {
      optimizer->zero_grad();
      at::Tensor loss = at::cross_entropy_loss(model->forward(x), y);
      loss.backward();
      return loss;
    });
    scheduler.step();
  }
  [[nodiscard]] std::vector<at::Tensor> tensors() const {
    std::vector<at::Tensor> all;
    for (const at::Tensor& p : model->parameters()) all.push_back(p.detach().clone());
    for (const at::Tensor& b : model->buffers()) all.push_back(b.clone());
    return all;
  }
  CheckpointParts parts() { return {*model, optimizer.get(), &scheduler, &loss_scale}; }

  nn::Sequential model;
  std::unique_ptr<optim::Optimizer> optimizer;
  Scheduler scheduler;
  LossScale loss_scale;
};

void expect_equal(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(at::equal(a[i], b[i])) << "tensor " << i;
}

class CheckpointOf : public testing::TestWithParam<const char*> {
 protected:
  TestFolder folder{"checkpoint"};
  const std::filesystem::path file = folder.path() / "last.ckpt";
};

TEST_P(CheckpointOf, LetsANewTrainingGoOnBitForBit) {
  at::set_num_threads(1);
  ::torch::manual_seed(7);
  Session straight(GetParam());
  for (int i = 0; i < 6; ++i) straight.step();
  straight.loss_scale.load({512, 3, 4});
  const Result<void> saved = save_checkpoint(file, straight.parts(), {.step = 6, .epoch = 2});
  ASSERT_TRUE(saved) << describe(saved.error());
  for (int i = 0; i < 6; ++i) straight.step();

  ::torch::manual_seed(99);
  Session resumed(GetParam());
  resumed.step();  // leaves traces that the checkpoint must wipe out
  const Result<CheckpointNotes> notes = load_checkpoint(file, resumed.parts());
  ASSERT_TRUE(notes) << describe(notes.error());
  EXPECT_EQ(notes->step, 6);
  EXPECT_EQ(notes->epoch, 2);
  EXPECT_EQ(resumed.loss_scale.state(), (LossScaleState{512, 3, 4}));
  for (int i = 0; i < 6; ++i) resumed.step();
  EXPECT_EQ(resumed.scheduler.state(), straight.scheduler.state());
  expect_equal(resumed.tensors(), straight.tensors());
}

INSTANTIATE_TEST_SUITE_P(Every, CheckpointOf, testing::Values("SGD", "Adam", "AdamW", "Adagrad", "RMSprop", "LBFGS"),
                         [](const auto& tested) { return std::string(tested.param); });

struct CheckpointTest : testing::Test {
  CheckpointTest() {
    at::set_num_threads(1);
    ::torch::manual_seed(3);
    session.emplace("Adam");
    session->step();
  }
  std::string refusal(const CheckpointParts& parts, FileSystem& files = real_file_system()) {
    const std::vector<at::Tensor> before = session->tensors();
    const SchedulerState schedule = session->scheduler.state();
    const Result<CheckpointNotes> loaded = load_checkpoint(file, parts, files);
    expect_equal(session->tensors(), before);
    EXPECT_EQ(session->scheduler.state(), schedule);
    return loaded ? "" : describe(loaded.error());
  }
  TestFolder folder{"checkpoint"};
  const std::filesystem::path file = folder.path() / "last.ckpt";
  std::optional<Session> session;
};

TEST_F(CheckpointTest, KeepsWhatTheUserAdds) {
  CheckpointNotes notes{.step = 5, .epoch = 1, .fields = {{"data", "digits, \"all\""}, {"", ""}}};
  notes.tensors["mean"] = at::tensor({1.0, 2.5});
  ASSERT_TRUE(save_checkpoint(file, session->parts(), notes));
  const Result<CheckpointNotes> read = load_checkpoint(file, session->parts());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->fields, notes.fields);
  EXPECT_TRUE(at::equal(read->tensors.at("mean"), at::tensor({1.0, 2.5})));
}

TEST_F(CheckpointTest, NamesTheFirstParameterThatDiffers) {
  ASSERT_TRUE(save_checkpoint(file, session->parts()));
  Session wider("Adam", 7);
  EXPECT_THAT(refusal(wider.parts()),
              HasSubstr("the parameter 0.weight is Float of shape (7, 4) in the model and Float of shape (6, 4)"));
  nn::Sequential deeper(nn::Linear(4, 6), nn::BatchNorm1d(6), nn::Dropout(0.5), nn::Linear(6, 3), nn::Linear(3, 3));
  EXPECT_THAT(refusal({*deeper}), HasSubstr("the model's parameter 4.weight is not in the checkpoint"));
  nn::Sequential shallower(nn::Linear(4, 6), nn::BatchNorm1d(6));
  EXPECT_THAT(refusal({*shallower}), HasSubstr("the checkpoint's parameter 3.weight is not in the model"));
  nn::Sequential other(nn::Linear(4, 6), nn::BatchNorm1d(6), nn::Linear(6, 3));
  EXPECT_THAT(refusal({*other}), HasSubstr("2.weight is not in the checkpoint, which has 3.weight in its place"));
}

TEST_F(CheckpointTest, SaysWhenTheOptimizerOrTheScheduleIsAnother) {
  ASSERT_TRUE(save_checkpoint(file, session->parts()));
  Session sgd("SGD");
  EXPECT_THAT(refusal(sgd.parts()),
              HasSubstr("the optimizer is torch::optim::SGD and the checkpoint's is torch::optim::Adam"));
  Scheduler other(*session->optimizer, exponential_decay({}));
  EXPECT_THAT(refusal({*session->model, session->optimizer.get(), &other}), HasSubstr("exponential_decay"));
  session->scheduler.apply();
  session->optimizer->add_param_group(optim::OptimizerParamGroup({at::ones({1}).requires_grad_()}));
  EXPECT_THAT(refusal({*session->model, session->optimizer.get()}), HasSubstr("groups hold 6 + 1 parameters"));
}

TEST_F(CheckpointTest, SaysWhichPartIsMissing) {
  ASSERT_TRUE(save_checkpoint(file, {.model = *session->model, .random = false}));
  EXPECT_THAT(refusal({*session->model, session->optimizer.get()}), HasSubstr("holds no optimizer"));
  EXPECT_THAT(refusal({*session->model, nullptr, &session->scheduler}), HasSubstr("holds no schedule"));
  EXPECT_THAT(refusal({*session->model, nullptr, nullptr, &session->loss_scale}), HasSubstr("holds no loss scale"));
  EXPECT_TRUE(load_checkpoint(file, {.model = *session->model, .random = false}));
}

TEST_F(CheckpointTest, RecognisesADamagedByteWhereverItIs) {
  ASSERT_TRUE(save_checkpoint(file, session->parts()));
  const auto size = std::filesystem::file_size(file);
  for (std::uint64_t at = 0; at < size; at += size / 97) {
    FaultyFileSystem damaged(real_file_system(), {.flip_bit_at = at});
    EXPECT_NE(refusal(session->parts(), damaged), "") << "byte " << at;
  }
}

TEST_F(CheckpointTest, RecognisesAFileThatEndsEarly) {
  ASSERT_TRUE(save_checkpoint(file, session->parts()));
  const auto size = std::filesystem::file_size(file);
  for (const std::uint64_t cut : {std::uint64_t{8}, std::uint64_t{20}, size / 2, size - 1}) {
    std::filesystem::resize_file(file, cut);
    EXPECT_THAT(refusal(session->parts()), HasSubstr("ends early")) << cut;
    ASSERT_TRUE(save_checkpoint(file, session->parts()));
  }
  std::filesystem::resize_file(file, 0);
  EXPECT_THAT(refusal(session->parts()), HasSubstr("empty"));
}

TEST_F(CheckpointTest, RecognisesAForeignFile) {
  EXPECT_THAT(refusal(session->parts()), HasSubstr("No such file"));
  std::ofstream(file) << "step,loss\n1,2\n";
  EXPECT_THAT(refusal(session->parts()), HasSubstr("not a checkpoint of Osler's"));
  ::torch::save(session->model, file.string());
  EXPECT_THAT(refusal(session->parts()), HasSubstr("not a checkpoint of Osler's"));
}

TEST_F(CheckpointTest, LeavesTheOldOneWholeWhenTheNewOneCannotBeWritten) {
  ASSERT_TRUE(save_checkpoint(file, session->parts(), {.step = 1}));
  const auto size = std::filesystem::file_size(file);
  std::vector<FaultPlan> plans = {{.fail_sync = true}, {.fail_open = true}};
  for (std::uint64_t space = 0; space < size; space += size / 13) plans.push_back({.disk_space = space});
  for (const FaultPlan& plan : plans) {
    FaultyFileSystem full(real_file_system(), plan);
    EXPECT_FALSE(save_checkpoint(file, session->parts(), {.step = 2}, full));
    const Result<CheckpointNotes> old = load_checkpoint(file, session->parts());
    ASSERT_TRUE(old);
    EXPECT_EQ(old->step, 1);
    EXPECT_EQ(folder.files(), 1U);
  }
}

TEST_F(CheckpointTest, ReadsPiecewise) {
  ASSERT_TRUE(save_checkpoint(file, session->parts(), {.step = 4}));
  FaultyFileSystem slow(real_file_system(), {.longest_read = 1000});
  const Result<CheckpointNotes> notes = load_checkpoint(file, session->parts(), slow);
  ASSERT_TRUE(notes);
  EXPECT_EQ(notes->step, 4);
}

}  // namespace
}  // namespace osler::torch
