// JsonRow: flattens one JSON object into the cells of a row.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "formats/json/walk.h"
#include "formats/rows.h"

namespace osler {

/// Collects the numbers of an object and of the objects within it: {"train": {"loss": 1}} is the cell "train/loss".
/// Numbers in quotes count; a phase ("mode": "val") becomes the row's prefix; short arrays give one cell per element,
/// long ones nothing.
class JsonRow final : public JsonVisitor {
 public:
  explicit JsonRow(RowAssembler& rows) : rows_(rows) { nodes_.push_back({}); }

  /// Forgets the row; what was learned about keys stays.
  void clear();
  [[nodiscard]] Row row() const { return {cells_, wall_time_, prefix_}; }
  /// The texts of the row by key, cut to a length fit for a configuration.
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& texts() const { return texts_; }
  /// What objects called "config", "_meta", "args", "summary" and the like hold: settings and results, no series.
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& settings() const { return settings_; }
  /// Whether the row says of itself that it holds the configuration: {"type": "config", "lr": 0.1}.
  [[nodiscard]] bool is_configuration() const { return configuration_; }
  /// The numbers of the row by name, written out.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> written_numbers() const;
  /// Takes the cell of that column out of the row.
  void drop(std::uint32_t column);

  void begin_object() override;
  void key(std::string_view name) override { pending_ = child(levels_.back().node, name); }
  void end_object() override { levels_.pop_back(); }
  void begin_array() override { levels_.push_back({take_node(), cells_.size(), 0, true, in_settings()}); }
  void end_array() override;
  void number(double value) override;
  void text(std::string_view value) override;
  void nothing() override { take_node(); }
  void truth(bool value) override;

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  static constexpr std::uint32_t kRoot = 0;

  struct Node {
    std::string key;
    std::uint32_t parent = kRoot;
    std::uint32_t column = kNone;
    std::uint32_t next = kNone;  // the node that followed last time: keys come in the same order row after row
    bool phase = false;
  };
  struct Level {
    std::uint32_t node = kRoot;
    std::size_t first_cell = 0;
    std::size_t elements = 0;
    bool array = false;
    bool settings = false;
  };

  std::uint32_t child(std::uint32_t parent, std::string_view key);
  std::uint32_t take_node();  // the node of the value that comes now
  [[nodiscard]] std::string path(std::uint32_t node) const;
  [[nodiscard]] bool in_settings() const { return !levels_.empty() && levels_.back().settings; }
  void setting(std::uint32_t node, std::string_view value);

  RowAssembler& rows_;
  std::vector<Node> nodes_;
  std::unordered_map<std::string, std::uint32_t> ids_;  // by parent and key
  std::vector<Level> levels_;
  std::uint32_t pending_ = kNone;  // the node a key announced
  std::uint32_t newest_ = kRoot;
  std::vector<Cell> cells_;
  std::string prefix_;
  double wall_time_ = kNoTime;
  std::vector<std::pair<std::string, std::string>> texts_;
  std::vector<std::pair<std::string, std::string>> settings_;
  bool configuration_ = false;
};

}  // namespace osler
