// Making the data of a task, and spoiling it as the recipe says.
#include "trainer/data.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "osler/diagnosis/catalogue.h"

namespace osler::trainer {
namespace {

using gallery::Recipe;
using gallery::Task;

constexpr std::int64_t kClasses = 10;
constexpr std::int64_t kValidationSamples = 500;

struct Splits {
  Samples training;
  Samples validation;
};

Splits split(Samples all, std::int64_t training) {
  const std::int64_t total = all.count();
  return {{all.inputs.slice(0, 0, training), all.targets.slice(0, 0, training)},
          {all.inputs.slice(0, training, total), all.targets.slice(0, training, total)}};
}

/// Clouds of points around ten centres of a 32-dimensional space.
Splits clouds(std::int64_t samples) {
  constexpr std::int64_t kDimensions = 32;
  const at::Tensor centres = at::sin(at::arange(kClasses * kDimensions).view({kClasses, kDimensions}) * 1.7);
  const std::int64_t total = samples + kValidationSamples;
  const at::Tensor labels = at::randint(0, kClasses, {total}, at::kLong);
  return split({centres.index_select(0, labels) + 1.2 * at::randn({total, kDimensions}), labels}, samples);
}

/// A smooth function of eight numbers, with a little noise.
Splits regression(std::int64_t samples) {
  const std::int64_t total = samples + kValidationSamples;
  const at::Tensor x = at::randn({total, 8});
  const at::Tensor y = at::sin(2 * x.select(1, 0)) + x.select(1, 1) * x.select(1, 2) + 0.5 * x.select(1, 3).abs();
  return split({x, (y + 0.1 * at::randn({total})).unsqueeze(1)}, samples);
}

/// The adding problem (Hochreiter and Schmidhuber 1997): the sum of the two marked numbers of a sequence.
Splits adding(std::int64_t samples, std::int64_t length) {
  const std::int64_t total = samples + kValidationSamples;
  const at::Tensor numbers = at::rand({total, length});
  const at::Tensor first = at::randint(0, length / 2, {total, 1}, at::kLong);
  const at::Tensor second = at::randint(length / 2, length, {total, 1}, at::kLong);
  const at::Tensor marks = at::zeros({total, length}).scatter(1, first, 1).scatter(1, second, 1);
  return split({at::stack({numbers, marks}, -1), (numbers * marks).sum(1, true)}, samples);
}

/// A page without its headings and references, which pages have in common: splits of the text would share them.
void add_paragraphs(std::string_view page, std::string& text) {
  while (!page.empty()) {
    const std::size_t end = std::min(page.size(), page.find('\n') + 1);
    const std::string_view line = page.substr(0, end == 0 ? page.size() : end);
    if (!line.starts_with("#") && !line.starts_with("- ")) text += line;
    page.remove_prefix(line.size());
  }
}

/// Osler's own catalogue is the text: English prose of about a hundred kilobytes.
const std::string& prose() {
  static const std::string text = [] {
    std::string all;
    for (const auto& finding : findings()) add_paragraphs(finding.descriptor.doc, all);
    for (const auto& cause : causes()) add_paragraphs(cause.descriptor.doc, all);
    return all;
  }();
  return text;
}

struct Alphabet {
  std::array<std::int64_t, 256> number{};
  std::int64_t size = 0;
};

Alphabet alphabet_of(const std::string& text) {
  Alphabet alphabet;
  std::array<bool, 256> used{};
  for (const char letter : text) used[static_cast<unsigned char>(letter)] = true;
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (used[i]) alphabet.number[i] = alphabet.size++;
  }
  return alphabet;
}

/// Where pieces of `length` letters begin that lie from `cut` on and do not occur before it: phrases come again.
at::Tensor unseen_starts(const std::string& letters, std::int64_t cut, std::int64_t length, std::int64_t count) {
  const std::string_view before = std::string_view(letters).substr(0, static_cast<std::size_t>(cut));
  const auto end = static_cast<std::int64_t>(letters.size()) - length - 1;
  at::Tensor starts = at::empty({count, 1}, at::kLong);
  for (std::int64_t i = 0; i < count;) {
    const std::int64_t start = at::randint(cut, end, {1}, at::kLong).item<std::int64_t>();
    const auto piece =
        std::string_view(letters).substr(static_cast<std::size_t>(start), static_cast<std::size_t>(length));
    if (before.find(piece) == std::string_view::npos) starts[i++][0] = start;
  }
  return starts;
}

/// Pieces of the prose and the same pieces one letter on; validation is from its last tenth.
Splits text(std::int64_t samples, std::int64_t length, std::int64_t& vocabulary) {
  const std::string& letters = prose();
  const Alphabet alphabet = alphabet_of(letters);
  vocabulary = alphabet.size;
  at::Tensor numbers = at::empty({static_cast<std::int64_t>(letters.size())}, at::kLong);
  std::transform(letters.begin(), letters.end(), numbers.data_ptr<std::int64_t>(),
                 [&](char letter) { return alphabet.number[static_cast<unsigned char>(letter)]; });
  const std::int64_t cut = numbers.size(0) / 10 * 9;
  const auto pieces = [&](const at::Tensor& starts) {
    const at::Tensor places = starts + at::arange(length).unsqueeze(0);
    return Samples{numbers.take(places), numbers.take(places + 1)};
  };
  Samples training = pieces(at::randint(0, cut - length - 1, {samples, 1}, at::kLong));
  return {std::move(training), pieces(unseen_starts(letters, cut, length, kValidationSamples / 4))};
}

Splits digits(std::int64_t samples, const std::filesystem::path& folder, bool& drawn) {
  if (!folder.empty()) {
    auto training = read_digits(folder, true, samples);
    auto validation = read_digits(folder, false, kValidationSamples);
    if (training && validation) return {std::move(*training), std::move(*validation)};
  }
  drawn = true;
  return split(draw_digits(samples + kValidationSamples), samples);
}

/// Mean 0 and standard deviation 1 by the training set; or, for inputs that have them already, units as a person would
/// find them in a table: some columns in thousands.
void set_units(const Recipe& recipe, Splits& splits) {
  const bool pictures = recipe.task == Task::digits || recipe.task == Task::reconstruction;
  const bool numbers = recipe.task == Task::clouds || recipe.task == Task::regression;
  if (pictures && recipe.standardise) {
    const double mean = splits.training.inputs.mean().item<double>();
    const double std = splits.training.inputs.std().item<double>();
    splits.training.inputs = (splits.training.inputs - mean) / std;
    splits.validation.inputs = (splits.validation.inputs - mean) / std;
  }
  if (numbers && !recipe.standardise) {
    const std::int64_t columns = splits.training.inputs.size(1);
    const at::Tensor scale = at::pow(10.0, at::linspace(1, 3, columns));
    splits.training.inputs = splits.training.inputs * scale + scale;
    splits.validation.inputs = splits.validation.inputs * scale + scale;
  }
}

at::Tensor some(std::int64_t count, double share) {
  return at::randperm(count, at::kLong).slice(0, 0, static_cast<std::int64_t>(share * static_cast<double>(count)));
}

void add_label_noise(double share, Samples& samples, bool classes) {
  if (!(share > 0)) return;
  const at::Tensor places = some(samples.count(), share);
  if (classes) {
    samples.targets.index_put_({places}, at::randint(0, kClasses, {places.size(0)}, at::kLong));
  } else {
    const at::Tensor strangers = samples.targets.index_select(0, at::randperm(samples.count(), at::kLong));
    samples.targets.index_put_({places}, strangers.index_select(0, places));
  }
}

void spoil_training(const Recipe& recipe, Samples& training, bool classes) {
  if (recipe.imbalance > 0 && classes) {
    const at::Tensor first = (training.targets == 0).nonzero().flatten();
    const at::Tensor places = some(training.count(), recipe.imbalance);
    const at::Tensor copies = first.index_select(0, at::randint(0, first.size(0), {places.size(0)}, at::kLong));
    training.inputs.index_put_({places}, training.inputs.index_select(0, copies));
    training.targets.index_put_({places}, at::zeros({places.size(0)}, at::kLong));
  }
  if (!recipe.labels_match) {
    training.targets = training.targets.index_select(0, at::randperm(training.count(), at::kLong));
  }
  if (recipe.bad_samples > 0 && training.inputs.is_floating_point()) {
    const at::Tensor places = some(training.count(), recipe.bad_samples);
    training.inputs.index_put_({places}, training.inputs.index_select(0, places) * 1000);
  }
  if (!recipe.shuffle && classes) {
    training = training.at(std::get<1>(at::sort(training.targets)));
  }
}

}  // namespace

TaskData make_data(const Recipe& recipe, const std::filesystem::path& folder) {
  TaskData data;
  Splits splits;
  switch (recipe.task) {
    case Task::digits:
    case Task::reconstruction:
      splits = digits(recipe.samples, folder, data.drawn_digits);
      break;
    case Task::clouds:
      splits = clouds(recipe.samples);
      break;
    case Task::text:
      splits = text(recipe.samples, recipe.sequence_length, data.vocabulary);
      break;
    case Task::adding:
      splits = adding(recipe.samples, recipe.sequence_length);
      break;
    case Task::regression:
      splits = regression(recipe.samples);
      break;
  }
  set_units(recipe, splits);
  if (recipe.task == Task::reconstruction) {
    splits.training.targets = splits.training.inputs.flatten(1);
    splits.validation.targets = splits.validation.inputs.flatten(1);
  }
  const bool classes = recipe.task == Task::digits || recipe.task == Task::clouds;
  if (classes) data.classes = kClasses;
  if (recipe.task == Task::text) data.classes = data.vocabulary;
  data.training = {splits.training.inputs.clone(), splits.training.targets.clone()};
  data.truth = splits.validation;
  data.validation = {splits.validation.inputs.clone(), splits.validation.targets.clone()};
  // What is spoiled draws random numbers of its own: the same training without the fault has the same start.
  at::Generator random = at::globalContext().defaultGenerator(at::kCPU);
  const at::Tensor before = random.get_state();
  // Both splits were labelled by the same people.
  add_label_noise(recipe.label_noise, data.training, classes);
  add_label_noise(recipe.label_noise, data.validation, classes);
  spoil_training(recipe, data.training, classes);
  if (recipe.overlap > 0) {
    const at::Tensor places = some(data.validation.count(), recipe.overlap);
    data.validation.inputs.index_put_({places}, data.training.inputs.slice(0, 0, places.size(0)));
    data.validation.targets.index_put_({places}, data.training.targets.slice(0, 0, places.size(0)));
  }
  random.set_state(before);
  return data;
}

}  // namespace osler::trainer
