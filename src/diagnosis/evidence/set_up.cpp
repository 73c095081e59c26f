// Reads the set-up of a training from its log.
#include "diagnosis/evidence/set_up.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "diagnosis/configured.h"

namespace osler {
namespace {

bool multiples(const std::vector<double>& shares, int parts) {
  constexpr double kRounding = 0.002;
  return std::all_of(shares.begin(), shares.end(), [&](double share) {
    return std::abs(share * parts - std::round(share * parts)) < kRounding * parts;
  });
}

bool without_logarithm(Measure measure) {
  return measure == Measure::squared_error || measure == Measure::root_squared_error ||
         measure == Measure::absolute_error || measure == Measure::relative_error || measure == Measure::hinge ||
         measure == Measure::r2;
}

std::optional<std::string_view> configured_loss(const Patient& patient) {
  return configured_text(patient, {"loss", "criterion", "loss_fn", "loss_function", "objective"});
}

bool mentions(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

/// Columns of Hugging Face's trainer or of LLaMA-Factory, and a loss far below that of guessing among tokens.
bool continues_language_model(const Patient& patient) {
  constexpr double kLearned = 6;  // nats; guessing among the tokens of a usual vocabulary costs more than 8.7
  const auto has = [&](std::string_view name) { return patient.run().find(name) != nullptr; };
  const Reading* loss = patient.training();
  const bool of_trainer = (has("grad_norm") && has("learning_rate")) || has("percentage");
  return patient.domain().domain == Domain::language_model && loss != nullptr && has("loss") && of_trainer &&
         loss->opening < kLearned;
}

}  // namespace

std::optional<int> samples_per_accuracy(const Patient& patient) {
  constexpr std::size_t kFewest = 10;
  constexpr double kPerCent = 100;
  const Series* series = patient.roles().first(Role::train_accuracy);
  if (series == nullptr) return std::nullopt;
  std::vector<double> shares;
  double highest = 0;
  for (const Bucket& bucket : series->summary().buckets()) {
    if (bucket.count == 0) continue;
    // Buckets of several points keep their extremes, which are values of single batches as well.
    for (const double value : {bucket.min, bucket.max}) {
      shares.push_back(value);
      highest = std::max(highest, value);
    }
  }
  if (shares.size() < kFewest) return std::nullopt;
  if (highest > 1.5) {
    for (double& share : shares) share /= kPerCent;
  }
  if (std::set<double>(shares.begin(), shares.end()).size() < 2) return std::nullopt;
  for (const int parts : {1, 2, 3, 4}) {
    if (multiples(shares, parts)) return parts;
  }
  return std::nullopt;
}

bool averages_epochs(const Patient& patient) {
  const Reading* training = patient.training();
  const Reading* validation = patient.validation();
  if (training == nullptr || validation == nullptr) return false;
  const double rows = training->curve.points();
  return rows <= static_cast<double>(signal::kCurvePoints) && std::abs(rows - validation->curve.points()) <= 1;
}

bool configured_cross_entropy(const Patient& patient) {
  const auto named = configured_loss(patient);
  return named && mentions(*named, {"entropy", "Entropy", "bce", "BCE", "nll", "NLL"}) && !mentions(*named, {"gauss"});
}

bool loss_without_logarithm(const Patient& patient) {
  for (const Role role : {Role::train_loss, Role::validation_loss, Role::validation_metric, Role::train_metric}) {
    for (const Cast& cast : patient.roles().in(role)) {
      if (without_logarithm(cast.guess.measure)) return true;
    }
  }
  const auto named = configured_loss(patient);
  return named &&
         mentions(*named, {"mse", "MSE", "mae", "MAE", "L1", "l1", "squared", "huber", "Huber", "hinge", "Hinge"});
}

bool hardly_begun(const Patient& patient) {
  constexpr double kFewUpdates = 50;
  const Series* epoch = patient.roles().first(Role::epoch);
  const auto total = epoch == nullptr ? std::nullopt : epoch->summary().total();
  const Reading* loss = patient.training();
  if (patient.domain().domain != Domain::language_model || loss == nullptr || !total || total->count == 0) return false;
  return total->max - total->min < 1 && static_cast<double>(loss->last_step) < kFewUpdates;
}

bool few_single_batches(const Patient& patient, const Reading& loss) {
  constexpr double kFew = 120;
  constexpr double kScatters = 0.15;  // share of what was gained
  const bool every_step = loss.curve.points() >= static_cast<double>(loss.last_step - loss.first_step + 1);
  const bool epochs = patient.validation() != nullptr || !patient.validation_quality().empty() ||
                      patient.configured({"num_train_epochs", "max_epochs", "num_epochs", "epochs", "n_epochs"}) ||
                      !patient.roles().in(Role::epoch).empty();
  return every_step && !epochs && static_cast<double>(loss.last_step) < kFew &&
         loss.noise.sigma > kScatters * std::abs(loss.improvement());
}

bool fine_tuning(const Patient& patient) {
  if (patient.run().format == "hf-trainer-state" || continues_language_model(patient)) return true;
  return configured_flag(patient, {"pretrained", "from_pretrained", "finetune", "use_pretrained"}) == true;
}

}  // namespace osler
