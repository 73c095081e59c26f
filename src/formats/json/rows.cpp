// Flattening JSON objects.
#include "formats/json/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "formats/numbers.h"
#include "formats/times.h"

namespace osler {
namespace {

constexpr std::size_t kLongestArray = 16;
constexpr std::size_t kMostNodes = 2 * static_cast<std::size_t>(RowAssembler::kMostColumns);
constexpr std::size_t kLongestText = 1000;
constexpr std::size_t kMostTexts = 1000;

using namespace std::string_view_literals;

// Objects under these keys hold what was chosen; the key itself says nothing.
constexpr std::array kChosen = {"config"sv, "_config"sv, "cfg"sv,    "_meta"sv,           "meta"sv,
                                "args"sv,   "hparams"sv, "_args"sv,  "hyperparameters"sv, "settings"sv,
                                "_cfg"sv,   "setup"sv,   "hparam"sv, "configuration"sv};
// Objects under these keys hold what came out; the key stays in the name.
constexpr std::array kResults = {"summary"sv, "_summary"sv};
constexpr std::array kRecordKeys = {"type"sv, "event"sv, "kind"sv, "record"sv, "_type"sv};

template <std::size_t N>
bool among(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

void JsonRow::clear() {
  levels_.clear();
  pending_ = kNone;
  newest_ = kRoot;
  cells_.clear();
  prefix_.clear();
  wall_time_ = kNoTime;
  texts_.clear();
  settings_.clear();
  configuration_ = false;
}

void JsonRow::begin_object() {
  const bool within = in_settings();
  const std::uint32_t node = take_node();
  const bool top = levels_.size() == 1 && node != kNone && node != kRoot;
  const bool opens = top && (among(kChosen, nodes_[node].key) || among(kResults, nodes_[node].key));
  levels_.push_back({node, cells_.size(), 0, false, within || opens});
}

void JsonRow::truth(bool value) {
  const bool within = in_settings();
  const std::uint32_t node = take_node();
  if (within) setting(node, value ? "true" : "false");
}

void JsonRow::setting(std::uint32_t node, std::string_view value) {
  if (node == kNone || node == kRoot || settings_.size() >= kMostTexts) return;
  std::string name = path(node);
  const std::size_t slash = name.find('/');
  if (slash != std::string::npos && among(kChosen, std::string_view(name).substr(0, slash))) name.erase(0, slash + 1);
  if (name.starts_with("_summary/")) name.erase(0, 1);
  settings_.emplace_back(std::move(name), value.substr(0, kLongestText));
}

std::vector<std::pair<std::string, std::string>> JsonRow::written_numbers() const {
  std::vector<std::pair<std::string, std::string>> written;
  for (const Cell& cell : cells_) {
    const auto node =
        std::find_if(nodes_.begin(), nodes_.end(), [&](const Node& one) { return one.column == cell.column; });
    if (node == nodes_.end()) continue;
    written.emplace_back(path(static_cast<std::uint32_t>(node - nodes_.begin())), fmt::format("{}", cell.value));
  }
  return written;
}

void JsonRow::drop(std::uint32_t column) {
  cells_.erase(std::remove_if(cells_.begin(), cells_.end(), [&](const Cell& cell) { return cell.column == column; }),
               cells_.end());
}

std::uint32_t JsonRow::child(std::uint32_t parent, std::string_view key) {
  if (parent == kNone) return kNone;
  const std::uint32_t guess = nodes_[newest_].next;
  if (guess != kNone && nodes_[guess].parent == parent && nodes_[guess].key == key) return newest_ = guess;

  std::string name = std::to_string(parent) + '/';
  name += key;
  const auto known = ids_.find(name);
  std::uint32_t id = kNone;
  if (known != ids_.end()) {
    id = known->second;
  } else if (nodes_.size() < kMostNodes) {
    id = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({std::string(key), parent, kNone, kNone, is_phase_column(key)});
    ids_.emplace(std::move(name), id);
  } else {
    return kNone;
  }
  nodes_[newest_].next = id;
  return newest_ = id;
}

std::uint32_t JsonRow::take_node() {
  if (levels_.empty()) return kRoot;
  Level& level = levels_.back();
  if (!level.array) return std::exchange(pending_, kNone);
  const std::size_t index = level.elements++;
  return index < kLongestArray ? child(level.node, std::to_string(index)) : kNone;
}

std::string JsonRow::path(std::uint32_t node) const {
  std::string name = nodes_[node].key;
  for (node = nodes_[node].parent; node != kRoot; node = nodes_[node].parent) name = nodes_[node].key + "/" + name;
  return name;
}

void JsonRow::end_array() {
  // An array that long is a histogram or a list of samples, not a handful of losses.
  if (levels_.back().elements > kLongestArray) cells_.resize(levels_.back().first_cell);
  levels_.pop_back();
}

void JsonRow::number(double value) {
  const bool within = in_settings();
  const std::uint32_t id = take_node();
  if (id == kNone || id == kRoot) return;
  if (within) return setting(id, fmt::format("{}", value));
  Node& node = nodes_[id];
  if (node.column == kNone) node.column = rows_.column(path(id));
  cells_.push_back({node.column, value});
}

void JsonRow::text(std::string_view value) {
  if (in_settings()) return setting(take_node(), value);
  // A number in quotes is at most so long; anything else need not be tried.
  if (value.size() < 64) {
    if (const CellValue cell = read_cell(value); cell.kind == CellKind::number) return number(cell.value);
  }
  const std::uint32_t id = take_node();
  if (id == kNone || id == kRoot) return;
  if (levels_.size() == 1 && among(kRecordKeys, nodes_[id].key)) {
    configuration_ |= among(kChosen, value) || among(kResults, value) || value == "header";
  }
  if (nodes_[id].phase && is_phase(value)) {
    prefix_ = value;
  } else if (const double time = read_date_time(value); !std::isnan(time)) {
    wall_time_ = time;
  } else if (texts_.size() < kMostTexts) {
    texts_.emplace_back(path(id), value.substr(0, kLongestText));
  }
}

}  // namespace osler
