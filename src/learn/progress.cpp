// What a learner has done so far, as JSON.
#include "learn/progress.h"

#include <charconv>
#include <nlohmann/json.hpp>

namespace osler::learn {
namespace {

using Json = nlohmann::json;

constexpr const char* kSchema = "osler-progress/1";

Json tries_json(const Tries& tries) {
  return {{"wrong", tries.wrong}, {"right", tries.right}};
}

int count_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<int>() : 0;
}

Tries tries_from(const Json& json) {
  if (!json.is_object()) return {};
  return {count_in(json, "wrong"), count_in(json, "right")};
}

int number_from(const std::string& text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

Result<Progress> parse_progress(std::string_view text, const std::string& context) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("schema") || json["schema"] != kSchema) {
    return Error{ErrorCode::corrupt, "this is no file of osler learn; name another with --progress", context};
  }
  Progress progress;
  if (const auto read = json.find("read"); read != json.end() && read->is_array()) {
    for (const Json& lesson : *read) {
      if (lesson.is_number_integer()) progress.read.insert(lesson.get<int>());
    }
  }
  if (const auto exercises = json.find("exercises"); exercises != json.end() && exercises->is_object()) {
    for (const auto& [number, tries] : exercises->items()) progress.exercises[number_from(number)] = tries_from(tries);
  }
  if (const auto quiz = json.find("quiz"); quiz != json.end() && quiz->is_object()) {
    for (const auto& [id, tries] : quiz->items()) progress.quiz[id] = tries_from(tries);
  }
  return progress;
}

std::string render_progress(const Progress& progress) {
  Json exercises = Json::object();
  for (const auto& [number, tries] : progress.exercises) exercises[std::to_string(number)] = tries_json(tries);
  Json quiz = Json::object();
  for (const auto& [id, tries] : progress.quiz) quiz[id] = tries_json(tries);
  const Json json = {{"schema", kSchema}, {"read", progress.read}, {"exercises", exercises}, {"quiz", quiz}};
  return json.dump(2) + "\n";
}

}  // namespace osler::learn
