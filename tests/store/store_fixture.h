// StoreTest: a ClickHouse server of its own, a wire to it that can be cut, and the program as a user calls it.
#pragma once

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <thread>
#include <utility>

#include "osler/diagnosis/diagnose.h"
#include "osler/report/render.h"
#include "osler/source/source.h"
#include "osler/store/store.h"
#include "program.h"
#include "store/clickhouse.h"

namespace osler::tests {

namespace fs = std::filesystem;

class StoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (clickhouse_server().empty())
      GTEST_SKIP() << "clickhouse-server is neither unpacked by `make setup` nor installed";
    server_ = std::make_unique<ClickHouse>(folder_.path() / "server");
    ASSERT_TRUE(server_->start()) << "clickhouse-server does not start";
    wire_ = std::make_unique<Wire>(server_->port());
    address_ = server_->address("", wire_->port());
  }

  void TearDown() override {
    for (const pid_t child : children_) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
    wire_.reset();
    server_.reset();
  }

  [[nodiscard]] Outcome osler(const std::vector<std::string>& arguments, const std::optional<std::string>& input = {},
                              const std::map<std::string, std::string>& more = {}) const {
    Call call;
    call.arguments = arguments;
    call.input = input;
    call.environment = {{"OSLER_STORE", address_}, {"HOME", folder_.path().string()}};
    call.environment.insert(more.begin(), more.end());
    return run(call);
  }

  /// Starts the program and leaves it to itself.
  pid_t start(const std::vector<std::string>& arguments, int input = -1) {
    const pid_t child = ::fork();
    if (child == 0) {
      std::vector<char*> words;
      const std::string log = (folder_.path() / "ship.log").string();
      if (std::freopen(log.c_str(), "a", stderr) == nullptr) ::_exit(127);
      if (input >= 0) ::dup2(input, STDIN_FILENO);
      ::setenv("OSLER_STORE", address_.c_str(), 1);
      ::setenv("HOME", folder_.path().c_str(), 1);
      std::string program = OSLER_PROGRAM;
      words.push_back(program.data());
      std::vector<std::string> copy = arguments;
      for (std::string& word : copy) words.push_back(word.data());
      words.push_back(nullptr);
      ::execv(OSLER_PROGRAM, words.data());
      ::_exit(127);
    }
    if (child < 0) std::abort();  // to signal -1 would be to signal everyone
    children_.push_back(child);
    return child;
  }

  /// The exit code, or 128 and the signal.
  int end(pid_t child, int signal) {
    if (signal != 0) ::kill(child, signal);
    int status = 0;
    ::waitpid(child, &status, 0);
    std::erase(children_, child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  [[nodiscard]] Store store() const { return {*parse_store_address(server_->address()), {}}; }

  /// The report on a run of the store.
  std::string stored_report(const std::string& name) {
    Store there = store();
    const auto card = there.find(name, "default");
    if (!card) return describe(card.error());
    const auto run = there.read(*card);
    return run ? report_of(*run) : describe(run.error());
  }

  /// What is said of a run, without where it lies.
  static std::string report_of(const ::osler::Run& run) {
    auto report = diagnose(run);
    if (!report) return describe(report.error());
    report->run_name = "run";
    report->sources = {};
    report->damage = {};
    return render_json(*report);
  }

  static std::string report_of_files(const fs::path& path) {
    const auto run = read(path.string());
    return run ? report_of(*run) : describe(run.error());
  }

  Folder folder_;
  std::unique_ptr<ClickHouse> server_;
  std::unique_ptr<Wire> wire_;
  std::string address_;
  std::vector<pid_t> children_;
};

/// Every event that a sink gets, by series and step.
class Points final : public EventSink {
 public:
  SeriesId series(std::string_view name) override {
    for (SeriesId id = 0; id < names.size(); ++id) {
      if (names[id] == name) return id;
    }
    names.emplace_back(name);
    return static_cast<SeriesId>(names.size() - 1);
  }
  void add(const Event& event) override { ++seen[{names[event.series], event.step, event.value}]; }
  void add(Mark mark) override { marks.push_back(std::move(mark)); }
  void config(std::string_view key, std::string_view value) override { settings[std::string(key)] = value; }
  void distribution(const Histogram& histogram) override { histograms.push_back(histogram); }

  std::vector<std::string> names;
  std::map<std::tuple<std::string, std::int64_t, double>, int> seen;
  std::vector<Mark> marks;
  std::map<std::string, std::string> settings;
  std::vector<Histogram> histograms;
};

inline std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::string line_of(int step) {
  return std::to_string(step) + "," + std::to_string(2.0 / (1 + step)) + "," + std::to_string(0.5 + 1.0 / (2 + step)) +
         "\n";
}

/// What a log of line_of(0) to line_of(steps - 1) must give.
inline std::map<std::tuple<std::string, std::int64_t, double>, int> points_of_lines(int steps) {
  std::map<std::tuple<std::string, std::int64_t, double>, int> points;
  for (int step = 0; step < steps; ++step) {
    ++points[{"loss", step, std::stod(std::to_string(2.0 / (1 + step)))}];
    ++points[{"val_loss", step, std::stod(std::to_string(0.5 + 1.0 / (2 + step)))}];
  }
  return points;
}

}  // namespace osler::tests
