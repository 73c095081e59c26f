// Validation of JSON against the schema files of docs/, for tests.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

namespace osler::tests {

/// The report's schema as it stands in docs/.
inline nlohmann::json report_schema() {
  std::ifstream file(OSLER_SOURCE_DIR "/docs/report.schema.json");
  return nlohmann::json::parse(file);
}

/// What is wrong with `text` under `schema`, one line per complaint; empty when it is valid.
inline std::string schema_complaints(std::string_view text, const nlohmann::json& schema) {
  const nlohmann::json document = nlohmann::json::parse(text, nullptr, false);
  if (document.is_discarded()) return "not JSON";
  valijson::Schema compiled;
  valijson::SchemaParser parser;
  parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(schema), compiled);
  valijson::Validator validator;
  valijson::ValidationResults results;
  if (validator.validate(compiled, valijson::adapters::NlohmannJsonAdapter(document), &results)) return {};
  std::ostringstream complaints;
  complaints << "not valid\n";
  valijson::ValidationResults::Error error;
  while (results.popError(error)) {
    for (const std::string& part : error.context) complaints << part;
    complaints << ": " << error.description << '\n';
  }
  return complaints.str();
}

}  // namespace osler::tests
