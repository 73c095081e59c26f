// Tables and expectations for recipes.
#include "cases/recipe.h"

#include <map>
#include <nlohmann/json.hpp>

namespace osler::cases {
namespace {

Recipe make_recipe(Case::Kind kind, const std::string& finding, const std::string& name, const std::string& about,
                   Table (*make)(simulate::Random&), std::vector<std::string> tolerate) {
  Recipe recipe;
  recipe.expected.finding = finding;
  recipe.expected.kind = kind;
  recipe.expected.file = std::string(to_string(kind)) + "-" + name + ".csv";
  recipe.expected.about = about;
  recipe.expected.tolerate = std::move(tolerate);
  recipe.make = make;
  return recipe;
}

}  // namespace

Table::Table(simulate::Random& random, std::size_t rows, std::int64_t stride, std::int64_t first) : random_(random) {
  for (std::size_t row = 0; row < rows; ++row) axis_.steps.push_back(first + static_cast<std::int64_t>(row) * stride);
}

Table& Table::put(const std::string& name, simulate::Levels values, double noise, std::size_t every) {
  values = simulate::scattered(values, {simulate::Noise::Kind::gaussian, noise, 0, 0, 0}, axis_, random_);
  simulate::Curve curve;
  curve.name = name;
  for (std::size_t row = every - 1; row < axis_.rows(); row += every) {
    curve.samples.push_back({axis_.steps[row], values[row]});
  }
  run_.curves.push_back(std::move(curve));
  return *this;
}

Table& Table::replace(std::size_t from, std::size_t to, double value) {
  std::vector<simulate::Sample>& samples = run_.curves.back().samples;
  for (std::size_t row = from; row < to && row < samples.size(); ++row) samples[row].value = value;
  return *this;
}

Table& Table::tell(Experiment experiment) {
  experiments_.push_back(std::move(experiment));
  return *this;
}

Table& Table::mark(const std::string& kind, std::int64_t step, const std::string& words) {
  const nlohmann::ordered_json line = {{"mark", kind}, {"at", "step " + std::to_string(step)}, {"text", words}};
  marks_.push_back(line.dump());
  return *this;
}

std::string Table::text() const {
  if (experiments_.empty() && marks_.empty()) return simulate::to_csv(run_);
  std::map<std::int64_t, nlohmann::ordered_json> rows;
  for (const simulate::Curve& curve : run_.curves) {
    for (const simulate::Sample& sample : curve.samples) rows[sample.step][curve.name] = sample.value;
  }
  std::string lines;
  for (const auto& [step, values] : rows) {
    nlohmann::ordered_json row = {{"step", step}};
    row.update(values);
    lines += row.dump() + "\n";
  }
  for (const std::string& mark : marks_) lines += mark + "\n";
  for (const Experiment& experiment : experiments_) {
    lines += nlohmann::json{{experiment_key(experiment.probe), to_json(experiment)}}.dump() + "\n";
  }
  return lines;
}

Recipe probed(Recipe recipe) {
  std::string& file = recipe.expected.file;
  file = file.substr(0, file.rfind('.')) + ".jsonl";
  return recipe;
}

Recipe sick(const std::string& finding, const std::string& name, const std::string& about,
            Table (*make)(simulate::Random&), std::vector<std::string> causes, std::vector<std::string> tolerate) {
  Recipe recipe = make_recipe(Case::Kind::sick, finding, name, about, make, std::move(tolerate));
  recipe.expected.must_report = {finding};
  recipe.expected.must_not_report = {"*"};
  recipe.expected.severity = Severity::warning;
  recipe.expected.causes = std::move(causes);
  return recipe;
}

Recipe healthy(const std::string& finding, const std::string& name, const std::string& about,
               Table (*make)(simulate::Random&), std::vector<std::string> tolerate) {
  Recipe recipe = make_recipe(Case::Kind::healthy, finding, name, about, make, std::move(tolerate));
  recipe.expected.must_not_report = {"*"};
  return recipe;
}

Recipe borderline(const std::string& finding, const std::string& name, const std::string& about,
                  Table (*make)(simulate::Random&), std::vector<std::string> tolerate) {
  Recipe recipe = make_recipe(Case::Kind::borderline, finding, name, about, make, std::move(tolerate));
  recipe.expected.tolerate.insert(recipe.expected.tolerate.begin(), finding);
  recipe.expected.must_not_report = {"*"};
  return recipe;
}

Recipe between(Recipe recipe, std::int64_t first, std::int64_t last) {
  recipe.expected.first_step = {first, last};
  return recipe;
}

Recipe at_least(Recipe recipe, Severity severity) {
  recipe.expected.severity = severity;
  return recipe;
}

Recipe qualified(Recipe recipe, const std::string& name, const std::string& value) {
  recipe.expected.qualifiers[name] = value;
  return recipe;
}

}  // namespace osler::cases
