// The rules every entry of the catalogue keeps, as functions from an entry to what is wrong with it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "osler/diagnosis/catalogue.h"
#include "osler/diagnosis/guide.h"
#include "osler/formats/format.h"

namespace osler::meta {

/// What is wrong with an entry, one clause each; empty when nothing is.
using Problems = std::vector<std::string>;

/// The id that a file's name stands for: "loss_diverging" is "loss-diverging".
[[nodiscard]] std::string id_of_stem(std::string_view file_stem);

[[nodiscard]] Problems problems_of(const Registered<Finding>& entry);
[[nodiscard]] Problems problems_of(const Registered<Cause>& entry);
[[nodiscard]] Problems problems_of(const Registered<Format>& entry);

/// Whether each of `sections` stands in the Markdown text as a heading "## Section" with words below it.
[[nodiscard]] Problems missing_sections(std::string_view doc, const std::vector<std::string_view>& sections);

/// The targets of all links of a Markdown text that do not lead to the web.
[[nodiscard]] std::vector<std::string> local_links(std::string_view markdown);

/// What is wrong with the folder of cases of a finding: it needs a sick, a healthy and a borderline run.
[[nodiscard]] Problems missing_cases(const std::string& folder);

}  // namespace osler::meta
