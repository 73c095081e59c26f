// Tools: what an assistant can ask of Osler, each with its schema and its short answer.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <stop_token>
#include <string>

#include "cli/mcp/confined_files.h"

namespace osler::cli::mcp {

using Json = nlohmann::ordered_json;

/// The tools over the files that may be read.
class Tools {
 public:
  Tools(ConfinedFiles files, std::stop_token stop) : files_(std::move(files)), stop_(std::move(stop)) {}

  /// Name, description and schema of each, as `tools/list` gives them.
  [[nodiscard]] static Json list();
  [[nodiscard]] static bool knows(const std::string& name);
  /// The result of `tools/call`; what fails is told in the result, so that the assistant can do better.
  [[nodiscard]] Json call(const std::string& name, const Json& arguments);

 private:
  ConfinedFiles files_;
  std::stop_token stop_;
};

}  // namespace osler::cli::mcp
