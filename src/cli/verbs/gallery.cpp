// osler gallery: starts the gallery's own program, which lies beside this one.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/gallery/beside.h"
#include "cli/program.h"
#include "cli/terminal.h"

namespace osler::cli {
namespace {

int start_gallery(const std::vector<std::string>& arguments) {
  const std::filesystem::path program = gallery_program();
  if (program.empty()) {
    complain(
        "the gallery needs the program osler-gallery beside this one, which only a build with LibTorch makes: install "
        "libtorch-dev and build again");
    return kCannotJudge;
  }
  std::vector<std::string> words = {"osler-gallery"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execv(program.c_str(), pointers.data());
  complain(fmt::format("{}: {}", program.string(), std::strerror(errno)));
  return kCannotJudge;
}

void add(CLI::App& program, Work& work) {
  CLI::App* verb = program.add_subcommand("gallery", "Train sick networks; see them diagnosed, treated and cured");
  // The gallery's program parses its own words, --help included.
  verb->prefix_command();
  verb->set_help_flag();
  verb->callback([verb, &work] { work = [arguments = verb->remaining()] { return start_gallery(arguments); }; });
}

}  // namespace

namespace verb {
Verb gallery() {
  return {add};
}
}  // namespace verb

}  // namespace osler::cli
