// What the table `labels` says of runs, as words that those who write it and those who read it share.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace osler::store {

inline constexpr std::string_view kNameLabel = "name";
inline constexpr std::string_view kArchivedLabel = "archived";
inline constexpr std::string_view kTagLabel = "tag:";  ///< and the tag
/// Taken out of the store, by hand or because its time was over. What was said of the run before counts no more.
inline constexpr std::string_view kRemovedLabel = "removed";
/// Shipped anew. The later one of these two counts.
inline constexpr std::string_view kReturnedLabel = "returned";

inline constexpr std::string_view kOnValue = "1";
inline constexpr std::string_view kPrunedValue = "pruned";  ///< of kRemovedLabel: its time was over

/// A label's value, and when it was given, in milliseconds since the Unix epoch.
struct Label {
  std::string value;
  std::uint64_t changed = 0;
};

/// All that was said of one run.
class Labels {
 public:
  void put(std::string_view label, Label value) { all_[std::string(label)] = std::move(value); }

  /// When it was last removed; 0 for never.
  [[nodiscard]] std::uint64_t removed_at() const { return changed_of(kRemovedLabel); }
  [[nodiscard]] bool is_removed() const { return removed_at() > changed_of(kReturnedLabel); }
  [[nodiscard]] bool is_pruned() const {
    return is_removed() && all_.at(std::string(kRemovedLabel)).value == kPrunedValue;
  }
  /// What counts still: empty where nothing was said, or before the run was removed.
  [[nodiscard]] std::string_view value_of(std::string_view label) const {
    const auto found = all_.find(label);
    return found == all_.end() || found->second.changed <= removed_at() ? std::string_view() : found->second.value;
  }
  [[nodiscard]] const std::map<std::string, Label, std::less<>>& all() const { return all_; }

 private:
  [[nodiscard]] std::uint64_t changed_of(std::string_view label) const {
    const auto found = all_.find(label);
    return found == all_.end() || found->second.value.empty() ? 0 : found->second.changed;
  }

  std::map<std::string, Label, std::less<>> all_;
};

}  // namespace osler::store
