// What the figures of a run share: windows, pointers, and panels for families of series.
#include "figures/subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "figures/axis.h"
#include "report/layout.h"
#include "report/numbers.h"

namespace osler::figure {
namespace {

constexpr std::size_t kLinesTogether = 8;
constexpr std::size_t kMarksShown = 40;
constexpr std::size_t kPlacesShown = 30;

Pointer::Tone tone_of(Severity severity) {
  switch (severity) {
    case Severity::critical:
      return Pointer::Tone::critical;
    case Severity::warning:
      return Pointer::Tone::warning;
    case Severity::note:
      break;
  }
  return Pointer::Tone::note;
}

/// The setting of a finding, so that the line in a figure is the one that the diagnosis decides by.
double setting(std::string_view finding, std::string_view name) {
  const Finding* known = find_finding(finding);
  if (known == nullptr) return std::nan("");
  for (const Setting& setting : known->settings) {
    if (setting.name == name) return setting.value;
  }
  return std::nan("");
}

std::vector<Level> gradient_levels() {
  const double vanishing = setting("vanishing-gradients", "critical_norm");
  const double exploding = setting("exploding-gradients", "large");
  return {{vanishing, tidy_exponent(fmt::format("vanishing below {:g}", vanishing)), false},
          {exploding, tidy_exponent(fmt::format("exploding above {:g}", exploding)), false}};
}

const std::vector<Role>& roles_in(Family family) {
  static const std::map<Family, std::vector<Role>> table = {
      {Family::loss,
       {Role::train_loss, Role::validation_loss, Role::generator_loss, Role::discriminator_loss, Role::policy_loss,
        Role::value_loss}},
      {Family::accuracy, {Role::train_accuracy, Role::validation_accuracy}},
      {Family::metric, {Role::validation_metric, Role::train_metric}},
      {Family::gradient, {Role::gradient_norm, Role::clip_threshold}},
      {Family::rate, {Role::learning_rate}},
      {Family::reward, {Role::reward, Role::evaluation_reward}},
      {Family::layer, {}},
      {Family::alone, {}},
  };
  return table.at(family);
}

/// The best of a role: the totals before their parts, and no more than can be told apart.
std::vector<const Series*> best_of(const Subject& subject, Family family) {
  std::vector<const Series*> series;
  for (const Role role : roles_in(family)) {
    // Metrics have units of their own: only the first one is sure to make sense on an axis.
    const std::size_t most = family == Family::metric ? 1 : kLinesTogether / 2;
    std::size_t taken = 0;
    for (const Cast& cast : subject.roles().in(role)) {
      if (taken < most && !cast.series->summary().empty()) {
        series.push_back(cast.series);
        ++taken;
      }
    }
    if (family == Family::metric && !series.empty()) break;
  }
  return series;
}

}  // namespace

Result<Subject> Subject::of(const Run& run, const Report& report, const FigureWish& wish) {
  auto roles = RoleMap::infer(run, wish.roles);
  if (!roles) return roles.error();
  for (const std::string& name : wish.series) {
    if (run.find(name) == nullptr) return Error{ErrorCode::not_found, "no series of that name in the run", name};
  }
  Subject subject(run, report, wish, std::move(*roles));
  if (subject.first_step_ > subject.last_step_) {
    const StepRange steps = run.steps();
    return Error{ErrorCode::invalid_argument,
                 fmt::format("the run has steps {} to {}, none of them in that range", layout::grouped(steps.first),
                             layout::grouped(steps.last)),
                 run.name};
  }
  return subject;
}

Subject::Subject(const Run& run, const Report& report, const FigureWish& wish, RoleMap roles)
    : run_(run), report_(report), wish_(wish), roles_(std::move(roles)) {
  bool any = false;
  const auto include = [&](std::int64_t first, std::int64_t last) {
    first_step_ = any ? std::min(first_step_, first) : first;
    last_step_ = any ? std::max(last_step_, last) : last;
    any = true;
  };
  for (const Series& series : run.all_series()) {
    if (const std::optional<Bucket> total = series.summary().total()) include(total->first_step, total->last_step);
  }
  for (const auto& [id, histograms] : run.histograms()) {
    if (!histograms.empty()) include(histograms.front().step, histograms.back().step);
  }
  if (wish.from) first_step_ = std::max(first_step_, *wish.from);
  if (wish.to) last_step_ = std::min(last_step_, *wish.to);
}

std::vector<Bucket> Subject::shown(const Series& series) const {
  std::vector<Bucket> buckets = series.summary().buckets();
  std::erase_if(buckets, [this](const Bucket& bucket) {
    return bucket.last_step < first_step_ || bucket.first_step > last_step_;
  });
  return buckets;
}

Line Subject::line(const Series& series) const {
  Line line;
  line.name = series.name();
  line.buckets = shown(series);
  return line;
}

Role Subject::role_of(const Series& series) const {
  for (const auto& [role, casts] : roles_.all()) {
    for (const Cast& cast : casts) {
      if (cast.series == &series) return role;
    }
  }
  return Role::other;
}

std::vector<Layer> Subject::layers(Role role) const {
  std::vector<Layer> layers = layers_in(Patient(run_, roles_), role);
  std::erase_if(layers, [role](const Layer& layer) { return shown_statistic(layer, role) == nullptr; });
  const bool weights = std::any_of(layers.begin(), layers.end(), [](const Layer& l) { return !is_vector(l.name); });
  if (weights) std::erase_if(layers, [](const Layer& layer) { return is_vector(layer.name); });
  return layers;
}

Figure Subject::blank(std::string title) const {
  Figure figure;
  figure.title = std::move(title);
  figure.subtitle = report_.headline;
  figure.first_step = first_step_;
  figure.last_step = last_step_;
  const bool sick = report_.status == Status::critical || report_.status == Status::warning;
  for (const Observation& finding : report_.findings) {
    // Beside an illness, notes would only take up room.
    if (sick && finding.severity == Severity::note) continue;
    if (finding.last_step < first_step_ || finding.first_step > last_step_) continue;
    figure.pointers.push_back(pointer_to(finding));
  }
  for (Pointer& pointer : pointers_to(run_.marks())) {
    if (pointer.first_step >= first_step_ && pointer.first_step <= last_step_) {
      figure.pointers.push_back(std::move(pointer));
    }
  }
  return figure;
}

Pointer pointer_to(const Observation& finding) {
  Pointer pointer;
  pointer.first_step = finding.first_step;
  pointer.last_step = finding.last_step;
  pointer.tone = tone_of(finding.severity);
  for (const Evidence& evidence : finding.evidence) {
    if (evidence.first_step == evidence.last_step && pointer.places.size() < kPlacesShown) {
      pointer.places.push_back(evidence.first_step);
    }
  }
  const std::string first = layout::grouped(finding.first_step);
  const std::string when = finding.first_step == finding.last_step
                               ? "step " + first
                               : fmt::format("steps {} to {}", first, layout::grouped(finding.last_step));
  pointer.label = fmt::format("{} · {}", finding.finding, when);
  return pointer;
}

namespace {

std::string label_of(const Mark& mark) {
  constexpr int kLongestNote = 60;  // about what fits beside a line half-way across a figure
  if (mark.kind == Mark::Kind::restart) return "restart";
  if (mark.kind == Mark::Kind::crashed) return "crash";
  return layout::clip(layout::clean(mark.text, true), kLongestNote, true);
}

}  // namespace

std::vector<Pointer> pointers_to(const std::vector<Mark>& marks) {
  std::vector<Pointer> pointers;
  for (const Mark& mark : marks) {
    if (mark.kind == Mark::Kind::finished) continue;
    if (pointers.size() >= kMarksShown) break;
    Pointer pointer;
    pointer.first_step = pointer.last_step = mark.step;
    pointer.label = label_of(mark);
    pointers.push_back(std::move(pointer));
  }
  std::sort(pointers.begin(), pointers.end(),
            [](const Pointer& a, const Pointer& b) { return a.first_step < b.first_step; });
  return pointers;
}

Family family_of(Role role) {
  switch (role) {
    case Role::train_loss:
    case Role::validation_loss:
      return Family::loss;
    case Role::train_accuracy:
    case Role::validation_accuracy:
      return Family::accuracy;
    case Role::train_metric:
    case Role::validation_metric:
      return Family::metric;
    case Role::gradient_norm:
    case Role::clip_threshold:
      return Family::gradient;
    case Role::learning_rate:
      return Family::rate;
    case Role::policy_loss:
    case Role::value_loss:
    case Role::generator_loss:
    case Role::discriminator_loss:
      return Family::loss;
    case Role::reward:
    case Role::evaluation_reward:
      return Family::reward;
    case Role::layer_gradient:
    case Role::layer_weight:
    case Role::layer_update:
    case Role::layer_activation:
      return Family::layer;
    case Role::clipped_share:
    case Role::loss_scale:
    case Role::epoch:
    case Role::step_time:
    case Role::throughput:
    case Role::utilization:
    case Role::tokens_seen:
    case Role::reward_deviation:
    case Role::no_variance_share:
    case Role::reward_margin:
    case Role::preference_reward:
    case Role::episode_length:
    case Role::exploration_rate:
    case Role::policy_entropy:
    case Role::action_deviation:
    case Role::policy_kl:
    case Role::reference_kl:
    case Role::latent_kl:
    case Role::clip_fraction:
    case Role::explained_variance:
    case Role::q_value:
    case Role::completion_length:
    case Role::truncated_share:
    case Role::other:
      break;
  }
  return Family::alone;
}

std::string heading_of(Role role) {
  static const std::map<Role, std::string> headings = {
      {Role::train_loss, "Loss"},
      {Role::validation_loss, "Loss"},
      {Role::train_accuracy, "Accuracy"},
      {Role::validation_accuracy, "Accuracy"},
      {Role::train_metric, "Metric"},
      {Role::validation_metric, "Metric"},
      {Role::gradient_norm, "Gradient norm"},
      {Role::clip_threshold, "Gradient norm"},
      {Role::learning_rate, "Learning rate"},
      {Role::loss_scale, "Loss scale"},
      {Role::epoch, "Epoch"},
      {Role::step_time, "Time per step"},
      {Role::throughput, "Throughput"},
      {Role::reward, "Reward"},
      {Role::utilization, "Utilization"},
      {Role::tokens_seen, "Tokens"},
      {Role::evaluation_reward, "Reward"},
      {Role::reward_deviation, "Spread of the reward"},
      {Role::no_variance_share, "Groups without variance"},
      {Role::reward_margin, "Reward margin"},
      {Role::preference_reward, "Preference rewards"},
      {Role::episode_length, "Episode length"},
      {Role::exploration_rate, "Exploration"},
      {Role::policy_entropy, "Entropy"},
      {Role::action_deviation, "Deviation of the actions"},
      {Role::policy_kl, "KL of updates"},
      {Role::reference_kl, "KL to the reference"},
      {Role::latent_kl, "KL to the prior"},
      {Role::clip_fraction, "Clip fraction"},
      {Role::explained_variance, "Explained variance"},
      {Role::policy_loss, "Loss"},
      {Role::value_loss, "Loss"},
      {Role::q_value, "Value estimates"},
      {Role::generator_loss, "Loss"},
      {Role::discriminator_loss, "Loss"},
      {Role::completion_length, "Completion length"},
      {Role::truncated_share, "Truncated completions"},
      {Role::layer_gradient, "Gradient of each layer"},
      {Role::layer_weight, "Weights of each layer"},
      {Role::layer_update, "Updates of each layer"},
      {Role::layer_activation, "Activations of each layer"},
  };
  const auto found = headings.find(role);
  return found == headings.end() ? "" : found->second;
}

Panel series_panel(const Subject& subject, const std::vector<const Series*>& series, std::string heading) {
  Lines lines;
  lines.scale = subject.wish().scale;
  for (const Series* one : series) {
    lines.lines.push_back(subject.line(*one));
    lines.lines.back().dashed = subject.role_of(*one) == Role::clip_threshold;
  }
  Panel panel;
  panel.heading = std::move(heading);
  panel.content = std::move(lines);
  return panel;
}

Panel family_panel(const Subject& subject, Family family, const std::vector<const Series*>& first) {
  std::vector<const Series*> series = first;
  for (const Series* one : best_of(subject, family)) {
    if (std::find(series.begin(), series.end(), one) == series.end()) series.push_back(one);
  }
  // Training before validation, whatever the evidence names first: the same curve has the same colour everywhere.
  std::stable_sort(series.begin(), series.end(),
                   [&subject](const Series* a, const Series* b) { return subject.role_of(*a) < subject.role_of(*b); });
  const std::string heading = series.empty() ? "" : heading_of(subject.role_of(*series.front()));
  Panel panel = series_panel(subject, series, heading);
  if (family == Family::gradient) panel.levels = gradient_levels();
  return panel;
}

Panel layer_panel(const Subject& subject, Role role, const std::set<std::string>& sick) {
  constexpr std::size_t kMostLayers = 96;
  const std::vector<Layer> layers = subject.layers(role);
  Lines lines;
  lines.scale = subject.wish().scale;
  const std::size_t stride = layers.size() / kMostLayers + 1;
  const bool contrast = !sick.empty() && 2 * sick.size() <= layers.size() && sick.size() <= kLinesTogether;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const bool is_sick = sick.count(layers[i].name) > 0;
    if (i % stride != 0 && !is_sick) continue;
    Line line = subject.line(*shown_statistic(layers[i], role));
    line.name = layers[i].name;
    line.faint = contrast && !is_sick;
    if (!contrast) line.depth = layers.size() > 1 ? static_cast<double>(i) / static_cast<double>(layers.size() - 1) : 0;
    lines.lines.push_back(std::move(line));
  }
  Panel panel;
  panel.heading = layer_heading(layers, role);
  panel.height = 1.25;
  if (role == Role::layer_gradient && panel.heading.ends_with(": norm")) panel.levels = gradient_levels();
  panel.content = std::move(lines);
  return panel;
}

std::string layer_heading(const std::vector<Layer>& layers, Role role) {
  if (layers.empty()) return heading_of(role);
  const Series* shown = shown_statistic(layers.front(), role);
  for (const auto& [statistic, series] : layers.front().series) {
    if (series == shown) return fmt::format("{}: {}", heading_of(role), statistic);
  }
  return heading_of(role);
}

const Series* shown_statistic(const Layer& layer, Role role) {
  if (role == Role::layer_activation) {
    if (const Series* found = layer.find({"std", "norm", "mean-abs", "zero-share"})) return found;
  }
  if (const Series* found = layer.find({"norm", "l2", "rms", "std", "max", "abs-max", "mean-abs"})) return found;
  return layer.series.empty() ? nullptr : layer.series.begin()->second;
}

}  // namespace osler::figure
