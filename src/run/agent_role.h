// Roles of series that only some kinds of training have: reinforcement learning, GANs, tuning by rewards, VAEs.
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "osler/run/role.h"
#include "run/name_words.h"

namespace osler {

/// The role that a name has in such a training, or nothing; `plain` is what it would be elsewhere.
[[nodiscard]] std::optional<RoleGuess> guess_agent_role(std::string_view name, const NameWords& w,
                                                        const RoleGuess& plain);

/// Settles by the company a series keeps what its name leaves open: a `kl` is that of a policy, a reference model or a
/// latent code, an `entropy` outside reinforcement learning is a loss like others, a `critic` may be a discriminator.
void settle_by_company(std::map<Role, std::vector<Cast>>& casts);

}  // namespace osler
