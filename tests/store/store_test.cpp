// Runs in a real ClickHouse server: what comes back is what was shipped, each point once, whatever was killed or cut.
#include "osler/store/store.h"

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
#include <random>
#include <thread>
#include <utility>

#include "osler/diagnosis/diagnose.h"
#include "osler/report/render.h"
#include "osler/runfile/writer.h"
#include "osler/source/source.h"
#include "program.h"
#include "store/clickhouse.h"

namespace osler::tests {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

class StoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (clickhouse_server().empty()) GTEST_SKIP() << "clickhouse-server is not installed";
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

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string line_of(int step) {
  return std::to_string(step) + "," + std::to_string(2.0 / (1 + step)) + "," + std::to_string(0.5 + 1.0 / (2 + step)) +
         "\n";
}

/// What a log of line_of(0) to line_of(steps - 1) must give.
std::map<std::tuple<std::string, std::int64_t, double>, int> points_of_lines(int steps) {
  std::map<std::tuple<std::string, std::int64_t, double>, int> points;
  for (int step = 0; step < steps; ++step) {
    ++points[{"loss", step, std::stod(std::to_string(2.0 / (1 + step)))}];
    ++points[{"val_loss", step, std::stod(std::to_string(0.5 + 1.0 / (2 + step)))}];
  }
  return points;
}

TEST_F(StoreTest, IsMadeOnceAndSaysWhatItNeeds) {
  const Outcome before = osler({"ship", OSLER_SOURCE_DIR "/examples/logs", "--once"});
  EXPECT_EQ(before.exit_code, 2);
  EXPECT_THAT(before.err, HasSubstr("osler store init makes them"));
  EXPECT_THAT(osler({"store", "init"}).err, HasSubstr("is made"));
  EXPECT_THAT(osler({"store", "init"}).err, HasSubstr("is up to date"));
  server_->ask("INSERT INTO osler.osler_schema VALUES (999, 0)");
  const Outcome newer = osler({"ship", OSLER_SOURCE_DIR "/examples/logs", "--once"});
  EXPECT_EQ(newer.exit_code, 2);
  EXPECT_THAT(newer.err, HasSubstr("install a newer one"));
}

TEST_F(StoreTest, GivesBackEveryLogAsItIs) {
  ASSERT_EQ(osler({"store", "init"}).exit_code, 0);
  const fs::path samples = fs::path(OSLER_SOURCE_DIR) / "tests/samples";
  int compared = 0;
  const Sources sources = find_sources(real_file_system(), {samples.string()}, {});
  const Outcome shipped = osler({"ship", samples.string(), "--once"});
  ASSERT_EQ(shipped.exit_code, 0) << shipped.err;
  Store there = store();
  for (const Source& source : sources.runs) {
    if (source.log.doubtful) continue;
    const auto here = read_source(real_file_system(), source);
    if (!here || here->steps().count == 0) continue;
    const auto cards = there.runs({});
    ASSERT_TRUE(cards);
    const auto card =
        std::find_if(cards->begin(), cards->end(), [&](const RunCard& one) { return one.name == source.name; });
    ASSERT_NE(card, cards->end()) << source.name;
    const auto run = there.read(*card);
    ASSERT_TRUE(run) << describe(run.error());
    EXPECT_EQ(report_of(*run), report_of(*here)) << source.name;
    ++compared;
  }
  EXPECT_GT(compared, 40);
}

TEST_F(StoreTest, GivesBackARunFileWithAllItHolds) {
  ASSERT_EQ(osler({"store", "init"}).exit_code, 0);
  const fs::path path = folder_.path() / "run.osler";
  {
    auto writer = RunFileWriter::open(path);
    ASSERT_TRUE(writer);
    const SeriesId loss = writer->series("loss");
    const SeriesId gradients = writer->series("gradients/fc1.weight");
    writer->config("lr", "0.1");
    for (int step = 0; step < 3000; ++step) writer->add(Event{loss, step, 1e9 + step * 0.5, 1.0 / (1 + step)});
    writer->distribution(Histogram{gradients, 100, 1e9 + 50, -1, 1, 10, 0, 4, {-0.5, 0, 1}, {2, 3, 5}});
    writer->add(Mark{Mark::Kind::note, 200, 1e9 + 100, "a 'note'\twith \\ signs\n"});
    ASSERT_TRUE(writer->close());
  }
  const Outcome shipped = osler({"ship", path.string(), "--once"});
  ASSERT_EQ(shipped.exit_code, 0) << shipped.err;
  ASSERT_EQ(osler({"ship", path.string(), "--once"}).exit_code, 0);  // twice is once
  Store there = store();
  const auto card = there.find("run.osler", "default");
  ASSERT_TRUE(card) << describe(card.error());
  Points points;
  ASSERT_TRUE(there.read_events(card->id, points));
  EXPECT_EQ(points.seen.size(), 3000U);
  for (const auto& [point, times] : points.seen) EXPECT_EQ(times, 1);
  EXPECT_EQ(points.settings["lr"], "0.1");
  ASSERT_EQ(points.histograms.size(), 1U);
  EXPECT_EQ(points.histograms[0].counts, (std::vector<double>{2, 3, 5}));
  EXPECT_EQ(points.histograms[0].step, 100);
  ASSERT_EQ(points.marks.size(), 1U);
  EXPECT_EQ(points.marks[0].text, "a 'note'\twith \\ signs\n");
  EXPECT_EQ(stored_report("run.osler"), report_of_files(path));
}

TEST_F(StoreTest, LetsALogThatIsWrittenAnewReplaceWhatItWas) {
  ASSERT_EQ(osler({"store", "init"}).exit_code, 0);
  const fs::path log = folder_.path() / "metrics.csv";
  const auto write = [&](int from, int to, std::ios::openmode mode) {
    std::ofstream out(log, mode);
    if (from == 0) out << "step,loss,val_loss\n";
    for (int step = from; step < to; ++step) out << line_of(step);
  };
  write(0, 500, std::ios::trunc);
  ASSERT_EQ(osler({"ship", log.string(), "--once"}).exit_code, 0);
  std::ofstream(log, std::ios::trunc) << "step,loss,val_loss\n";
  {
    std::ofstream out(log, std::ios::app);
    for (int step = 0; step < 100; ++step) out << step << "," << 7 << "," << 8 << "\n";
  }
  ASSERT_EQ(osler({"ship", log.string(), "--once"}).exit_code, 0);
  Store there = store();
  const auto card = there.find("metrics.csv", "default");
  ASSERT_TRUE(card);
  Points points;
  ASSERT_TRUE(there.read_events(card->id, points));
  EXPECT_EQ(points.seen.size(), 200U);
  EXPECT_EQ((points.seen[{"loss", 99, 7.0}]), 1);
  EXPECT_EQ(stored_report("metrics.csv"), report_of_files(log));
}

// The server and the shipper are killed with SIGKILL and the wire between them is cut, at random, while a log grows.
TEST_F(StoreTest, HasEveryPointOnceWhateverWasKilledOrCut) {
  constexpr int kSteps = 40'000;
  constexpr int kPiece = 400;
  constexpr unsigned kSeed = 25;
  ASSERT_EQ(osler({"store", "init"}).exit_code, 0);
  const fs::path log = folder_.path() / "metrics.csv";
  std::ofstream out(log);
  out << "step,loss,val_loss\n";
  std::mt19937 random(kSeed);
  const std::vector<std::string> ship = {"ship", log.string()};
  pid_t shipper = start(ship);
  int kills = 0;
  for (int step = 0; step < kSteps; ++step) {
    out << line_of(step);
    if (step % kPiece != 0) continue;
    out.flush();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    switch (random() % 12) {
      case 0:
        EXPECT_EQ(end(shipper, SIGKILL), 128 + SIGKILL);
        shipper = start(ship);
        ++kills;
        break;
      case 1:
        server_->kill();
        ASSERT_TRUE(server_->start());
        ++kills;
        break;
      case 2:
        wire_->cut();
        break;
      case 3:
      case 4:
        wire_->mend();
        break;
      default:
        break;
    }
  }
  out.close();
  wire_->mend();
  EXPECT_GE(kills, 5);
  end(shipper, SIGKILL);
  const Outcome rest = osler({"ship", log.string(), "--once"});
  ASSERT_EQ(rest.exit_code, 0) << rest.err;
  Store there = store();
  const auto card = there.find("metrics.csv", "default");
  ASSERT_TRUE(card) << describe(card.error());
  Points points;
  ASSERT_TRUE(there.read_events(card->id, points));
  EXPECT_EQ(points.seen, points_of_lines(kSteps));
  EXPECT_EQ(stored_report("metrics.csv"), report_of_files(log));
}

TEST_F(StoreTest, KeepsAPipeInABoundWhileItIsAway) {
  ASSERT_EQ(osler({"store", "init"}).exit_code, 0);
  constexpr int kSteps = 20'000;
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  const fs::path spool = folder_.path() / "spool";
  wire_->cut();
  const pid_t shipper = start({"ship", "-", "--as", "exp42", "--format", "csv", "--spool", spool.string()}, pipe[0]);
  ::close(pipe[0]);
  const auto send = [&](const std::string& text) {
    ASSERT_EQ(::write(pipe[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  };
  send("step,loss,val_loss\n");
  std::uintmax_t most = 0;
  for (int step = 0; step < kSteps; ++step) {
    send(line_of(step));
    if (step % 2000 != 0) continue;
    std::this_thread::sleep_for(std::chrono::milliseconds(1200));
    std::uintmax_t size = 0;
    for (const auto& file : fs::directory_iterator(spool)) size += file.file_size();
    most = std::max(most, size);
    if (step == 10'000) wire_->mend();
  }
  EXPECT_GT(most, 0U);  // it was needed
  ::close(pipe[1]);
  EXPECT_EQ(end(shipper, 0), 0);
  EXPECT_FALSE(fs::exists(spool / "lock"));
  Store there = store();
  const auto card = there.find("exp42", "default");
  ASSERT_TRUE(card) << describe(card.error());
  Points points;
  ASSERT_TRUE(there.read_events(card->id, points));
  EXPECT_EQ(points.seen, points_of_lines(kSteps));
}

TEST_F(StoreTest, SendsWhatAKilledShipperLeftInItsSpool) {
  ASSERT_EQ(osler({"store", "init"}).exit_code, 0);
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  wire_->cut();
  const pid_t shipper = start({"ship", "-", "--as", "exp43", "--format", "csv"}, pipe[0]);
  ::close(pipe[0]);
  std::string text = "step,loss,val_loss\n";
  for (int step = 0; step < 1000; ++step) text += line_of(step);
  ASSERT_EQ(::write(pipe[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  const fs::path spools = folder_.path() / ".local/state/osler/spool";
  const auto batches = [&] {
    int count = 0;
    if (!fs::exists(spools)) return count;
    for (const auto& file : fs::recursive_directory_iterator(spools))
      count += file.path().extension() == ".batch" ? 1 : 0;
    return count;
  };
  for (int round = 0; round < 400 && batches() == 0; ++round)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ASSERT_GT(batches(), 0);
  EXPECT_EQ(end(shipper, SIGKILL), 128 + SIGKILL);
  ::close(pipe[1]);
  wire_->mend();
  const Outcome next = osler({"ship", "-", "--as", "exp44", "--format", "csv"}, text);
  EXPECT_EQ(next.exit_code, 0) << next.err;
  EXPECT_EQ(batches(), 0);
  Store there = store();
  for (const char* name : {"exp43", "exp44"}) {
    const auto card = there.find(name, "default");
    ASSERT_TRUE(card) << describe(card.error());
    Points points;
    ASSERT_TRUE(there.read_events(card->id, points));
    EXPECT_EQ(points.seen, points_of_lines(1000)) << name;
  }
}

TEST_F(StoreTest, KeepsOrderAmongRuns) {
  ASSERT_EQ(osler({"store", "init"}).exit_code, 0);
  ASSERT_EQ(osler({"ship", OSLER_SOURCE_DIR "/examples/logs", "--once"}).exit_code, 0);
  EXPECT_THAT(osler({"store", "runs"}).out, HasSubstr("960 points  sick.csv"));
  ASSERT_EQ(osler({"store", "tag", "sick.csv", "look"}).exit_code, 0);
  EXPECT_THAT(osler({"store", "runs", "--tag", "look"}).out, HasSubstr("sick.csv #look"));
  EXPECT_THAT(osler({"store", "runs", "--tag", "look"}).out, Not(HasSubstr("healthy.csv")));
  ASSERT_EQ(osler({"store", "rename", "sick.csv", "wide net"}).exit_code, 0);
  EXPECT_THAT(osler({"store", "runs"}).out, HasSubstr("wide net"));
  ASSERT_EQ(osler({"store", "archive", "wide net"}).exit_code, 0);
  EXPECT_THAT(osler({"store", "runs"}).out, Not(HasSubstr("wide net")));
  EXPECT_THAT(osler({"store", "runs", "--archived"}).out, HasSubstr("wide net"));
  ASSERT_EQ(osler({"store", "remove", "wide net"}).exit_code, 0);
  EXPECT_THAT(osler({"store", "runs", "--archived"}).out, Not(HasSubstr("wide net")));
  const Outcome unknown = osler({"store", "tag", "nobody", "x"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("no run of the store has this name"));
  // What is removed is gone from the disk too, in the server's own time.
  for (int round = 0; round < 200 && server_->ask("SELECT count() FROM osler.points") != "960\n"; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_EQ(server_->ask("SELECT count() FROM osler.points"), "960\n");
}

TEST_F(StoreTest, RemovesWhatAProjectKeepsNoLonger) {
  ASSERT_EQ(osler({"store", "init"}).exit_code, 0);
  ASSERT_EQ(osler({"ship", OSLER_SOURCE_DIR "/examples/logs", "--once"}).exit_code, 0);
  EXPECT_THAT(osler({"store", "prune"}).err, HasSubstr("0 runs removed"));
  ASSERT_EQ(osler({"store", "keep", "30"}).exit_code, 0);
  EXPECT_THAT(osler({"store", "prune"}).err, HasSubstr("0 runs removed"));
  // One of them has not changed for 40 days.
  server_->ask(
      "INSERT INTO osler.runs SELECT run, 'default', 'old.csv', machine, format, toUInt64(now() - 40 * 86400) * 1000, "
      "began, last_time, points FROM (SELECT 77 AS run, machine, format, began, last_time, points FROM osler.runs "
      "LIMIT 1)");
  EXPECT_THAT(osler({"store", "runs"}).out, HasSubstr("old.csv"));
  EXPECT_THAT(osler({"store", "prune"}).err, HasSubstr("1 run removed"));
  EXPECT_THAT(osler({"store", "runs"}).out, Not(HasSubstr("old.csv")));
  EXPECT_THAT(osler({"store", "runs"}).out, HasSubstr("sick.csv"));
}

TEST_F(StoreTest, OpensOnlyWithThePassword) {
  ClickHouse locked(folder_.path() / "locked", "open sesame");
  ASSERT_TRUE(locked.start());
  const std::string there = locked.address();
  const Outcome wrong = osler({"store", "init", there}, {}, {{"OSLER_STORE_PASSWORD", "guess"}});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("does not let this user in"));
  EXPECT_THAT(wrong.err, Not(HasSubstr("guess")));
  EXPECT_EQ(osler({"store", "init", there}, {}, {{"OSLER_STORE_PASSWORD", "open sesame"}}).exit_code, 0);
  const std::string file = folder_.write("password", "open sesame\n");
  EXPECT_EQ(osler({"store", "runs", there, "--password-file", folder_.path() / "password"}).exit_code, 0);
}

TEST_F(StoreTest, HasTheReportThatEveryRunShouldHave) {
  ASSERT_EQ(osler({"store", "init"}).exit_code, 0);
  const fs::path cases = OSLER_CASES;
  std::vector<std::string> ship = {"ship", "--once"};
  for (const char* name : {"loss-diverging", "overfitting", "loss-plateau", "loss-nonfinite-later", "epoch-sawtooth"}) {
    ship.push_back((cases / name).string());
  }
  ASSERT_EQ(osler(ship).exit_code, 0);
  // Three workers share them, and one dies.
  std::vector<pid_t> workers;
  for (const char* name : {"ann", "bob", "cleo"}) {
    workers.push_back(start({"examine", "-q", "--worker", name, "--lease", "2", "--every", "0.1"}));
  }
  end(workers[0], SIGKILL);
  Store there = store();
  const auto cards = there.runs({});
  ASSERT_TRUE(cards);
  ASSERT_GT(cards->size(), 8U);
  const std::string all = std::to_string(cards->size()) + "\n";
  for (int round = 0; round < 600 && server_->ask("SELECT count() FROM osler.reports FINAL") != all; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  for (const pid_t worker : {workers[1], workers[2]}) EXPECT_EQ(end(worker, SIGINT), 0);
  EXPECT_EQ(server_->ask("SELECT count() FROM osler.reports FINAL"), all);
  for (const RunCard& card : *cards) {
    const auto run = there.read(card);
    ASSERT_TRUE(run);
    const auto report = diagnose(*run);
    ASSERT_TRUE(report);
    const std::string kept = server_->ask(
        "SELECT json FROM osler.reports FINAL WHERE run = " + std::to_string(card.id) + " FORMAT TabSeparatedRaw");
    EXPECT_EQ(kept, render_json_line(*report) + "\n") << card.name;
  }
}

TEST_F(StoreTest, LeavesARunToItsWorkerUntilTheLeaseHasRunOut) {
  ASSERT_EQ(osler({"store", "init"}).exit_code, 0);
  ASSERT_EQ(osler({"ship", OSLER_SOURCE_DIR "/examples/logs/sick.csv", "--once"}).exit_code, 0);
  server_->ask("INSERT INTO osler.leases SELECT run, 'ann', toUInt64(now()) + 3600, 1 FROM osler.runs");
  EXPECT_THAT(osler({"examine", "--once", "--worker", "bob"}).err, HasSubstr("0 runs examined"));
  server_->ask("INSERT INTO osler.leases SELECT run, 'ann', toUInt64(now()) - 1, 2 FROM osler.runs");
  EXPECT_THAT(osler({"examine", "--once", "--worker", "bob"}).err, HasSubstr("1 run examined"));
  EXPECT_THAT(osler({"examine", "--once", "--worker", "bob"}).err, HasSubstr("0 runs examined"));
}

TEST_F(StoreTest, RemembersWhenAFindingWasSeen) {
  ASSERT_EQ(osler({"store", "init"}).exit_code, 0);
  const fs::path log = folder_.path() / "metrics.csv";
  std::ofstream out(log);
  out << "step,loss\n";
  for (int step = 0; step < 400; ++step) out << step << "," << 2.0 / (1 + step) << "\n";
  out.flush();
  ASSERT_EQ(osler({"ship", log.string(), "--once"}).exit_code, 0);
  ASSERT_EQ(osler({"examine", "--once"}).exit_code, 0);
  EXPECT_EQ(osler({"fleet"}).exit_code, 0);
  EXPECT_THAT(osler({"fleet"}).out, HasSubstr("0 critical"));
  const std::string alert = "echo $OSLER_FINDING >> " + (folder_.path() / "alerts").string();
  for (int step = 400; step < 500; ++step) out << step << ",nan\n";
  out.close();
  ASSERT_EQ(osler({"ship", log.string(), "--once"}).exit_code, 0);
  ASSERT_EQ(osler({"examine", "--once", "--on-critical", alert}).exit_code, 0);
  EXPECT_THAT(read_text(folder_.path() / "alerts"), HasSubstr("loss-nonfinite-later\n"));
  const Outcome fleet = osler({"fleet"});
  EXPECT_EQ(fleet.exit_code, 1);
  EXPECT_THAT(fleet.out, HasSubstr("1 critical"));
  EXPECT_THAT(fleet.out, HasSubstr("metrics.csv"));
  EXPECT_EQ(server_->ask("SELECT count() FROM osler.reports FINAL"), "2\n");
  const std::string seen =
      server_->ask("SELECT finding, seen FROM osler.findings FINAL WHERE gone = 0 ORDER BY finding");
  EXPECT_THAT(seen, HasSubstr("loss"));
  // Examined again with more of the same, it keeps the moment in which it was seen.
  std::ofstream more(log, std::ios::app);
  for (int step = 500; step < 520; ++step) more << step << ",nan\n";
  more.close();
  ASSERT_EQ(osler({"ship", log.string(), "--once"}).exit_code, 0);
  ASSERT_EQ(osler({"examine", "--once"}).exit_code, 0);
  EXPECT_EQ(server_->ask("SELECT finding, seen FROM osler.findings FINAL WHERE gone = 0 ORDER BY finding"), seen);
  EXPECT_EQ(server_->ask("SELECT count() FROM osler.reports FINAL"), "2\n");
  EXPECT_THAT(osler({"fleet", "metrics.csv"}).out, HasSubstr("history"));
  EXPECT_THAT(osler({"fleet", "--openmetrics"}).out, HasSubstr("status=\"critical\"} 1\n"));
}

/// The commands of the shell blocks of the guide's sections with these titles.
std::string commands_of_guide(const std::vector<std::string>& titles) {
  const std::string guide = read_text(fs::path(OSLER_SOURCE_DIR) / "docs/guides/fleet.md");
  std::string commands;
  for (const std::string& title : titles) {
    const std::size_t section = guide.find("## " + title);
    const std::size_t begin = guide.find("```sh\n", section) + std::string("```sh\n").size();
    commands += guide.substr(begin, guide.find("```", begin) - begin);
  }
  return commands;
}

TEST_F(StoreTest, TakesATeamToAFleetInTheTenCommandsOfTheGuide) {
  const std::string start = commands_of_guide({"From nothing to a fleet in ten commands"});
  EXPECT_EQ(std::count(start.begin(), start.end(), '\n'), 10);
  std::string script = commands_of_guide({"From nothing to a fleet in ten commands", "Keeping order"});
  const std::string theirs = "localhost:8123";
  ASSERT_NE(script.find(theirs), std::string::npos);
  script.replace(script.find(theirs), theirs.size(), "127.0.0.1:" + std::to_string(server_->port()));
  fs::create_directories(folder_.path() / "bin");
  fs::create_symlink(OSLER_PROGRAM, folder_.path() / "bin/osler");
  fs::create_directories(folder_.path() / "examples");
  fs::copy(fs::path(OSLER_SOURCE_DIR) / "examples/logs", folder_.path() / "examples/logs", fs::copy_options::recursive);
  const std::string where = folder_.path().string();
  folder_.write("guide.sh", "set -eu\ncd " + where + "\nPATH=" + where + "/bin:$PATH\n" + script);
  const std::string call = "bash " + where + "/guide.sh > " + where + "/out 2> " + where + "/err";
  EXPECT_EQ(std::system(call.c_str()), 0) << read_text(folder_.path() / "err");
  const std::string out = read_text(folder_.path() / "out");
  EXPECT_THAT(out, HasSubstr("960 points  sick.csv"));
  EXPECT_THAT(out, HasSubstr("vision: 1 critical, 0 with a warning, 1 healthy"));
  EXPECT_THAT(out, HasSubstr("loss-diverging from step 95"));
  EXPECT_THAT(read_text(folder_.path() / "fleet.prom"), HasSubstr("{project=\"vision\",status=\"critical\"} 1"));
  EXPECT_THAT(osler({"store", "runs", "--all-projects", "--archived"}).out, Not(HasSubstr("wide net")));
}

}  // namespace
}  // namespace osler::tests
