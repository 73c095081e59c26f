// Company: the watches of one thread, and whether their networks are trained in turns on each other's answers.
#pragma once

#include <cstdint>
#include <optional>

namespace osler::monitor {

/// One watch among those of its thread. A generator and its critic take turns: between two steps of the critic the
/// generator has used it for a step of its own. Networks that merely train beside each other never do that.
class Company {
 public:
  Company();

  /// The watched model has computed something to learn from.
  void used();
  /// A step of this watch is over, which took so many seconds.
  void left(double seconds);

  /// What the others have spent on steps since the newest step of this one, in seconds.
  [[nodiscard]] double others_trained() const;
  /// Whether this network is one of those that are trained in turns, as far as that is known yet.
  [[nodiscard]] bool in_turns() const;

 private:
  std::uint64_t id_;
  double trained_ = 0;                      // what all of them had spent when this one left
  std::optional<std::uint64_t> first_use_;  // since the newest step, by how many steps the thread had seen
  std::uint64_t last_use_ = 0;
  int turns_ = 0;
};

}  // namespace osler::monitor
