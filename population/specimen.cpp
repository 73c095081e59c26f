// One run of the population: drawn, trained, judged, told.
#include "specimen.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

#include "faults.h"
#include "history.h"
#include "journal.h"
#include "judge.h"
#include "random.h"
#include "recipe.h"

namespace osler::population {
namespace {

constexpr double kHealthyShare = 0.45;
constexpr double kTwoFaultsShare = 0.05;
constexpr double kProbedShare = 0.10;

struct Case {
  Recipe healthy;
  Recipe planted;
  Style style;
  std::vector<Fault> faults;
  std::vector<Planted> changes;
};

/// A fault drawn by weight and a healthy recipe that it can harm.
Case draw_case(std::uint64_t seed, Random& random) {
  static const std::vector<Fault> all = all_faults();
  static const std::vector<double> weights = [] {
    std::vector<double> list;
    for (const Fault& fault : all) list.push_back(fault.weight);
    return list;
  }();
  Case one;
  const double kind = random.uniform();
  const std::size_t wanted = kind < kHealthyShare ? 0 : kind < 1 - kTwoFaultsShare ? 1 : 2;
  while (one.faults.size() < wanted) {
    const Fault& fault = all[random.weighted(weights)];
    if (one.faults.empty()) {
      do {
        one.healthy = draw_recipe(seed, random);
      } while (!fault.fits(one.healthy));
    } else if (!fault.fits(one.healthy) || fault.cause == one.faults[0].cause || fault.misleads ||
               one.faults[0].misleads) {
      if (random.chance(0.02)) break;  // not everything has a second fault that fits
      continue;
    }
    fault.prepare(one.healthy, random);
    one.faults.push_back(fault);
  }
  if (wanted == 0) one.healthy = draw_recipe(seed, random);
  one.style = draw_style(one.healthy, random);
  one.planted = one.healthy;
  for (const Fault& fault : one.faults) one.changes.push_back(fault.plant(one.planted, random));
  one.style.every = std::min(one.style.every, std::max(1L, one.planted.steps / 20));
  // A log that misleads has the column that does.
  for (const Fault& fault : one.faults) {
    if (!fault.misleads) continue;
    one.style.validation = true;
    if ((fault.traces & kMetric) != 0) one.style.metric = true;
  }
  return one;
}

/// Writes JSON by hand: the machine that trains may have no library for it.
class Json {
 public:
  Json& text(std::string_view name, std::string_view value) { return raw(name, quoted(value)); }
  Json& number(std::string_view name, double value) {
    std::array<char, 32> digits{};
    std::snprintf(digits.data(), digits.size(), "%.6g", value);
    return raw(name, std::isfinite(value) ? digits.data() : "null");
  }
  Json& flag(std::string_view name, bool value) { return raw(name, value ? "true" : "false"); }
  Json& raw(std::string_view name, const std::string& value) {
    text_ += (text_.empty() ? "{\"" : ", \"") + std::string(name) + "\": " + value;
    return *this;
  }
  std::string done() const { return text_ + "}"; }

  static std::string quoted(std::string_view value) {
    std::string text = "\"";
    for (const char c : value) {
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
    return text + "\"";
  }

 private:
  std::string text_;
};

/// Words separated by spaces as a list of strings; none twice.
void append_words(std::vector<std::string>& list, std::string_view words) {
  std::size_t from = 0;
  while (from < words.size()) {
    const std::size_t to = std::min(words.find(' ', from), words.size());
    const std::string one(words.substr(from, to - from));
    bool known = one.empty();
    for (const std::string& other : list) known = known || other == one;
    if (!known) list.push_back(one);
    from = to + 1;
  }
}

std::string json_list(const std::vector<std::string>& list) {
  std::string text = "[";
  for (const std::string& one : list) text += (text.size() > 1 ? ", " : "") + Json::quoted(one);
  return text + "]";
}

std::string json_result(const Result& result) {
  return Json().number("loss", result.loss).number("metric", result.metric).done();
}

std::string json_faults(const Case& one, const History& run) {
  std::string text = "[";
  for (std::size_t i = 0; i < one.faults.size(); ++i) {
    std::vector<std::string> also;
    append_words(also, one.faults[i].also);
    long since = one.changes[i].since;
    if (run.nonfinite_from > since) since = run.nonfinite_from;
    text += (i == 0 ? "" : ", ") + Json()
                                       .text("id", one.faults[i].cause)
                                       .text("key", one.faults[i].key)
                                       .text("what", one.changes[i].what)
                                       .raw("also", json_list(also))
                                       .number("since_step", static_cast<double>(one.changes[i].since))
                                       .number("seen_from_step", static_cast<double>(since))
                                       .done();
  }
  return text + "]";
}

bool shows(const Case& one, const History& run) {
  if (curve_shows(one.planted, run, one.style)) return true;
  const Style& style = one.style;
  const bool metric = style.metric && one.planted.metric != Metric::none;
  for (const Fault& fault : one.faults) {
    const unsigned traces = fault.traces;
    if (((traces & kRate) != 0 && style.rate) || ((traces & kConfig) != 0 && style.configuration) ||
        ((traces & kNorm) != 0 && (style.norm || style.layers)) || ((traces & kLayers) != 0 && style.layers) ||
        ((traces & kValidation) != 0 && style.validation) || ((traces & kMetric) != 0 && metric)) {
      return true;
    }
  }
  return false;
}

std::string describe(const Case& one, const History& run, const History* twin, const Judgement& judgement,
                     const Specimen& specimen, long records, long probes) {
  const Recipe& recipe = one.planted;
  std::vector<std::string> findings;
  if (judgement.verdict != "healthy") {
    for (const Fault& fault : one.faults) append_words(findings, fault.findings);
  }
  const Style& style = one.style;
  const std::string columns = Json()
                                  .flag("validation", style.validation)
                                  .flag("metric", style.metric && recipe.metric != Metric::none)
                                  .flag("rate", style.rate)
                                  .flag("norm", style.norm)
                                  .flag("layers", style.layers)
                                  .flag("configuration", style.configuration)
                                  .flag("averaged", style.averaged)
                                  .number("smoothing", style.smoothing)
                                  .number("digits", style.digits)
                                  .done();
  Json json;
  json.text("id", specimen.id).raw("seed", std::to_string(recipe.seed)).text("file", specimen.file);
  json.text("family", family(recipe)).text("split", is_for_learning(family(recipe)) ? "learn" : "left-out");
  json.text("task", word(recipe.task)).text("model", word(recipe.model)).text("objective", word(recipe.objective));
  json.text("metric", word(recipe.metric))
      .number("classes", static_cast<double>(has_classes(recipe) ? recipe.outputs : 0));
  json.text("optimizer", word(recipe.rule)).number("lr", recipe.rate).text("schedule", word(recipe.schedule));
  json.number("batch", static_cast<double>(recipe.batch)).number("samples", static_cast<double>(recipe.samples));
  json.number("width", static_cast<double>(recipe.width)).number("depth", static_cast<double>(recipe.depth));
  json.text("norm", word(recipe.norm)).text("activation", word(recipe.activation)).number("dropout", recipe.dropout);
  json.number("weight_decay", recipe.weight_decay).number("clip", recipe.clip).flag("sum", recipe.sum);
  json.number("chance_loss", chance_loss(recipe)).number("resumed", static_cast<double>(recipe.resumed));
  json.text("style", word(style.grain)).text("format", word(style.format)).raw("columns", columns);
  json.number("steps", static_cast<double>(run.steps.size())).number("records", static_cast<double>(records));
  json.raw("faults", json_faults(one, run)).raw("expected_findings", json_list(findings));
  json.text("verdict", judgement.verdict).text("reason", judgement.reason).number("harm", judgement.harm);
  json.number("harm_loss", judgement.harm_loss).number("harm_metric", judgement.harm_metric);
  json.number("misled", judgement.misled)
      .number("drift", judgement.drift)
      .number("probes", static_cast<double>(probes));
  json.flag("shows", !one.faults.empty() && shows(one, run));
  json.number("nonfinite_from", static_cast<double>(run.nonfinite_from));
  json.raw("untrained", json_result(run.untrained))
      .raw("clean", json_result(run.final))
      .raw("best", json_result(run.best));
  if (twin != nullptr) json.raw("twin", json_result(twin->final));
  return json.done();
}

}  // namespace

std::string specimen_id(std::uint64_t seed, long index) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "s%llu-%06ld", static_cast<unsigned long long>(seed), index);
  return text.data();
}

Specimen make_specimen(std::uint64_t seed, long index) {
  const std::uint64_t own = mixed(mixed(seed) + static_cast<std::uint64_t>(index)) >> 24U;
  Random random(own);
  const Case one = draw_case(own, random);
  const bool probed = random.chance(kProbedShare);
  const History run = train(one.planted, one.style.layers);
  Judgement judgement;
  History twin;
  std::vector<History> probes;
  if (!one.faults.empty()) {
    twin = train(one.healthy, false);
    Claim claim;
    for (const Fault& fault : one.faults) {
      claim.misleads = claim.misleads || fault.misleads;
      claim.by_fact = claim.by_fact || fault.by_fact;
    }
    judgement = judge_planted(one.planted, run, twin, claim);
  } else {
    // What looks odd is probed always, the rest now and then.
    const bool odd = curve_shows(one.planted, run, one.style);
    for (const double factor : {0.2, 5.0}) {
      if (!probed && !odd) break;
      Recipe other = one.planted;
      other.rate *= factor;
      probes.push_back(train(other, false));
    }
    judgement = judge_healthy(one.planted, run, probes);
  }
  Specimen specimen;
  specimen.id = specimen_id(seed, index);
  specimen.file = file_name(one.style.format);
  long records = 0;
  specimen.log = write_log(one.planted, run, one.style, random, records);
  specimen.meta = describe(one, run, one.faults.empty() ? nullptr : &twin, judgement, specimen, records,
                           static_cast<long>(probes.size()));
  return specimen;
}

}  // namespace osler::population
