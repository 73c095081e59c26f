// osler ship: brings runs into a fleet's store while they are written.
#include "osler/store/ship.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>

#include "cli/fleet/door.h"
#include "cli/fleet/shipping.h"
#include "cli/interrupt.h"
#include "cli/program.h"
#include "cli/terminal.h"
#include "cli/wishes.h"
#include "report/layout.h"
#include "report/numbers.h"

namespace osler::cli {
namespace {

constexpr const char* kFooter = R"(Examples:
  osler ship runs/ --to clickhouse://store.example.org/osler?project=vision
                                                   every run below the folder, also those that start later
  osler ship train.log --to ... --once             what is there now
  python train.py 2>&1 | tee train.log | osler ship - --as exp42 --to ...
                                                   a pipe; a spool on disk keeps its data while the store is away

Files need no spool: after a crash on either side, shipping goes on where the store is, and no point is there twice.
A rotated file is read to its end; a file that is written anew replaces what was shipped of it. Ctrl-C sends what has
been read, then ends. Exit codes: 0 the store has everything, 2 it does not.)";

struct Arguments {
  DoorWords door;
  ShippingWishes shipping;
  std::string machine;
  std::string spool;
  std::uint64_t spool_megabytes = 1024;
};

int fail(const Error& error) {
  complain(describe(error));
  return kCannotJudge;
}

bool is_stream(const std::string& path) {
  if (path == "-") return true;
  const auto info = real_file_system().info(path);
  return info && info->kind == FileKind::pipe;
}

std::string this_machine() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

/// Sends what shippers of pipes that died left in their spools.
void send_leftovers(const Door& door, const std::filesystem::path& folder, const ShipOptions& options) {
  const auto names = real_file_system().list(folder);
  if (!names) return;
  for (const std::string& name : *names) {
    ShipOptions theirs = options;
    theirs.spool = folder / name;
    theirs.tell = [](const std::string&) {};  // one that is in use is no news
    Shipper shipper(door.address, door.access, theirs);
    shipper.tick();
  }
}

Result<bool> ship_stream(const Arguments& arguments, const Door& door, ShipOptions options,
                         const Interrupt& interrupt) {
  if (arguments.shipping.paths.size() > 1) {
    return Error{ErrorCode::invalid_argument, "a pipe can only be shipped alone", {}};
  }
  std::filesystem::path folder = arguments.spool;
  if (folder.empty()) {
    const std::string state = state_folder();
    if (state.empty())
      return Error{ErrorCode::invalid_argument, "there is no home folder for a spool: name one with --spool", {}};
    std::string place = to_string(door.address);
    std::replace_if(
        place.begin(), place.end(), [](char c) { return c == '/' || c == ':' || c == '?'; }, '-');
    folder = std::filesystem::path(state) / "osler" / "spool" / place;
    send_leftovers(door, folder, options);
    folder /= std::to_string(::getpid());
  }
  options.spool = folder;
  options.spool_bytes = arguments.spool_megabytes << 20U;
  Shipper shipper(door.address, door.access, options);
  if (const auto fits = shipper.check(); !fits && fits.error().code != ErrorCode::io) return fits.error();
  auto shipped = ship_pipe(shipper, arguments.shipping, interrupt.descriptor());
  complain(fmt::format("{} of {} shipped", layout::counted(shipper.tally().points, "point"),
                       layout::counted(shipper.tally().runs, "run")));
  return shipped;
}

Result<bool> ship_paths(const Arguments& arguments, const Door& door, const ShipOptions& options,
                        const Interrupt& interrupt) {
  Shipper shipper(door.address, door.access, options);
  const auto fits = shipper.check();
  if (!fits && (fits.error().code != ErrorCode::io || arguments.shipping.once)) return fits.error();
  if (!fits) complain(describe(fits.error()) + "; waiting for it");
  auto shipped = ship_files(shipper, arguments.shipping, interrupt.descriptor());
  complain(fmt::format("{} of {} shipped", layout::counted(shipper.tally().points, "point"),
                       layout::counted(shipper.tally().runs, "run")));
  return shipped;
}

int run_ship(const Arguments& arguments) {
  const auto door = open_door(arguments.door);
  if (!door) return fail(door.error());
  if (const auto format = check_format(arguments.shipping.format); !format) return fail(format.error());
  const Interrupt interrupt;
  ShipOptions options;
  options.machine = arguments.machine.empty() ? this_machine() : arguments.machine;
  options.stop = interrupt.token();
  options.tell = [](const std::string& words) { complain(words); };
  const auto& paths = arguments.shipping.paths;
  const bool stream = std::any_of(paths.begin(), paths.end(), is_stream);
  const auto shipped =
      stream ? ship_stream(arguments, *door, options, interrupt) : ship_paths(arguments, *door, options, interrupt);
  if (!shipped) return fail(shipped.error());
  if (!*shipped) complain("the store does not have everything yet; shipping again goes on from there");
  return *shipped ? kFine : kCannotJudge;
}

void add(CLI::App& program, Work& work) {
  CLI::App* verb = program.add_subcommand("ship", "Send runs to a fleet's store while they are being written");
  auto arguments = std::make_shared<Arguments>();
  verb->footer(kFooter);
  verb->add_option("PATH", arguments->shipping.paths, "Files, folders (new runs in them are found), a named pipe, or -")
      ->required()
      ->type_name("");
  add_door_options(*verb, arguments->door, "--to,--store");
  verb->add_option("--as", arguments->shipping.name,
                   "A name for the run, if PATH is a single one; a pipe is known by it")
      ->type_name("NAME");
  verb->add_option("--machine", arguments->machine,
                   "The name of this machine; with its path it tells a run from others")
      ->type_name("NAME");
  verb->add_option("--format", arguments->shipping.format,
                   "Read as this format instead of looking (osler list formats)")
      ->type_name("ID");
  verb->add_flag("--once", arguments->shipping.once, "Send what is there now, and end");
  verb->add_option("--idle", arguments->shipping.idle_seconds, "End after so many seconds without new data")
      ->type_name("SECONDS");
  verb->add_option("--spool", arguments->spool, "Where a pipe's data is kept while the store is away")
      ->type_name("DIR");
  verb->add_option("--spool-megabytes", arguments->spool_megabytes, "How much is kept there at most")
      ->type_name("N")
      ->capture_default_str();
  verb->callback([arguments, &work] { work = [arguments] { return run_ship(*arguments); }; });
}

}  // namespace

namespace verb {
Verb ship() {
  return {add};
}
}  // namespace verb

}  // namespace osler::cli
