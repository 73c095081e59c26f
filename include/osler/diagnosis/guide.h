// Guides: how to read a training of one kind, a page each.
#pragma once

#include <span>
#include <string_view>

#include "osler/base/registry.h"

namespace osler {

/// A page on one kind of training. One file of src/diagnosis/guides each.
struct Guide {
  std::string_view id;     ///< the file's name: "rl"
  std::string_view title;  ///< what is read: "Reading reinforcement learning"
  std::string_view doc;    ///< Markdown
};

/// All guides, sorted by file name.
[[nodiscard]] std::span<const Registered<Guide>> guides();
/// The guide called `id`, or nullptr.
[[nodiscard]] const Guide* find_guide(std::string_view id);

}  // namespace osler
