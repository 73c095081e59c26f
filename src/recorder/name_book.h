// NameBook: numbers for names, found without hashing while names come in the same order in every step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace osler::recording {

/// Numbers count up from 0. Not to be used from several threads at once.
class NameBook {
 public:
  struct Entry {
    std::uint32_t number = 0;
    bool fresh = false;  ///< the name was not known before
  };

  /// The number of `name`, the next free one when it is new. A training records the same names in the same order in
  /// each step, so the name that followed the newest one last time is compared first.
  Entry enter(std::string_view name) {
    if (guess_ < known_.size() && known_[guess_].name == name) {
      newest_ = guess_;
      guess_ = known_[guess_].follower;
      return {newest_, false};
    }
    return look_up(name);
  }

  [[nodiscard]] std::size_t size() const { return known_.size(); }

 private:
  struct Known {
    std::string_view name;       ///< within `text_`
    std::uint32_t follower = 0;  ///< what was asked for next, last time
  };

  Entry look_up(std::string_view name);

  std::pmr::monotonic_buffer_resource text_;  ///< the names, one behind the other: in order, they are in the cache
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
  std::vector<Known> known_;  ///< by number
  std::uint32_t newest_ = 0;
  std::uint32_t guess_ = 0;  ///< what followed the newest last time
};

}  // namespace osler::recording
