// Flattening JSON objects.
#include "formats/json/rows.h"

#include <algorithm>
#include <cmath>

#include "formats/numbers.h"
#include "formats/times.h"

namespace osler {
namespace {

constexpr std::size_t kLongestArray = 16;
constexpr std::size_t kMostNodes = 2 * static_cast<std::size_t>(RowAssembler::kMostColumns);
constexpr std::size_t kLongestText = 1000;
constexpr std::size_t kMostTexts = 1000;

}  // namespace

void JsonRow::clear() {
  levels_.clear();
  pending_ = kNone;
  newest_ = kRoot;
  cells_.clear();
  prefix_.clear();
  wall_time_ = kNoTime;
  texts_.clear();
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
  const std::uint32_t id = take_node();
  if (id == kNone || id == kRoot) return;
  Node& node = nodes_[id];
  if (node.column == kNone) node.column = rows_.column(path(id));
  cells_.push_back({node.column, value});
}

void JsonRow::text(std::string_view value) {
  // A number in quotes is at most so long; anything else need not be tried.
  if (value.size() < 64) {
    if (const CellValue cell = read_cell(value); cell.kind == CellKind::number) return number(cell.value);
  }
  const std::uint32_t id = take_node();
  if (id == kNone || id == kRoot) return;
  if (nodes_[id].phase && is_phase(value)) {
    prefix_ = value;
  } else if (const double time = read_date_time(value); !std::isnan(time)) {
    wall_time_ = time;
  } else if (texts_.size() < kMostTexts) {
    texts_.emplace_back(path(id), value.substr(0, kLongestText));
  }
}

}  // namespace osler
