// Checking a program that a learner wrote: its exercise's tests are run on it.
#include "cli/learn/program_check.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>
#include <vector>

#include "cli/output.h"

namespace osler::cli {
namespace {

namespace fs = std::filesystem;

/// Runs a program that is looked for as the shell does; its exit code.
Result<int> call(std::vector<std::string> words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  pid_t child = 0;
  if (const int problem = ::posix_spawnp(&child, pointers.front(), nullptr, nullptr, pointers.data(), environ);
      problem != 0) {
    return Error{ErrorCode::not_found, fmt::format("cannot be started: {}", std::strerror(problem)), words.front()};
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return Error{ErrorCode::io, std::strerror(errno), words.front()};
  }
  constexpr int kKilled = 128;
  return WIFEXITED(status) ? WEXITSTATUS(status) : kKilled + WTERMSIG(status);
}

Result<void> write_file(const fs::path& path, std::string_view text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) return Error{ErrorCode::io, "cannot be written", path.string()};
  return {};
}

}  // namespace

Result<bool> check_program(const learn::Exercise& exercise, const fs::path& file) {
  std::error_code problem;
  const fs::path answer = fs::absolute(file, problem);
  if (!fs::is_regular_file(answer, problem)) return Error{ErrorCode::not_found, "no such file", file.string()};
  const learn::Document* tests = learn::handed_file(exercise, "tests.");
  if (tests == nullptr) return Error{ErrorCode::internal, "the exercise has no tests", std::to_string(exercise.number)};
  const auto draft = Draft::in_temporary_folder();
  if (!draft) return draft.error();
  const fs::path folder = draft->path().parent_path();
  const fs::path script = folder / learn::file_name(*tests);
  if (const auto written = write_file(script, tests->text); !written) return written.error();
  if (script.extension() == ".py") {
    const auto code = call({"python3", "-B", script.string(), answer.string()});
    return code ? Result<bool>(*code == 0) : code.error();
  }
  const std::string program = (folder / "tests").string();
  const auto compiled =
      call({"c++", "-std=c++20", "-Wall", "-Wextra", "-include", answer.string(), script.string(), "-o", program});
  if (!compiled) return compiled.error();
  if (*compiled != 0) return false;
  const auto code = call({program});
  return code ? Result<bool>(*code == 0) : code.error();
}

}  // namespace osler::cli
