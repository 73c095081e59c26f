// Choosing the curves by which a run is judged.
#include "diagnosis/patient.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <tuple>

#include "diagnosis/domain.h"
#include "diagnosis/layers.h"
#include "run/reach.h"

namespace osler {
namespace {

constexpr std::size_t kFewestPoints = 2;
constexpr std::size_t kMetricsRead = 6;  // per-class metrics by the dozen add nothing

/// A curve needs two finite values to be one.
bool is_curve(const Series& series) {
  const auto total = series.summary().total();
  return total && total->count >= kFewestPoints;
}

std::optional<Reading> objective(const std::vector<Cast>& casts) {
  std::vector<const Series*> parts;
  for (const Cast& cast : casts) {
    if (cast.guess.adversarial || !is_curve(*cast.series)) continue;
    if (!cast.guess.component) return read_series(*cast.series, cast.guess.higher_is_better);
    if (parts.empty() || cast.series->summary().points() == parts.front()->summary().points()) {
      parts.push_back(cast.series);
    }
  }
  if (parts.empty()) return std::nullopt;
  return parts.size() == 1 ? read_series(*parts.front(), false) : read_sum(parts);
}

std::vector<Reading> qualities(const RoleMap& roles, Role accuracy, Role metric) {
  std::vector<Reading> readings;
  for (const Role role : {accuracy, metric}) {
    for (const Cast& cast : roles.in(role)) {
      if (readings.size() >= kMetricsRead) return readings;
      if (cast.guess.component || !is_curve(*cast.series)) continue;
      readings.push_back(read_series(*cast.series, cast.guess.higher_is_better));
    }
  }
  return readings;
}

/// The norm of the whole gradient where the log has those of layers alone. They must have been logged together: layers
/// that were looked at in turns have no sum.
std::optional<Reading> norm_over_layers(const std::vector<Layer>& layers) {
  constexpr double kMost = 0.9;  // of the layers must have been logged at the same steps
  using When = std::tuple<std::uint64_t, std::int64_t, std::int64_t>;
  std::map<When, std::vector<const Series*>> together;
  std::size_t norms = 0;
  for (const Layer& layer : layers) {
    const Series* norm = layer.find({"norm", "l2"});
    if (norm == nullptr) continue;
    const Bucket total = *norm->summary().total();
    if (total.min < 0) return std::nullopt;  // no norms, whatever they are called
    ++norms;
    together[{total.points(), total.first_step, total.last_step}].push_back(norm);
  }
  for (const auto& [when, parts] : together) {
    const bool enough = parts.size() > 1 && static_cast<double>(parts.size()) >= kMost * static_cast<double>(norms);
    if (!enough || std::get<0>(when) < kFewestPoints) continue;
    return read_norm(parts, "gradient norm (computed from " + std::to_string(parts.size()) + " layers)");
  }
  return std::nullopt;
}

}  // namespace

Patient::Patient(const Run& run, const RoleMap& roles, double now, std::optional<Domain> domain)
    : run_(run), roles_(roles), domain_(recognise_domain(run, roles)) {
  if (!std::isnan(now)) now_ = now;
  if (domain) domain_ = {*domain, 1, "as you said"};
  const auto is = [&](Domain one) { return domain == one; };
  const bool by_reward = !domain || is(Domain::unknown) || is(Domain::reinforcement) || is(Domain::reward_tuning);
  training_ = objective(roles.in(Role::train_loss));
  validation_ = objective(roles.in(Role::validation_loss));
  validation_quality_ = qualities(roles, Role::validation_accuracy, Role::validation_metric);
  training_quality_ = qualities(roles, Role::train_accuracy, Role::train_metric);
  adversarial_ = !training_ && std::any_of(roles.all().begin(), roles.all().end(), [](const auto& entry) {
    return is_loss_role(entry.first) && entry.first != Role::validation_loss &&
           std::any_of(entry.second.begin(), entry.second.end(), [](const Cast& c) { return c.guess.adversarial; });
  });
  adversarial_ = adversarial_ || trained_in_turns(run);
  for (const Role role : {Role::reward, Role::evaluation_reward}) {
    for (const Cast& cast : roles.in(role)) {
      if (!by_reward || reinforcement_ || !is_curve(*cast.series)) continue;
      reinforcement_ = true;
      adversarial_ = false;
      training_ = read_series(*cast.series, true);
    }
  }
  // Where a log has answers and no loss at all, they are what training is after.
  const bool no_loss =
      std::none_of(roles.all().begin(), roles.all().end(), [](const auto& entry) { return is_loss_role(entry.first); });
  if (no_loss && !training_) {
    by_quality_ = true;
    if (!training_quality_.empty()) {
      training_ = training_quality_.front();
    } else if (!validation_quality_.empty()) {
      training_ = validation_quality_.front();
    }
  }
  if (domain && !is(Domain::unknown)) adversarial_ = is(Domain::adversarial);
  if (const Series* rate = roles.first(Role::learning_rate); rate != nullptr && is_curve(*rate))
    learning_rate_ = read_series(*rate, false);
  if (const Series* norm = roles.first(Role::gradient_norm); norm != nullptr && is_curve(*norm))
    gradient_norm_ = read_series(*norm, false);
  if (roles.in(Role::gradient_norm).empty()) gradient_norm_ = norm_over_layers(layers_in(*this, Role::layer_gradient));
}

std::vector<const Reading*> Patient::objectives() const {
  std::vector<const Reading*> found;
  if (training() != nullptr) found.push_back(training());
  if (validation() != nullptr) found.push_back(validation());
  return found;
}

std::optional<double> Patient::best_accuracy() const {
  const Series* accuracy = roles_.first(Role::validation_accuracy);
  if (accuracy == nullptr) accuracy = roles_.first(Role::train_accuracy);
  if (accuracy == nullptr) return std::nullopt;
  const auto total = accuracy->summary().total();
  if (!total || total->count == 0) return std::nullopt;
  constexpr double kPerCent = 100;
  return total->max > 1.5 ? total->max / kPerCent : total->max;
}

std::optional<double> Patient::configured(std::initializer_list<std::string_view> names) const {
  for (const std::string_view name : names) {
    const auto entry = run_.configuration().find(name);
    if (entry == run_.configuration().end()) continue;
    double value = 0;
    const std::string& text = entry->second;
    const bool read = std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc{};
    if (read && std::isfinite(value)) return within_reach(value);
  }
  return std::nullopt;
}

std::optional<int> chance_classes(double loss, double tolerance) {
  // Class counts people have. Small ones; EMNIST (26, 47, 62), Caltech (101, 102, 256), CIFAR-100, Tiny ImageNet (200),
  // ImageNet (1000, 21841); characters of a text (64, 65); bytes (256); then vocabularies: BERT (28996 cased, 30522),
  // Llama (32000) and Llama 3 (128256), Mistral (32768), GPT-2 (50257, padded 50304), cl100k (100277), powers of two.
  for (const int classes : {2,    3,     4,     5,     6,     7,     8,     9,     10,    12,    15,     16,
                            20,   26,    47,    50,    62,    64,    65,    100,   101,   102,   200,    256,
                            1000, 10000, 21841, 28996, 30522, 32000, 32768, 50257, 50304, 65536, 100277, 128256}) {
    if (std::abs(loss / std::log(classes) - 1) < tolerance) return classes;
  }
  return std::nullopt;
}

}  // namespace osler
