// Sound programs, usual and unusual ones: no report on the way may warn, and watching changes no bit of any of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <iostream>

#include "documented.h"
#include "trial_run.h"

namespace osler::torch::trial {
namespace {

struct Sound {
  std::string name;
  std::function<Outcome(bool watched)> train;
};

using Make = Program (*)();

std::function<Outcome(bool)> trial_of(
    Make program, std::function<void(Trial&)> change = [](Trial&) {}) {
  return [=](bool watched) {
    return TrialRun(
               [&] {
                 Trial trial;
                 trial.program = program();
                 change(trial);
                 return trial;
               },
               watched)
        .outcome();
  };
}

std::function<Outcome(bool)> optimized_by(Make program, MakeOptimizer optimizer) {
  return trial_of(program, [=](Trial& trial) { trial.program.optimizer = optimizer; });
}

std::function<Outcome(bool)> whole_steps(Make program) {
  return trial_of(program, [](Trial& trial) { trial.whole_steps = true; });
}

std::function<Outcome(bool)> scheduled(Make program, double rate, std::function<double(double part)> factor) {
  return trial_of(program, [=](Trial& trial) {
    trial.schedule = [=](::torch::optim::Optimizer& optimizer, int step) {
      optimizer.param_groups()[0].options().set_lr(rate * factor(double(step) / kSteps));
    };
  });
}

/// Both batches of training and of validation.
std::function<Outcome(bool)> on_other_data(Make program, std::function<void(Sample&)> change) {
  return trial_of(program, [=](Trial& trial) { trial.spoil = trial.spoil_validation = change; });
}

/// A loop of one's own with some monitors in it.
class Loop {
 public:
  explicit Loop(bool watched) : watched_(watched) { ::torch::manual_seed(11); }
  std::size_t watch(nn::Module& model, ::torch::optim::Optimizer& optimizer) {
    models_.push_back(&model);
    if (watched_) monitors_.push_back(std::make_unique<Monitor>(model, optimizer));
    return models_.size() - 1;
  }
  bool step(const at::Tensor& loss, std::size_t which = 0) { return !watched_ || monitors_[which]->step(loss); }
  void train_step(::torch::optim::Optimizer& optimizer, const std::function<at::Tensor()>& compute,
                  std::size_t which = 0) {
    if (watched_) {
      monitors_[which]->train_step(compute);
      return;
    }
    optimizer.zero_grad();
    compute().backward();
    optimizer.step();
  }
  void batch(const Sample& sample) {
    if (watched_) monitors_[0]->batch(sample.x, sample.y);
  }
  void look(int i) {
    if (i % kStepsBetweenReports != kStepsBetweenReports - 1) return;
    for (auto& monitor : monitors_) made_.reports.push_back(warnings_of(*monitor));
  }
  Outcome outcome() {
    std::vector<at::Tensor> all;
    for (const nn::Module* const model : models_) all.push_back(nn::utils::parameters_to_vector(model->parameters()));
    made_.weights = at::cat(all).detach().clone();
    return std::move(made_);
  }

 private:
  bool watched_;
  std::vector<nn::Module*> models_;
  std::vector<std::unique_ptr<Monitor>> monitors_;
  Outcome made_;
};

nn::Sequential makes_points() {
  return nn::Sequential(nn::Linear(4, 32), nn::ReLU(), nn::Linear(32, 32), nn::ReLU(), nn::Linear(32, 6));
}
nn::Sequential judges_points() {
  return nn::Sequential(nn::Linear(6, 32), nn::LeakyReLU(), nn::Linear(32, 32), nn::LeakyReLU(), nn::Linear(32, 1));
}

Outcome adversaries(bool watched) {
  Loop loop(watched);
  nn::Sequential generator = makes_points();
  nn::Sequential critic = judges_points();
  const auto quick = ::torch::optim::AdamOptions(1e-3).betas({0.5, 0.999});
  ::torch::optim::Adam makes(generator->parameters(), quick);
  ::torch::optim::Adam judges(critic->parameters(), quick);
  const auto real = clouds(6, 3);
  const std::size_t critics = loop.watch(*critic, judges);
  const std::size_t generators = loop.watch(*generator, makes);
  const auto believed = [&](const at::Tensor& x, double as) {
    return F::binary_cross_entropy_with_logits(critic->forward(x), at::full({kBatch, 1}, as));
  };
  for (int i = 0; i < kSteps; ++i) {
    const at::Tensor x = real().x;
    const at::Tensor seeds = at::randn({kBatch, 4});
    loop.train_step(
        judges, [&] { return believed(x, 1) + believed(generator->forward(seeds).detach(), 0); }, critics);
    loop.train_step(
        makes, [&] { return believed(generator->forward(seeds), 1); }, generators);
    loop.look(i);
  }
  return loop.outcome();
}

/// With the penalty on the critic's gradient, and several of its steps for each of the generator's.
Outcome wasserstein(bool watched) {
  Loop loop(watched);
  nn::Sequential generator = makes_points();
  nn::Sequential critic = judges_points();
  const auto quick = ::torch::optim::AdamOptions(1e-3).betas({0, 0.9});
  ::torch::optim::Adam makes(generator->parameters(), quick);
  ::torch::optim::Adam judges(critic->parameters(), quick);
  const auto real = clouds(6, 3);
  const std::size_t critics = loop.watch(*critic, judges);
  const std::size_t generators = loop.watch(*generator, makes);
  for (int i = 0; i < kSteps; ++i) {
    for (int k = 0; k < 3; ++k) {
      const at::Tensor x = real().x;
      const at::Tensor made = generator->forward(at::randn({kBatch, 4})).detach();
      const at::Tensor part = at::rand({kBatch, 1});
      loop.train_step(
          judges,
          [&] {
            const at::Tensor between = (part * x + (1 - part) * made).requires_grad_();
            const at::Tensor slope =
                ::torch::autograd::grad({critic->forward(between).sum()}, {between}, {}, true, true)[0];
            return critic->forward(made).mean() - critic->forward(x).mean() +
                   10 * (slope.norm(2, 1) - 1).square().mean();
          },
          critics);
    }
    const at::Tensor seeds = at::randn({kBatch, 4});
    loop.train_step(
        makes, [&] { return -critic->forward(generator->forward(seeds)).mean(); }, generators);
    loop.look(i);
  }
  return loop.outcome();
}

Outcome two_optimizers(bool watched) {
  Loop loop(watched);
  Program program = convolutional();
  std::vector<at::Tensor> body;
  std::vector<at::Tensor> head;
  for (const auto& named : program.net->named_parameters()) {
    (named.key().starts_with("head") ? head : body).push_back(named.value());
  }
  ::torch::optim::SGD slow(body, ::torch::optim::SGDOptions(0.02).momentum(0.9));
  ::torch::optim::Adam quick(head, 3e-3);
  loop.watch(*program.net, slow);
  for (int i = 0; i < kSteps; ++i) {
    const Sample batch = program.draw();
    loop.batch(batch);
    slow.zero_grad();
    quick.zero_grad();
    const at::Tensor loss = program.loss(program.net->forward(batch.x), batch.y);
    loss.backward();
    if (loop.step(loss)) {
      slow.step();
      quick.step();
    }
    loop.look(i);
  }
  return loop.outcome();
}

Outcome accumulation(bool watched) {
  Loop loop(watched);
  Program program = transformer();
  const auto optimizer = program.optimizer(program.net->parameters());
  loop.watch(*program.net, *optimizer);
  for (int i = 0; i < kSteps; ++i) {
    optimizer->zero_grad();
    at::Tensor sum = at::zeros({});
    for (int part = 0; part < 4; ++part) {
      const Sample batch = program.draw();
      loop.batch(batch);
      const at::Tensor loss = program.loss(program.net->forward(batch.x), batch.y) / 4;
      loss.backward();
      sum += loss.detach();
    }
    if (loop.step(sum)) optimizer->step();
    loop.look(i);
  }
  return loop.outcome();
}

/// A network that has learned goes on with a new head: its body stands still, for a while or for ever.
Outcome fine_tuning(bool watched, int unfrozen_at, bool new_group) {
  Loop loop(watched);
  Program program = convolutional();
  auto net = std::static_pointer_cast<Convolutional>(program.net);
  auto before = program.optimizer(net->parameters());
  for (int i = 0; i < 200; ++i) {
    const Sample batch = program.draw();
    before->zero_grad();
    program.loss(net->forward(batch.x), batch.y).backward();
    before->step();
  }
  net->zero_grad();
  net->head->reset_parameters();
  std::vector<at::Tensor> body;
  for (const auto& named : net->named_parameters()) {
    if (!named.key().starts_with("head")) body.push_back(named.value());
  }
  for (at::Tensor& each : body) each.set_requires_grad(false);
  ::torch::optim::Adam optimizer(new_group ? net->head->parameters() : net->parameters(), 2e-3);
  loop.watch(*net, optimizer);
  for (int i = 0; i < kSteps; ++i) {
    if (i == unfrozen_at) {
      for (at::Tensor& each : body) each.set_requires_grad(true);
      if (new_group) {
        optimizer.add_param_group(
            ::torch::optim::OptimizerParamGroup(body, std::make_unique<::torch::optim::AdamOptions>(2e-4)));
      }
    }
    const Sample batch = program.draw();
    loop.batch(batch);
    loop.train_step(optimizer, [&] { return program.loss(net->forward(batch.x), batch.y); });
    loop.look(i);
  }
  return loop.outcome();
}

/// A small network learns what a large one says.
Outcome distillation(bool watched) {
  Loop loop(watched);
  Program teacher = perceptron();
  auto teaches = teacher.optimizer(teacher.net->parameters());
  for (int i = 0; i < 300; ++i) {
    const Sample batch = teacher.draw();
    teaches->zero_grad();
    teacher.loss(teacher.net->forward(batch.x), batch.y).backward();
    teaches->step();
  }
  nn::Sequential student(nn::Linear(10, 16), nn::ReLU(), nn::Linear(16, 4));
  ::torch::optim::Adam learns(student->parameters(), 3e-3);
  loop.watch(*student, learns);
  for (int i = 0; i < kSteps; ++i) {
    const at::Tensor x = teacher.draw().x;
    at::Tensor said;
    {
      const at::NoGradGuard no_graph;
      said = at::softmax(teacher.net->forward(x) / 2, 1);
    }
    loop.train_step(learns, [&] {
      return F::kl_div(F::log_softmax(student->forward(x) / 2, 1), said, F::KLDivFuncOptions(::torch::kBatchMean)) * 4;
    });
    loop.look(i);
  }
  return loop.outcome();
}

/// Two views of a sample are to be nearer to each other than to those of others.
Outcome contrastive(bool watched) {
  Loop loop(watched);
  nn::Sequential encoder(nn::Linear(16, 32), nn::ReLU(), nn::Linear(32, 32), nn::ReLU(), nn::Linear(32, 8));
  ::torch::optim::Adam optimizer(encoder->parameters(), 2e-3);
  loop.watch(*encoder, optimizer);
  const auto draw = few_in_many();
  const at::Tensor own = at::arange(kBatch);
  for (int i = 0; i < kSteps; ++i) {
    const at::Tensor x = draw().x;
    const at::Tensor one = x + 0.3 * at::randn_like(x);
    const at::Tensor other = x + 0.3 * at::randn_like(x);
    loop.train_step(optimizer, [&] {
      const at::Tensor a = F::normalize(encoder->forward(one), F::NormalizeFuncOptions().dim(1));
      const at::Tensor b = F::normalize(encoder->forward(other), F::NormalizeFuncOptions().dim(1));
      return F::cross_entropy(at::matmul(a, b.t()) / 0.2, own);
    });
    loop.look(i);
  }
  return loop.outcome();
}

/// Two tasks with heads of their own, one in one step and the other in the next.
Outcome tasks_in_turn(bool watched) {
  Loop loop(watched);
  auto net = std::make_shared<Perceptron>(10, 5);
  ::torch::optim::Adam optimizer(net->parameters(), 2e-3);
  loop.watch(*net, optimizer);
  const auto draw = clouds(10, 4, 0.7);
  for (int i = 0; i < kSteps; ++i) {
    const Sample batch = draw();
    optimizer.zero_grad();
    const at::Tensor out = net->forward(batch.x);
    const at::Tensor loss = i % 2 == 0 ? F::cross_entropy(out.slice(1, 0, 4), batch.y)
                                       : 2 * F::mse_loss(out.select(1, 4), batch.x.select(1, 0) * batch.x.select(1, 1));
    loss.backward();
    if (loop.step(loss)) optimizer.step();
    loop.look(i);
  }
  return loop.outcome();
}

/// Values of actions, learned towards a copy of the network that follows slowly.
Outcome values_of_actions(bool watched) {
  Loop loop(watched);
  auto net = std::make_shared<Perceptron>(4, 3);
  auto target = std::make_shared<Perceptron>(4, 3);
  const auto follow = [&](double part) {
    const at::NoGradGuard no_graph;
    auto to = target->parameters();
    const auto from = net->parameters();
    for (std::size_t i = 0; i < to.size(); ++i) to[i].lerp_(from[i], part);
  };
  follow(1);
  ::torch::optim::Adam optimizer(net->parameters(), 1e-3);
  loop.watch(*net, optimizer);
  const at::Tensor moves = at::randn({3, 4}) * 0.3;
  for (int i = 0; i < kSteps; ++i) {
    const at::Tensor state = at::randn({kBatch, 4});
    const at::Tensor action = at::randint(0, 3, {kBatch}, at::kLong);
    const at::Tensor next = 0.9 * state + moves.index_select(0, action);
    at::Tensor aim;
    {
      const at::NoGradGuard no_graph;
      aim = at::exp(-next.square().sum(1)) + 0.8 * std::get<0>(target->forward(next).max(1));
    }
    loop.train_step(optimizer, [&] {
      return F::smooth_l1_loss(net->forward(state).gather(1, action.unsqueeze(1)).squeeze(1), aim);
    });
    follow(0.02);
    loop.look(i);
  }
  return loop.outcome();
}

Outcome quasi_newton(bool watched) {
  Loop loop(watched);
  nn::Linear net(10, 1);
  ::torch::optim::LBFGS optimizer(net->parameters(), ::torch::optim::LBFGSOptions(0.2).max_iter(2));
  loop.watch(*net, optimizer);
  const at::Tensor x = at::randn({256, 10});
  const at::Tensor y = at::matmul(x, at::randn({10, 1})) + 0.2 * at::randn({256, 1});
  for (int i = 0; i < 100; ++i) {
    const at::Tensor loss = optimizer.step([&] {
      optimizer.zero_grad();
      const at::Tensor made = F::mse_loss(net->forward(x), y);
      made.backward();
      return made;
    });
    static_cast<void>(loop.step(loss));
    loop.look(i);
  }
  return loop.outcome();
}

/// Only the rows of the words in a batch have a gradient.
Outcome sparse_words(bool watched) {
  Loop loop(watched);
  nn::Embedding words(nn::EmbeddingOptions(200, 8).sparse(true));
  ::torch::optim::SGD optimizer(words->parameters(), 0.5);
  loop.watch(*words, optimizer);
  const at::Tensor truth = at::randn({200, 8}) / 3;
  for (int i = 0; i < kSteps; ++i) {
    const at::Tensor x = at::randint(0, 200, {kBatch}, at::kLong);
    optimizer.zero_grad();
    const at::Tensor loss = (words->forward(x) - truth.index_select(0, x)).square().sum(1).mean();
    loss.backward();
    if (loop.step(loss)) optimizer.step();
    loop.look(i);
  }
  return loop.outcome();
}

std::vector<Sound> sound_programs() {
  const auto classifies = [](Make program) {
    return trial_of(program,
                    [](Trial& trial) { trial.spoil = [](Sample& batch) { batch.y.slice(0, 0, 5).fill_(-100); }; });
  };
  return {
      {"perceptron", trial_of(perceptron)},
      {"deep", trial_of(deep)},
      {"convolutional", trial_of(convolutional)},
      {"residual", trial_of(residual)},
      {"LSTM", trial_of(lstm)},
      {"GRU", trial_of(gru)},
      {"transformer", trial_of(transformer)},
      {"autoencoder", trial_of(autoencoder)},
      {"variational", trial_of(variational)},
      {"recommender", trial_of(recommender)},
      {"normalised", trial_of(normalised)},
      {"perceptron by whole steps", whole_steps(perceptron)},
      {"convolutional by whole steps", whole_steps(convolutional)},
      {"GRU by whole steps", whole_steps(gru)},
      {"transformer by whole steps", whole_steps(transformer)},
      {"variational by whole steps", whole_steps(variational)},
      {"perceptron with Adam", optimized_by(perceptron, adam(2e-3))},
      {"deep with momentum", optimized_by(deep, sgd(0.01, 0.9))},
      {"residual with momentum and decay", optimized_by(residual, sgd(0.05, 0.9, 5e-4))},
      {"LSTM with RMSprop", optimized_by(lstm, adaptive<::torch::optim::RMSprop>(2e-3))},
      {"autoencoder with Adagrad", optimized_by(autoencoder, adaptive<::torch::optim::Adagrad>(0.03))},
      {"transformer with warm-up and cosine",
       scheduled(transformer, 3e-3,
                 [](double part) { return std::min(1.0, part * 10 + 0.025) * 0.5 * (1 + std::cos(M_PI * part)); })},
      {"convolutional with steps of the rate",
       scheduled(convolutional, 0.05, [](double part) { return part < 0.5   ? 1
                                                               : part < 0.8 ? 0.1
                                                                            : 0.01; })},
      {"pixels of 0 to 1, convolutional",
       on_other_data(convolutional, [](Sample& batch) { batch.x = at::sigmoid(batch.x); })},
      {"classes of 3 to 1, GRU",
       on_other_data(gru,
                     [](Sample& batch) {
                       const at::Tensor drop = at::rand({kBatch}) < 0.5;
                       batch.x = batch.x * at::where(drop.logical_and(batch.y == 1), -1, 1).view({-1, 1, 1});
                       batch.y = at::where(drop.logical_and(batch.y == 1), at::zeros_like(batch.y), batch.y);
                     })},
      {"a fifth of the labels wrong, perceptron",
       on_other_data(perceptron,
                     [](Sample& batch) {
                       batch.y = at::where(at::rand({kBatch}) < 0.2, at::randint_like(batch.y, 4), batch.y);
                     })},
      {"labels that are ignored, perceptron", classifies(perceptron)},
      {"smoothed labels, convolutional",
       trial_of(convolutional,
                [](Trial& trial) {
                  trial.program.loss = [](const at::Tensor& out, const at::Tensor& y) {
                    return F::cross_entropy(out, y, F::CrossEntropyFuncOptions().label_smoothing(0.1));
                  };
                })},
      {"clipped, LSTM", trial_of(lstm,
                                 [](Trial& trial) {
                                   trial.before_optimizer = [net = trial.program.net](int) {
                                     nn::utils::clip_grad_norm_(net->parameters(), 1.0);
                                   };
                                 })},
      {"double precision, normalised", trial_of(normalised,
                                                [](Trial& trial) {
                                                  trial.program.net->to(at::kDouble);
                                                  trial.spoil = trial.spoil_validation = [](Sample& batch) {
                                                    batch.x = batch.x.to(at::kDouble);
                                                    batch.y = batch.y.to(at::kDouble);
                                                  };
                                                })},
      {"all data in one batch, normalised", trial_of(normalised,
                                                     [](Trial& trial) {
                                                       trial.show_batches = false;
                                                       trial.spoil = [kept = trial.program.draw()](Sample& batch) {
                                                         batch = kept;
                                                       };
                                                       trial.validates = false;
                                                     })},
      {"targets in the hundreds, autoencoder", trial_of(autoencoder,
                                                        [](Trial& trial) {
                                                          trial.program.loss = [](const at::Tensor& out,
                                                                                  const at::Tensor& y) {
                                                            return F::mse_loss(100 * out, 100 * y);
                                                          };
                                                        })},
      {"a generator and its critic", adversaries},
      // The bias of the critic's last layer cancels out of the difference, and has a gradient of exactly zero.
      {"a Wasserstein critic with penalty", wasserstein},
      {"two optimizers", two_optimizers},
      {"accumulation", accumulation},
      {"fine-tuning of the head", [](bool watched) { return fine_tuning(watched, kSteps, false); }},
      {"fine-tuning, unfrozen later", [](bool watched) { return fine_tuning(watched, 150, false); }},
      {"fine-tuning, a group added later", [](bool watched) { return fine_tuning(watched, 150, true); }},
      {"teacher and student", distillation},
      {"contrastive", contrastive},
      {"tasks in turn", tasks_in_turn},
      {"values of actions", values_of_actions},
      {"LBFGS", quasi_newton},
      {"sparse gradients", sparse_words},
  };
}

bool contains(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

const std::vector<std::string> kOfTime = {"input-starved", "memory-growing", "step-time-cliff", "training-stalled"};

TEST(SoundTrials, NoReportOnTheWayWarnsAndWatchingChangesNoBit) {
  const std::vector<Sound> programs = sound_programs();
  EXPECT_GE(programs.size(), 30U);
  std::size_t silent = 0;
  for (const Sound& program : programs) {
    SCOPED_TRACE(program.name);
    Outcome watched = program.train(true);
    ASSERT_FALSE(watched.reports.empty());
    bool warned = false;
    for (std::vector<Observation>& report : watched.reports) {
      // How long a step takes is decided by whoever else uses the machine.
      std::erase_if(report, [](const Observation& seen) { return contains(kOfTime, seen.finding); });
      EXPECT_TRUE(report.empty()) << listed(report);
      warned = warned || !report.empty();
    }
    if (!warned) ++silent;
    EXPECT_TRUE(at::equal(watched.weights, program.train(false).weights)) << "changed by watching";
  }
  std::cout << silent << " of " << programs.size() << " without any warning\n";
  expect_as_documented("sound programs without a warning", silent, programs.size());
}

}  // namespace
}  // namespace osler::torch::trial
