// Preserved: whatever an experiment does, the training is bit for bit what it was before.
#include "osler/torch/preserved.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cstring>
#include <stdexcept>

namespace osler::torch {
namespace {

namespace nn = ::torch::nn;
namespace optim = ::torch::optim;

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  if (!a.defined() || !b.defined()) return a.defined() == b.defined();
  const at::Tensor x = a.detach().contiguous();
  const at::Tensor y = b.detach().contiguous();
  return x.dtype() == y.dtype() && x.sizes() == y.sizes() && std::memcmp(x.data_ptr(), y.data_ptr(), x.nbytes()) == 0;
}

// An optimizer as Osler does not know it: momentum of its own, and a counter.
struct OwnOptions : optim::OptimizerCloneableOptions<OwnOptions> {
  double rate = 0.1;
  double get_lr() const override { return rate; }
  void set_lr(double lr) override { rate = lr; }
};
struct OwnState : optim::OptimizerCloneableParamState<OwnState> {
  at::Tensor speed;
  std::int64_t count = 0;
  void serialize(::torch::serialize::InputArchive& archive) override {
    archive.read("speed", speed);
    c10::IValue value;
    archive.read("count", value);
    count = value.toInt();
  }
  void serialize(::torch::serialize::OutputArchive& archive) const override {
    archive.write("speed", speed);
    archive.write("count", c10::IValue(count));
  }
};
// LibTorch 1 knows parameters by a string, LibTorch 2 by their address.
template <typename States>
auto& slot_of(States& states, const at::Tensor& parameter) {
  if constexpr (std::is_same_v<typename States::key_type, std::string>) {
    return states[std::to_string(reinterpret_cast<std::uintptr_t>(parameter.unsafeGetTensorImpl()))];
  } else {
    return states[parameter.unsafeGetTensorImpl()];
  }
}
class OwnOptimizer : public optim::Optimizer {
 public:
  explicit OwnOptimizer(std::vector<at::Tensor> parameters)
      : Optimizer(std::move(parameters), std::make_unique<OwnOptions>()) {}
  at::Tensor step(LossClosure closure = nullptr) override {
    const at::Tensor loss = closure ? closure() : at::Tensor();
    const at::NoGradGuard no_graph;
    for (optim::OptimizerParamGroup& group : param_groups_) {
      for (at::Tensor& p : group.params()) advance(p, group.options().get_lr());
    }
    return loss;
  }

 private:
  void advance(at::Tensor& p, double rate) {
    if (!p.grad().defined()) return;
    std::unique_ptr<optim::OptimizerParamState>& slot = slot_of(state_, p);
    if (!slot) {
      auto fresh = std::make_unique<OwnState>();
      fresh->speed = at::zeros_like(p);
      slot = std::move(fresh);
    }
    auto& state = static_cast<OwnState&>(*slot);
    state.speed.mul_(0.9).add_(p.grad());
    ++state.count;
    p.add_(state.speed, -rate);
  }
};

struct Rig {
  nn::Sequential model{nn::Linear(4, 6), nn::BatchNorm1d(6), nn::Dropout(0.5), nn::Linear(6, 3)};
  std::unique_ptr<optim::Optimizer> optimizer;
  at::Tensor x;
  at::Tensor y;

  at::Tensor loss() { return at::cross_entropy_loss(model->forward(x), y); }
  void step() {
    optimizer->step([this] {
      optimizer->zero_grad();
      at::Tensor value = loss();
      value.backward();
      return value;
    });
  }
  // Everything that may differ, as bytes.
  std::vector<at::Tensor> everything() {
    std::vector<at::Tensor> all;
    for (const at::Tensor& p : model->parameters()) {
      all.push_back(p.detach().clone());
      all.push_back(p.grad().defined() ? p.grad().clone() : at::Tensor());
    }
    for (const at::Tensor& b : model->buffers()) all.push_back(b.clone());
    all.push_back(at::globalContext().defaultGenerator(at::Device(at::kCPU)).get_state());
    return all;
  }
};

using Maker = std::unique_ptr<optim::Optimizer> (*)(std::vector<at::Tensor>);

struct Kind {
  const char* name;
  Maker make;
};

class PreservedOptimizer : public testing::TestWithParam<Kind> {
 protected:
  PreservedOptimizer() {
    at::set_num_threads(1);
    ::torch::manual_seed(3);
    rig.x = at::randn({8, 4});
    rig.y = at::arange(8).remainder(3);
    rig.optimizer = GetParam().make(rig.model->parameters());
  }
  Rig rig;
};

void expect_same(const std::vector<at::Tensor>& now, const std::vector<at::Tensor>& before) {
  ASSERT_EQ(now.size(), before.size());
  for (std::size_t i = 0; i < now.size(); ++i) EXPECT_TRUE(same_bits(now[i], before[i])) << "tensor " << i;
}

TEST_P(PreservedOptimizer, ContinuesAsIfTheExperimentHadNotBeen) {
  for (int i = 0; i < 4; ++i) rig.step();
  const std::vector<at::Tensor> before = rig.everything();
  std::vector<at::Tensor> straight;
  {
    // The steps that follow anyway, taken as an experiment: they must come out the same when taken again.
    const Preserved preserved(*rig.model, *rig.optimizer);
    for (int i = 0; i < 5; ++i) rig.step();
    straight = rig.everything();
  }
  expect_same(rig.everything(), before);
  for (int i = 0; i < 5; ++i) rig.step();
  expect_same(rig.everything(), straight);
}

TEST_P(PreservedOptimizer, GoesBackToAnOptimizerThatHasNotSteppedYet) {
  const std::vector<at::Tensor> before = rig.everything();
  {
    Preserved preserved(*rig.model, *rig.optimizer);
    rig.step();
    rig.step();
    EXPECT_FALSE(rig.optimizer->state().empty() && std::string(GetParam().name) != "SGD");
  }
  EXPECT_TRUE(rig.optimizer->state().empty());
  expect_same(rig.everything(), before);
  EXPECT_FALSE(rig.model->parameters()[0].grad().defined());
}

TEST_P(PreservedOptimizer, PutsBackTheOptionsThatOthersHoldReferencesTo) {
  rig.step();
  optim::OptimizerOptions& options = rig.optimizer->param_groups()[0].options();
  const double rate = options.get_lr();
  {
    Preserved preserved(*rig.model, *rig.optimizer);
    options.set_lr(123);
    rig.step();
  }
  EXPECT_EQ(rig.optimizer->param_groups()[0].options().get_lr(), rate);
  if (std::string(GetParam().name) == "Own") return;  // equal options, but not the same
  EXPECT_EQ(&rig.optimizer->param_groups()[0].options(), &options);
}

TEST_P(PreservedOptimizer, TakesGroupsAwayThatTheExperimentAdded) {
  rig.step();
  const std::size_t states = rig.optimizer->state().size();
  at::Tensor added = at::ones({2}).requires_grad_();
  if (std::string(GetParam().name) != "LBFGS") {  // which has one group only
    const Preserved preserved(*rig.model, *rig.optimizer);
    rig.optimizer->add_param_group(optim::OptimizerParamGroup({added}));
    added.mutable_grad() = at::ones({2});
    rig.step();
  }
  EXPECT_EQ(rig.optimizer->param_groups().size(), 1U);
  EXPECT_EQ(rig.optimizer->state().size(), states);
}

INSTANTIATE_TEST_SUITE_P(
    Every, PreservedOptimizer,
    testing::Values(Kind{"SGD",
                         [](std::vector<at::Tensor> p) -> std::unique_ptr<optim::Optimizer> {
                           return std::make_unique<optim::SGD>(std::move(p), optim::SGDOptions(0.1));
                         }},
                    Kind{"SgdMomentum",
                         [](std::vector<at::Tensor> p) -> std::unique_ptr<optim::Optimizer> {
                           return std::make_unique<optim::SGD>(std::move(p),
                                                               optim::SGDOptions(0.1).momentum(0.9).nesterov(true));
                         }},
                    Kind{"Adam",
                         [](std::vector<at::Tensor> p) -> std::unique_ptr<optim::Optimizer> {
                           return std::make_unique<optim::Adam>(std::move(p), optim::AdamOptions(0.01).amsgrad(true));
                         }},
                    Kind{"AdamW",
                         [](std::vector<at::Tensor> p) -> std::unique_ptr<optim::Optimizer> {
                           return std::make_unique<optim::AdamW>(std::move(p), optim::AdamWOptions(0.01));
                         }},
                    Kind{"RMSprop",
                         [](std::vector<at::Tensor> p) -> std::unique_ptr<optim::Optimizer> {
                           return std::make_unique<optim::RMSprop>(
                               std::move(p), optim::RMSpropOptions(0.01).momentum(0.9).centered(true));
                         }},
                    Kind{"LBFGS",
                         [](std::vector<at::Tensor> p) -> std::unique_ptr<optim::Optimizer> {
                           return std::make_unique<optim::LBFGS>(std::move(p), optim::LBFGSOptions(0.1).max_iter(3));
                         }},
                    Kind{"Own",
                         [](std::vector<at::Tensor> p) -> std::unique_ptr<optim::Optimizer> {
                           return std::make_unique<OwnOptimizer>(std::move(p));
                         }}),
    [](const auto& tested) { return tested.param.name; });

struct PreservedTest : testing::Test {
  PreservedTest() {
    at::set_num_threads(1);
    ::torch::manual_seed(5);
    rig.x = at::randn({8, 4});
    rig.y = at::arange(8).remainder(3);
    rig.optimizer = std::make_unique<optim::SGD>(rig.model->parameters(), optim::SGDOptions(0.1).momentum(0.9));
    rig.step();
  }
  Rig rig;
};

TEST_F(PreservedTest, KeepsAdagradWhichHasStateFromTheBeginning) {
  optim::Adagrad adagrad(rig.model->parameters(), optim::AdagradOptions(0.1));
  rig.loss().backward();
  adagrad.step();
  const auto sums = [&] {
    std::vector<at::Tensor> all;
    for (const auto& [key, state] : adagrad.state()) {
      const auto& known = static_cast<const optim::AdagradParamState&>(*state);
      all.push_back(known.sum().clone());
      all.push_back(at::scalar_tensor(known.step(), at::kLong));
    }
    return all;
  };
  const std::vector<at::Tensor> before = sums();
  {
    Preserved preserved(*rig.model, adagrad);
    adagrad.step();
    adagrad.step();
    EXPECT_FALSE(same_bits(sums()[0], before[0]));
  }
  expect_same(sums(), before);
}

TEST_F(PreservedTest, PutsEverythingBackAfterAnException) {
  const std::vector<at::Tensor> before = rig.everything();
  const auto experiment = [&] {
    const Preserved preserved(*rig.model, *rig.optimizer);
    rig.step();
    rig.model->eval();
    throw std::runtime_error("interrupted");
  };
  EXPECT_THROW(experiment(), std::runtime_error);
  expect_same(rig.everything(), before);
  EXPECT_TRUE(rig.model->is_training());
}

TEST_F(PreservedTest, KeepsTheModeOfEveryModuleApart) {
  rig.model[1]->eval();
  {
    const Preserved preserved(*rig.model, *rig.optimizer);
    rig.model->eval();
    rig.model[1]->train();
  }
  EXPECT_TRUE(rig.model->is_training());
  EXPECT_TRUE(rig.model[0]->is_training());
  EXPECT_FALSE(rig.model[1]->is_training());
  EXPECT_TRUE(rig.model[2]->is_training());
}

TEST_F(PreservedTest, KeepsWhichParametersWantGradients) {
  rig.model->parameters()[0].set_requires_grad(false);
  {
    const Preserved preserved(*rig.model, *rig.optimizer);
    for (at::Tensor& p : rig.model->parameters()) p.set_requires_grad(!p.requires_grad());
  }
  EXPECT_FALSE(rig.model->parameters()[0].requires_grad());
  for (std::size_t i = 1; i < 6; ++i) EXPECT_TRUE(rig.model->parameters()[i].requires_grad());
}

TEST_F(PreservedTest, GivesTheTensorsTheirOwnMemoryBack) {
  const at::Tensor weight = rig.model->parameters()[0];
  const void* memory = weight.data_ptr();
  const void* gradient = weight.grad().unsafeGetTensorImpl();
  const at::Tensor value = weight.detach().clone();
  {
    const Preserved preserved(*rig.model, *rig.optimizer);
    rig.model->to(at::kDouble);
    rig.model->parameters()[0].mutable_grad() = at::Tensor();
  }
  EXPECT_EQ(weight.data_ptr(), memory);
  EXPECT_EQ(weight.grad().unsafeGetTensorImpl(), gradient);
  EXPECT_TRUE(same_bits(weight, value));
}

TEST_F(PreservedTest, KeepsTheBitsOfNaN) {
  const at::Tensor weight = rig.model->parameters()[0];
  const std::uint32_t odd = 0x7fc12345;
  std::memcpy(weight.data_ptr(), &odd, sizeof odd);
  const at::Tensor before = weight.detach().clone();
  {
    const Preserved preserved(*rig.model, *rig.optimizer);
    const at::NoGradGuard no_graph;
    weight.fill_(0);
  }
  EXPECT_TRUE(same_bits(weight, before));
}

TEST_F(PreservedTest, StartsASecondExperimentFromTheSameState) {
  Preserved preserved(*rig.model, *rig.optimizer);
  rig.step();
  const std::vector<at::Tensor> first = rig.everything();
  preserved.restore();
  rig.step();
  expect_same(rig.everything(), first);
}

TEST_F(PreservedTest, KeepsParametersThatOnlyTheOptimizerHolds) {
  at::Tensor temperature = at::ones({1}).requires_grad_();
  rig.optimizer->add_param_group(optim::OptimizerParamGroup({temperature}));
  {
    const Preserved preserved(*rig.model, *rig.optimizer);
    const at::NoGradGuard no_graph;
    temperature.fill_(7);
  }
  EXPECT_EQ(temperature.item<double>(), 1);
}

TEST_F(PreservedTest, TakesAModelThatIsNotSharedByAPointer) {
  struct Plain : nn::Module {
    Plain() : weight(register_parameter("weight", at::ones({2}))) {}
    at::Tensor weight;
  } plain;
  optim::SGD optimizer(plain.parameters(), optim::SGDOptions(0.1));
  {
    const Preserved preserved(plain, optimizer);
    const at::NoGradGuard no_graph;
    plain.weight.fill_(0);
    plain.eval();
  }
  EXPECT_EQ(plain.weight.sum().item<double>(), 2);
  EXPECT_TRUE(plain.is_training());
}

TEST_F(PreservedTest, RefusesAnOptimizerWhoseStateCannotBeCopied) {
  struct Opaque : optim::OptimizerParamState {};
  auto& states = rig.optimizer->state();
  const auto key = states.begin()->first;
  states[key] = std::make_unique<Opaque>();
  EXPECT_THROW(Preserved(*rig.model, *rig.optimizer), std::invalid_argument);
}

}  // namespace
}  // namespace osler::torch
