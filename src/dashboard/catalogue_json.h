// The catalogue and the diagnosis tree as the dashboard reads them.
#pragma once

#include <set>
#include <string>

namespace osler::dashboard {

/// Every finding and every cause, each with its page.
[[nodiscard]] std::string catalogue_json();
/// The same, with pages for `chosen` alone; the others have a title.
[[nodiscard]] std::string catalogue_json(const std::set<std::string, std::less<>>& chosen);
/// The diagnosis tree.
[[nodiscard]] std::string tree_json();

}  // namespace osler::dashboard
