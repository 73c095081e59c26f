// osler.toml: what a project says once, so that no call has to repeat it.
#pragma once

#include <string>
#include <vector>

#include "osler/base/result.h"

namespace CLI {
class App;
}

namespace osler::cli {

inline constexpr const char* kProjectFile = "osler.toml";

/// The options that osler.toml in the current folder gives to a verb, as words of a command line. What stands before
/// the first section is for every verb that has such an option, a section for the verb of its name. Options that can be
/// given once are left out when `given` has them; those that repeat add up. Nothing when there is no such file. Fails
/// when the file cannot be understood, names an option that no verb has, or says what no file may: which command to
/// run, whom to stop, or a secret.
[[nodiscard]] Result<std::vector<std::string>> project_words(const CLI::App& program, const std::string& verb,
                                                             const std::vector<std::string>& given);

}  // namespace osler::cli
