// Looking up a name that did not come where it was expected.
#include "recorder/name_book.h"

#include <algorithm>

namespace osler::recording {

NameBook::Entry NameBook::look_up(std::string_view name) {
  auto place = numbers_.find(name);
  const bool fresh = place == numbers_.end();
  if (fresh) {
    auto* const text = static_cast<char*>(text_.allocate(name.size() + 1, 1));  // never of size 0
    std::copy(name.begin(), name.end(), text);
    place = numbers_.emplace(std::string_view(text, name.size()), static_cast<std::uint32_t>(known_.size())).first;
    known_.push_back({place->first, 0});
  }
  known_[newest_].follower = place->second;
  newest_ = place->second;
  guess_ = known_[newest_].follower;
  return {newest_, fresh};
}

}  // namespace osler::recording
