// The verbs of the program by their command lines; watching by its own parts, so that no second need pass.
#include "mutate/examine.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/program.h"
#include "cli/watch/watch.h"
#include "mutate/interfaces.h"
#include "osler/base/file_system.h"

namespace osler::mutate {
namespace {

namespace fs = std::filesystem;

/// Standard output caught and standard error thrown away while it lives.
class Caught {
 public:
  Caught() : out_(::dup(STDOUT_FILENO)), error_(::dup(STDERR_FILENO)), kept_(::memfd_create("output", MFD_CLOEXEC)) {
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    ::dup2(kept_, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
    ::close(nowhere);
  }
  ~Caught() {
    std::fflush(nullptr);
    ::dup2(out_, STDOUT_FILENO);
    ::dup2(error_, STDERR_FILENO);
    ::close(out_);
    ::close(error_);
    ::close(kept_);
  }
  Caught(const Caught&) = delete;
  Caught& operator=(const Caught&) = delete;

  [[nodiscard]] std::string text() const {
    std::string text(static_cast<std::size_t>(::lseek(kept_, 0, SEEK_END)), '\0');
    std::size_t filled = 0;
    while (filled < text.size()) {
      const ssize_t length = ::pread(kept_, text.data() + filled, text.size() - filled, static_cast<off_t>(filled));
      if (length <= 0) break;
      filled += static_cast<std::size_t>(length);
    }
    return text;
  }

 private:
  int out_;
  int error_;
  int kept_;
};

struct Answer {
  int code = 0;
  std::string out;
};

Answer osler(std::initializer_list<std::string> words) {
  std::vector<const char*> arguments = {"osler"};
  for (const std::string& word : words) arguments.push_back(word.c_str());
  const Caught caught;
  const int code = cli::run_program(static_cast<int>(arguments.size()), arguments.data());
  return {code, caught.text()};
}

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// What must hold after any call.
std::string wrong(const Bench& bench, const Answer& answer) {
  if (answer.code < 0 || answer.code > cli::kCannotJudge) return "exit code " + std::to_string(answer.code);
  if (content(bench.log()) != bench.bytes()) return "the log was changed";
  for (const fs::path& folder : {bench.folder(), bench.folder() / "out"}) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().filename().string().starts_with(".osler-draft")) return "a draft was left behind";
    }
  }
  return {};
}

Finding ask(const Bench& bench, std::initializer_list<std::string> words) {
  const Answer answer = osler(words);
  return {wrong(bench, answer), answer.code < cli::kCannotJudge};
}

Finding ask_for_json(const Bench& bench, std::initializer_list<std::string> words) {
  const Answer answer = osler(words);
  if (!answer.out.empty() && !nlohmann::json::accept(answer.out)) return {"what it says is no JSON", true};
  return {wrong(bench, answer), answer.code < cli::kCannotJudge};
}

/// What a conversion says it has written is there.
Finding ask_to_convert(const Bench& bench, const std::string& name, const std::string& format) {
  const std::string to = bench.output(name);
  const Answer answer = osler({"convert", bench.log(), "-o", to, "--to", format});
  std::string problem = wrong(bench, answer);
  if (problem.empty() && answer.code == cli::kFine && !fs::exists(to)) problem = "nothing was written";
  return {std::move(problem), answer.code == cli::kFine};
}

/// A note goes beside a copy of the log, or into it where it is a run file, which is then read as before.
Finding ask_to_note(const Bench& bench) {
  const std::string copy = bench.output(fs::path(bench.log()).filename().string());
  fs::copy_file(bench.log(), copy, fs::copy_options::overwrite_existing);
  const Answer answer = osler({"note", copy, "seen"});
  const Finding reread = ask(bench, {"diagnose", copy});
  std::string problem = wrong(bench, answer);
  return {problem.empty() ? reread.problem : problem, answer.code == cli::kFine};
}

/// A clock by which a watch is over in no time.
class QuickClock final : public cli::WatchClock {
 public:
  [[nodiscard]] double steady() const override { return now_; }
  [[nodiscard]] double wall() const override { return kNoon + now_; }
  [[nodiscard]] double computing() const override { return 0; }
  void wait(double seconds, int /*interrupt*/) override { now_ += seconds; }

 private:
  static constexpr double kNoon = 1.7e9;
  double now_ = 0;
};

/// Watches the log while it is written in four pieces.
Finding watch(const Bench& bench) {
  constexpr std::size_t kPieces = 4;
  constexpr int kRounds = 6;  // between pieces: enough for a search and an examination
  const Caught caught;
  QuickClock clock;
  const std::string path = bench.output(fs::path(bench.log()).filename().string());
  const auto source = cli::watch_files({path}, {}, -1, {real_file_system(), clock});
  cli::WatchWishes wishes;
  wishes.stop_on = StopRule{};
  wishes.dry_run = true;
  cli::Watching watch(*source, std::move(wishes), clock);
  const std::size_t length = bench.bytes().size() / kPieces + 1;
  for (std::size_t start = 0; start < bench.bytes().size(); start += length) {
    std::ofstream(path, std::ios::binary | std::ios::app) << bench.bytes().substr(start, length);
    for (int i = 0; i < kRounds; ++i) {
      if (const auto goes_on = watch.round(); !goes_on) return {};
    }
  }
  return {{}, watch.finish().has_value()};
}

constexpr std::array<Question, 23> kQuestions = {{
    {"diagnose --json",
     [](const Bench& b) {
       return ask_for_json(b, {"diagnose", b.log(), "--json"});
     }},
    {"diagnose --verbose",
     [](const Bench& b) {
       return ask(b, {"diagnose", b.log(), "--verbose", "--colour"});
     }},
    {"diagnose --ascii",
     [](const Bench& b) {
       return ask(b, {"diagnose", b.log(), "--ascii"});
     }},
    {"diagnose --sarif",
     [](const Bench& b) {
       return ask(b, {"diagnose", b.log(), "--sarif", b.output("x.sarif")});
     }},
    {"diagnose --html",
     [](const Bench& b) {
       return ask(b, {"diagnose", b.log(), "--html", b.output("report.html")});
     }},
    {"diagnose --format text",
     [](const Bench& b) {
       return ask(b, {"diagnose", b.log(), "--format", "text"});
     }},
    {"diagnose a folder",
     [](const Bench& b) {
       return ask(b, {"diagnose", b.folder().string()});
     }},
    {"compare as the second",
     [](const Bench& b) {
       return ask(b, {"compare", b.sound(), b.log()});
     }},
    {"compare as the first",
     [](const Bench& b) {
       return ask_for_json(b, {"compare", b.log(), b.sound(), "--json"});
     }},
    {"convert to csv", [](const Bench& b) { return ask_to_convert(b, "run.csv", "csv"); }},
    {"convert to jsonl", [](const Bench& b) { return ask_to_convert(b, "run.jsonl", "jsonl"); }},
    {"convert to osler", [](const Bench& b) { return ask_to_convert(b, "run.osler", "osler"); }},
    {"convert to tensorboard", [](const Bench& b) { return ask_to_convert(b, "board", "tensorboard"); }},
    {"convert to wandb", [](const Bench& b) { return ask_to_convert(b, "bias", "wandb"); }},
    {"plot",
     [](const Bench& b) {
       return ask(b, {"plot", b.log(), "--kind", "overview", "-o", b.output("x.svg")});
     }},
    {"report",
     [](const Bench& b) {
       return ask(b, {"report", b.log(), "-o", b.output("report.pdf")});
     }},
    {"watch", watch},
    {"serve", ask_server},
    {"mcp", ask_assistant},
    {"baseline learn",
     [](const Bench& b) {
       return ask(b, {"baseline", "learn", b.log(), b.sound(), "--all", "-o", b.output("team.json")});
     }},
    {"baseline show",
     [](const Bench& b) {
       return ask(b, {"baseline", "show", b.log()});
     }},
    {"diagnose --baseline",
     [](const Bench& b) {
       return ask(b, {"diagnose", b.sound(), "--baseline", b.log()});
     }},
    {"note", ask_to_note},
}};

}  // namespace

Bench::Bench(fs::path folder) : folder_(std::move(folder)) {
  fs::create_directories(folder_ / "out");
  std::ofstream file(sound());
  file << "step,loss,val_loss\n";
  for (int step = 0; step < 100; ++step) {
    file << step << ',' << 0.5 + 2.0 / (1 + step) << ',' << 0.6 + 2.0 / (1 + step) << '\n';
  }
}

void Bench::lay(const std::string& name, const std::string& bytes) {
  if (!log_.empty()) fs::remove(log_);
  log_ = (folder_ / name).string();
  bytes_ = bytes;
  std::ofstream(log_, std::ios::binary) << bytes;
}

void Bench::clear_output() const {
  fs::remove_all(folder_ / "out");
  fs::create_directories(folder_ / "out");
}

std::string run_file(const Bench& bench) {
  const std::string path = bench.output("sound.osler");
  static_cast<void>(osler({"convert", bench.sound(), "-o", path}));
  return content(path);
}

std::span<const Question> questions() {
  return kQuestions;
}

}  // namespace osler::mutate
