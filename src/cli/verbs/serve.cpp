// osler serve: the dashboard of all runs below some folders.
#include <fmt/format.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "cli/fleet/door.h"
#include "cli/gallery/beside.h"
#include "cli/interrupt.h"
#include "cli/program.h"
#include "cli/terminal.h"
#include "cli/watch/child.h"
#include "cli/wishes.h"
#include "osler/dashboard/html_report.h"
#include "osler/server/server.h"
#include "osler/store/store.h"

namespace osler::cli {
namespace {

constexpr const char* kFooter =
    R"(Finds every run below the folders, examines it, follows it while it is written, and shows all of it in
a browser. Nothing outside the folders is readable, and only this machine can reach it unless --address
says otherwise, which needs a token (docs/security.md).

Examples:
  osler serve runs                                the dashboard of all runs below runs/
  osler serve runs --open                         and open it in the browser
  osler serve runs --address 0.0.0.0 --token-file token.txt
                                                  for the team; open http://HOST:PORT/?token=TOKEN once
  OSLER_TOKEN=TOKEN osler serve runs --address 0.0.0.0
  osler serve --store clickhouse://store.example.org/osler?project=vision
                                                  the runs of a fleet's store, as osler examine left them
  osler serve runs --playground tries             keep what is trained in the playground

GET /metrics has the runs for Prometheus (OpenMetrics). Ctrl-C ends the server.)";

struct Arguments {
  std::vector<std::string> folders;
  DoorWords door;
  std::vector<std::string> archive;
  Wishes wishes;
  std::string address = "127.0.0.1";
  int port = 7077;
  std::string token;
  std::string token_file;
  std::string playground;
  bool open = false;
};

/// Where the playground's runs are: as told, or a folder that goes with the server.
class PlaygroundFolder {
 public:
  explicit PlaygroundFolder(const std::string& told) : path_(told) {
    if (!told.empty()) return;
    std::error_code problem;
    std::string name = (std::filesystem::temp_directory_path(problem) / "osler-XXXXXX").string();
    if (problem || ::mkdtemp(name.data()) == nullptr) return;
    path_ = name;
    ours_ = true;
  }
  ~PlaygroundFolder() {
    std::error_code ignored;
    if (ours_) std::filesystem::remove_all(path_, ignored);
  }
  PlaygroundFolder(const PlaygroundFolder&) = delete;
  PlaygroundFolder& operator=(const PlaygroundFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  bool ours_ = false;
};

/// The token, from wherever it was told. On the command line every user of the machine can see it, so a file or the
/// environment is better.
Result<std::string> token_of(const Arguments& arguments) {
  constexpr std::uint64_t kLongest = 4096;
  if (arguments.token_file.empty()) return arguments.token.empty() ? token_from_environment() : arguments.token;
  if (!arguments.token.empty()) {
    return Error{ErrorCode::invalid_argument, "give --token or --token-file, not both", {}};
  }
  auto text = read_whole(real_file_system(), arguments.token_file, kLongest);
  if (!text) return text.error();
  const std::size_t end = text->find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return Error{ErrorCode::invalid_argument, "holds no token", arguments.token_file};
  return text->substr(0, end + 1);
}

/// Each connection takes a descriptor; the usual limit of 1,024 is soon reached by a few hundred clients and their
/// runs.
void allow_many_connections() {
  constexpr rlim_t kWanted = 8192;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kWanted) return;
  limit.rlim_cur = std::min(kWanted, limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

std::string url_of(const std::string& address, const std::string& token, int port) {
  const bool six = address.find(':') != std::string::npos;
  const std::string query = token.empty() ? "" : "?token=" + token;
  return fmt::format("http://{}:{}/{}", six ? "[" + address + "]" : address, port, query);
}

/// What is to be served: folders, or the store that was named.
Result<void> choose_runs(const Arguments& arguments, ServeOptions& options) {
  if (arguments.door.address.empty()) {
    options.roots.assign(arguments.folders.begin(), arguments.folders.end());
    if (options.roots.empty()) options.roots = {"."};
    return {};
  }
  if (!arguments.folders.empty() || !arguments.archive.empty()) {
    return Error{
        ErrorCode::invalid_argument, "a store is served without folders and --archive (osler store archive)", {}};
  }
  auto door = open_door(arguments.door);
  if (!door) return door.error();
  if (auto fits = Store(door->address, door->access).check(); !fits) return fits;
  options.store = std::move(door->address);
  options.store_access = std::move(door->access);
  options.trainer.clear();
  return {};
}

int run_serve(const Arguments& arguments) {
  const auto token = token_of(arguments);
  if (!token) {
    complain(token.error());
    return kCannotJudge;
  }
  auto diagnosis = to_options(arguments.wishes);
  if (!diagnosis) {
    complain(diagnosis.error());
    return kCannotJudge;
  }
  // Among many runs not all have every series.
  for (RoleOverride& role : diagnosis->roles) diagnosis->roles_if_there.push_back(std::move(role));
  diagnosis->roles.clear();
  allow_many_connections();
  // Before there is anything to clean up. Service managers send SIGTERM: it ends the server as Ctrl-C does.
  const Interrupt interrupt;
  std::signal(SIGTERM, [](int) { std::raise(SIGINT); });
  const PlaygroundFolder playground(arguments.playground);
  ServeOptions options;
  if (!playground.path().empty()) options.trainer = gallery_program();
  options.playground = playground.path();
  if (const auto chosen = choose_runs(arguments, options); !chosen) {
    complain(chosen.error());
    return kCannotJudge;
  }
  options.archive = arguments.archive;
  options.diagnosis = std::move(*diagnosis);
  options.address = arguments.address;
  options.port = arguments.port;
  options.token = *token;
  const auto server = Server::open(real_file_system(), std::move(options));
  if (!server) {
    complain(server.error());
    return kCannotJudge;
  }
  const std::string url = url_of(arguments.address, *token, (*server)->port());
  // A token that was not shown on the command line is not shown in a log either.
  const bool hidden = !token->empty() && arguments.token.empty();
  const std::string shown = hidden ? url_of(arguments.address, "TOKEN", (*server)->port()) : url;
  if (!has_dashboard()) complain("this program was built without the dashboard's page (Node was missing): API only");
  if (!print(shown + "\n")) return kCannotJudge;
  std::jthread browser;
  if (arguments.open) {
    browser = std::jthread([&url] {
      if (const auto opened = run_command("xdg-open \"$OSLER_URL\"", {{"OSLER_URL", url}}, ""); !opened) {
        complain("no browser could be opened; open the address above yourself");
      }
    });
  }
  const std::stop_callback stop(interrupt.token(), [&server] { (*server)->stop(); });
  (*server)->run();
  return kFine;
}

void add(CLI::App& program, Work& work) {
  CLI::App* verb = program.add_subcommand("serve", "Show all runs below some folders in a browser, live");
  auto arguments = std::make_shared<Arguments>();
  verb->footer(kFooter);
  verb->add_option("DIR", arguments->folders,
                   "Folders to search for runs, or single logs (default: the current folder)")
      ->type_name("");
  verb->add_option("--port", arguments->port, "The port to listen on; 0 takes any free one")
      ->type_name("N")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  verb->add_option("--address", arguments->address, "The address to listen on; any but loopback needs a token")
      ->type_name("A")
      ->capture_default_str();
  verb->add_option("--token", arguments->token,
                   "The token clients must present; other users of this machine can see it here")
      ->type_name("T");
  verb->add_option("--token-file", arguments->token_file, "A file that holds the token (or the variable OSLER_TOKEN)")
      ->type_name("FILE");
  add_door_options(*verb, arguments->door, "--store");
  add_meaning_options(*verb, arguments->wishes);
  verb->add_option("--archive", arguments->archive,
                   "List these runs or folders apart, as done with, for example 'old/*'; repeatable")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  verb->add_option("--playground", arguments->playground,
                   "Keep the playground's runs here (default: deleted when the server ends)")
      ->type_name("DIR");
  verb->add_flag("--open", arguments->open, "Open the page in the browser");
  verb->callback([arguments, &work] { work = [arguments] { return run_serve(*arguments); }; });
}

}  // namespace

namespace verb {
Verb serve() {
  return {add};
}
}  // namespace verb

}  // namespace osler::cli
