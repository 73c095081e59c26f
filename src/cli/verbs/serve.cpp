// osler serve: the dashboard of all runs below some folders.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "cli/gallery/beside.h"
#include "cli/interrupt.h"
#include "cli/program.h"
#include "cli/terminal.h"
#include "cli/watch/child.h"
#include "osler/dashboard/html_report.h"
#include "osler/server/server.h"

namespace osler::cli {
namespace {

constexpr const char* kFooter =
    R"(Finds every run below the folders, examines it, follows it while it is written, and shows all of it in
a browser. Nothing outside the folders is readable, and only this machine can reach it unless --address
says otherwise, which needs --token.

Examples:
  osler serve runs                                the dashboard of all runs below runs/
  osler serve runs --open                         and open it in the browser
  osler serve runs --address 0.0.0.0 --token T    for the team; open http://HOST:PORT/?token=T once
  osler serve runs --playground tries             keep what is trained on the page's playground

GET /metrics gives the runs in OpenMetrics form. Ctrl-C ends it.)";

struct Arguments {
  std::vector<std::string> folders = {"."};
  std::string address = "127.0.0.1";
  int port = 7077;
  std::string token;
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

std::string url_of(const Arguments& arguments, int port) {
  const bool six = arguments.address.find(':') != std::string::npos;
  const std::string query = arguments.token.empty() ? "" : "?token=" + arguments.token;
  return fmt::format("http://{}:{}/{}", six ? "[" + arguments.address + "]" : arguments.address, port, query);
}

int run_serve(const Arguments& arguments) {
  const PlaygroundFolder playground(arguments.playground);
  ServeOptions options;
  if (!playground.path().empty()) options.trainer = gallery_program();
  options.playground = playground.path();
  options.roots.assign(arguments.folders.begin(), arguments.folders.end());
  options.address = arguments.address;
  options.port = arguments.port;
  options.token = arguments.token;
  const auto server = Server::open(real_file_system(), std::move(options));
  if (!server) {
    complain(describe(server.error()));
    return kCannotJudge;
  }
  const std::string url = url_of(arguments, (*server)->port());
  if (!has_dashboard()) complain("this program was built without the dashboard's page (Node was missing): API only");
  if (!print(url + "\n")) return kCannotJudge;
  std::jthread browser;
  if (arguments.open) {
    browser = std::jthread([&url] {
      if (const auto opened = run_command("xdg-open \"$OSLER_URL\"", {{"OSLER_URL", url}}, ""); !opened) {
        complain("no browser could be opened; open the address above yourself");
      }
    });
  }
  const Interrupt interrupt;
  // Service managers send SIGTERM: it ends the server as Ctrl-C does.
  std::signal(SIGTERM, [](int) { std::raise(SIGINT); });
  const std::stop_callback stop(interrupt.token(), [&server] { (*server)->stop(); });
  (*server)->run();
  return kFine;
}

void add(CLI::App& program, Work& work) {
  CLI::App* verb = program.add_subcommand("serve", "Show all runs below some folders in a browser, live");
  auto arguments = std::make_shared<Arguments>();
  verb->footer(kFooter);
  verb->add_option("DIR", arguments->folders, "Folders to search for runs, or single logs; the current one if none")
      ->type_name("");
  verb->add_option("--port", arguments->port, "The port to listen on; 0 takes any that is free")
      ->type_name("N")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  verb->add_option("--address", arguments->address, "The address to listen on; others than loopback need --token")
      ->type_name("A")
      ->capture_default_str();
  verb->add_option("--token", arguments->token, "What a client must show")->type_name("T");
  verb->add_option("--playground", arguments->playground,
                   "Where runs of the playground are kept; if none, a folder that goes when the server does")
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
