// Names of severities, statuses and needs, and look-up in the catalogue.
#include <array>
#include <utility>

#include "osler/diagnosis/catalogue.h"
#include "osler/diagnosis/guide.h"

namespace osler {

std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::note:
      return "note";
    case Severity::warning:
      return "warning";
    case Severity::critical:
      return "critical";
  }
  return "note";
}

std::optional<Severity> severity_from(std::string_view name) {
  for (const Severity severity : {Severity::note, Severity::warning, Severity::critical}) {
    if (to_string(severity) == name) return severity;
  }
  return std::nullopt;
}

std::string_view to_string(Status status) {
  switch (status) {
    case Status::healthy:
      return "healthy";
    case Status::warning:
      return "warning";
    case Status::critical:
      return "critical";
    case Status::insufficient_data:
      return "insufficient-data";
  }
  return "insufficient-data";
}

std::string_view to_string(Need need) {
  switch (need) {
    case Need::curve:
      return "curve";
    case Need::layer:
      return "layer";
    case Need::activation:
      return "act";
    case Need::batch:
      return "batch";
    case Need::live:
      return "live";
    case Need::probe:
      return "probe";
  }
  return "curve";
}

namespace {

template <typename Descriptor>
const Descriptor* find_in(std::span<const Registered<Descriptor>> table, std::string_view id) {
  for (const auto& row : table) {
    if (row.descriptor.id == id) return &row.descriptor;
  }
  return nullptr;
}

}  // namespace

const Finding* find_finding(std::string_view id) {
  return find_in(findings(), id);
}

const Cause* find_cause(std::string_view id) {
  return find_in(causes(), id);
}

const Guide* find_guide(std::string_view id) {
  return find_in(guides(), id);
}

}  // namespace osler
