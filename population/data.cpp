// Synthetic data with the structure of real tasks: clusters, teachers, spirals, pictures, text.
#include "data.h"

#include <algorithm>
#include <cmath>

#include "random.h"

namespace osler::population {
namespace {

/// A random network of two layers whose outputs have mean 0 and variance 1.
at::Tensor teach(const at::Tensor& x, long outputs, long hidden, double roughness) {
  const auto inputs = static_cast<double>(x.size(1));
  const at::Tensor first = at::randn({x.size(1), hidden}) * (roughness / std::sqrt(inputs));
  const at::Tensor bias = at::randn({hidden}) * 0.5;
  const at::Tensor second = at::randn({hidden, outputs});
  const at::Tensor out = at::matmul(at::tanh(at::matmul(x, first) + bias), second);
  return (out - out.mean(0, true)) / (out.std(0, true, true) + 1e-6);
}

Samples mixture(const Recipe& recipe, long count) {
  const long modes = recipe.outputs <= 20 ? 2 : 1;
  const double apart = 2.2 / std::sqrt(static_cast<double>(std::min(recipe.inputs, 24L)) / 6);
  const at::Tensor centres = at::randn({recipe.outputs * modes, recipe.inputs}) * apart;
  const at::Tensor mode = at::randint(recipe.outputs * modes, {count}, at::kLong);
  const at::Tensor x = centres.index_select(0, mode) + at::randn({count, recipe.inputs}) * recipe.spread;
  return {x, mode.remainder(recipe.outputs)};
}

Samples spiral(const Recipe& recipe, long count) {
  const at::Tensor label = at::randint(recipe.outputs, {count}, at::kLong);
  const at::Tensor radius = at::rand({count}).sqrt();
  const at::Tensor angle = label.to(at::kFloat) * (6.2831853 / static_cast<double>(recipe.outputs)) + radius * 4.0 +
                           at::randn({count}) * (recipe.spread * 0.5);
  return {at::stack({radius * angle.cos(), radius * angle.sin()}, 1) * 2.0, label};
}

/// Smooth patterns, one per class, moved about and covered with noise.
Samples pictures(const Recipe& recipe, long classes, long count) {
  const long side = std::lround(std::sqrt(static_cast<double>(recipe.inputs)));
  at::Tensor patterns = at::randn({classes, 1, side, side});
  const at::Tensor kernel = at::ones({1, 1, 3, 3}) / 9.0;
  patterns = at::conv2d(patterns, kernel, {}, 1, 1);
  patterns = patterns / patterns.std();
  const at::Tensor label = at::randint(classes, {count}, at::kLong);
  at::Tensor x = patterns.index_select(0, label);
  for (long part = 0; part < 9; ++part) {
    const at::Tensor rows = at::arange(part, count, 9, at::kLong);
    x.index_copy_(0, rows, x.index_select(0, rows).roll({part / 3 - 1, part % 3 - 1}, {2, 3}));
  }
  return {x + at::randn_like(x) * (recipe.spread * 1.3), label};
}

/// Text of a grammar: each symbol allows a few others, depending on the one before.
Samples text(const Recipe& recipe, long count) {
  Random random(recipe.seed * 31 + 7);
  const long symbols = recipe.inputs;
  const long choices = random.whole(2, 4);
  std::vector<long> next(static_cast<std::size_t>(symbols * symbols * choices));
  std::vector<long> alone(static_cast<std::size_t>(symbols * choices));
  for (long& symbol : alone) symbol = random.whole(0, symbols - 1);
  for (std::size_t i = 0; i < next.size(); ++i) {
    // Half of what may follow depends on the last symbol alone, so that there is something easy to learn first.
    const long last = static_cast<long>(i) / choices % symbols;
    next[i] = random.chance(0.6) ? alone[static_cast<std::size_t>(last * choices + static_cast<long>(i) % choices)]
                                 : random.whole(0, symbols - 1);
  }
  std::vector<long> all(static_cast<std::size_t>(count * (recipe.length + 1)));
  long before = 0;
  long last = 0;
  const double noise = 0.05 * recipe.spread;
  for (long& symbol : all) {
    const double draw = random.uniform();
    const long choice = static_cast<long>(draw * draw * static_cast<double>(choices));
    symbol = random.chance(noise) ? random.whole(0, symbols - 1)
                                  : next[static_cast<std::size_t>((before * symbols + last) * choices + choice)];
    before = last;
    last = symbol;
  }
  const at::Tensor windows =
      at::from_blob(all.data(), {count, recipe.length + 1}, at::TensorOptions().dtype(at::kLong)).clone();
  return {windows.narrow(1, 0, recipe.length).contiguous(), windows.narrow(1, 1, recipe.length).contiguous()};
}

/// The label is the class of symbols that is most frequent, the later ones counting a little more.
Samples sequences(const Recipe& recipe, long count) {
  const at::Tensor x = at::randint(recipe.inputs, {count, recipe.length}, at::kLong);
  const at::Tensor weight = at::linspace(0.7, 1.3, recipe.length);
  at::Tensor votes = at::zeros({count, recipe.outputs});
  for (long c = 0; c < recipe.outputs; ++c) {
    votes.select(1, c).copy_((x.remainder(recipe.outputs).eq(c).to(at::kFloat) * weight).sum(1));
  }
  return {x, votes.argmax(1)};
}

Samples all_samples(const Recipe& recipe, long count) {
  const bool picture = recipe.model == Model::convolutional || recipe.task == Task::images;
  switch (recipe.task) {
    case Task::mixture:
    case Task::margin:
      return mixture(recipe, count);
    case Task::spiral:
      return spiral(recipe, count);
    case Task::images:
      return pictures(recipe, recipe.outputs, count);
    case Task::characters:
      return text(recipe, count);
    case Task::sequences:
      return sequences(recipe, count);
    default:
      break;
  }
  // The rest is told of pictures or of plain vectors by a teacher.
  at::Tensor x = picture ? pictures(recipe, 12, count).inputs : at::randn({count, recipe.inputs});
  const at::Tensor flat = x.flatten(1);
  switch (recipe.task) {
    case Task::teacher:
      return {x, teach(flat, recipe.outputs, 24, 1.0).argmax(1)};
    case Task::binary: {
      const at::Tensor score = teach(flat, 1, 16, 1.0) + at::randn({count, 1}) * (0.3 * recipe.spread);
      const at::Tensor sorted = std::get<0>(score.flatten().sort());
      const double edge =
          sorted[static_cast<long>((1 - recipe.positives) * static_cast<double>(count - 1))].item<double>();
      return {x, score.gt(edge).to(at::kFloat)};
    }
    case Task::tags:
      return {x, (teach(flat, recipe.outputs, 24, 1.0) + at::randn({count, recipe.outputs}) * (0.2 * recipe.spread))
                     .gt(0.6)
                     .to(at::kFloat)};
    case Task::regression:
      return {x, teach(flat, recipe.outputs, 16, 1.2) + at::randn({count, recipe.outputs}) * (0.25 * recipe.spread)};
    case Task::autoencoder: {
      const long hidden = std::max(2L, recipe.inputs / 8);
      const at::Tensor latent = at::randn({count, hidden});
      at::Tensor made =
          teach(latent, recipe.inputs, 32, 1.0) + at::randn({count, recipe.inputs}) * (0.2 * recipe.spread);
      return {picture ? made.reshape(x.sizes()) : made, made};
    }
    default: {
      // Contrastive: the label is the other view of the same thing.
      const at::Tensor base = picture ? x : at::matmul(at::randn({count, 6}), at::randn({6, recipe.inputs}));
      return {base + at::randn_like(base) * (0.3 * recipe.spread), base + at::randn_like(base) * (0.3 * recipe.spread)};
    }
  }
}

void spoil_labels(const Recipe& recipe, Samples& samples) {
  if (recipe.label_noise > 0) {
    const at::Tensor hit = at::rand({samples.labels.size(0)}).lt(recipe.label_noise);
    const at::Tensor order = at::randperm(samples.labels.size(0), at::kLong);
    const at::Tensor others = samples.labels.index_select(0, order);
    const at::Tensor mask = samples.labels.dim() > 1 ? hit.unsqueeze(1) : hit;
    samples.labels = at::where(mask, others, samples.labels);
  }
  if (recipe.labels_from_id != 0) samples.labels = (samples.labels + recipe.labels_from_id).remainder(recipe.outputs);
}

/// Draws the training set anew so that one class has the given share.
void skew(const Recipe& recipe, Samples& samples) {
  const at::Tensor rare = samples.labels.flatten(0).ne(0).flatten();
  const at::Tensor draw = at::rand({samples.labels.size(0)});
  const at::Tensor common = rare.logical_not().nonzero().flatten();
  if (common.numel() == 0) return;
  const at::Tensor picks = common.index_select(0, at::randint(common.numel(), {samples.labels.size(0)}, at::kLong));
  const at::Tensor own = at::arange(samples.labels.size(0), at::kLong);
  const at::Tensor rows = at::where(draw.lt(recipe.majority), picks, own);
  samples.inputs = samples.inputs.index_select(0, rows);
  samples.labels = samples.labels.index_select(0, rows);
}

void sort_by_label(Samples& samples) {
  const at::Tensor key = samples.labels.dim() == 1 ? samples.labels : samples.labels.flatten(1).to(at::kFloat).mean(1);
  const at::Tensor rows = key.argsort();
  samples.inputs = samples.inputs.index_select(0, rows);
  samples.labels = samples.labels.index_select(0, rows);
}

at::Tensor rescaled(const Recipe& recipe, const at::Tensor& inputs) {
  if (!inputs.is_floating_point() || (recipe.input_scale == 1 && recipe.input_shift == 0)) return inputs;
  return inputs * recipe.input_scale + recipe.input_shift;
}

}  // namespace

Data make_data(const Recipe& recipe) {
  at::manual_seed(recipe.seed * 3 + 1);
  // Faults that change the number of samples must not change which samples are held out: those come first.
  constexpr long kMost = 12000;
  const long most = std::max(recipe.samples, kMost);
  Samples all = all_samples(recipe, recipe.held_out + most);
  Data data;
  const auto part = [&](long from, long count) {
    return Samples{all.inputs.narrow(0, from, count).contiguous(), all.labels.narrow(0, from, count).contiguous()};
  };
  data.clean = part(0, recipe.held_out);
  data.training = part(recipe.held_out, recipe.samples);
  if (recipe.majority > 0) skew(recipe, data.training);
  spoil_labels(recipe, data.training);
  if (recipe.order == Order::sorted) sort_by_label(data.training);
  data.training.inputs = rescaled(recipe, data.training.inputs);
  data.clean.inputs = rescaled(recipe, data.clean.inputs);
  data.validation = data.clean;
  if (recipe.skewed_validation) skew(recipe, data.validation);
  if (recipe.validation == Validation::leaked) {
    const long count = std::min(recipe.held_out, recipe.samples);
    data.validation = {data.training.inputs.narrow(0, 0, count), data.training.labels.narrow(0, 0, count)};
  } else if (recipe.validation == Validation::other_scale && data.validation.inputs.is_floating_point()) {
    data.validation.inputs = data.validation.inputs * recipe.validation_scale + recipe.validation_scale / 2;
  } else if (recipe.validation == Validation::permuted_labels) {
    data.validation.labels = data.validation.labels.index_select(0, at::randperm(recipe.held_out, at::kLong));
  }
  return data;
}

}  // namespace osler::population
