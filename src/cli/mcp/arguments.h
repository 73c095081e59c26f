// Arguments: what a client gives a tool, taken out by name and type.
#pragma once

#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/drawing.h"
#include "cli/wishes.h"
#include "osler/base/result.h"
#include "osler/figures/figure.h"

namespace osler::cli::mcp {

using Json = nlohmann::ordered_json;

/// A view of a tool's arguments, which must be an object and outlive it. Every failure names the argument.
class Arguments {
 public:
  explicit Arguments(const Json& given) : given_(given) {}

  /// Fails when one is needed and not there, or not in the schema.
  [[nodiscard]] Result<void> check(const Json& schema) const;
  /// A string; empty when it is not there.
  [[nodiscard]] Result<std::string> text(const char* name) const { return text_or(name, ""); }
  [[nodiscard]] Result<std::string> text_or(const char* name, const std::string& standard) const;
  /// The argument detail: one of `words`, the first of them without it.
  [[nodiscard]] Result<std::string> detail(std::initializer_list<const char*> words) const;
  /// roles, settings, only, domain and format.
  [[nodiscard]] Result<Wishes> wishes() const;
  /// kind, finding, experiment and series.
  [[nodiscard]] Result<Drawing> drawing() const;
  /// theme and width.
  [[nodiscard]] Result<FigureStyle> style() const;

 private:
  [[nodiscard]] Result<std::vector<std::string>> texts(const char* name) const;

  const Json& given_;
};

}  // namespace osler::cli::mcp
