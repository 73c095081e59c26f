// Runs in a real ClickHouse server: what comes back is what was shipped, each point once, whatever was killed or cut.
#include <random>

#include "osler/runfile/writer.h"
#include "store/store_fixture.h"

namespace osler::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A log of so many lines, with two points in each.
fs::path write_log(const Folder& folder, const std::string& name, int steps) {
  std::string text = "step,loss,val_loss\n";
  for (int step = 0; step < steps; ++step) text += line_of(step);
  folder.write(name, text);
  return folder.path() / name;
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

TEST_F(StoreTest, IsBroughtUpToDateWithAllItHolds) {
  const std::string old = read_text(fs::path(OSLER_SOURCE_DIR) / "tests/store/schema_1.sql");
  for (std::size_t at = old.find("CREATE"); at != std::string::npos;) {
    const std::size_t end = old.find(";\n", at);
    ASSERT_EQ(server_->ask(old.substr(at, end - at)), "");
    at = end == std::string::npos ? end : end + 2;
    if (at == old.size()) break;
  }
  ASSERT_EQ(server_->ask("SELECT count() FROM osler.points"), "24\n");
  const fs::path log = write_log(folder_, "metrics.csv", 50);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"ship", log.string(), "--once"}, {"examine", "--once"}, {"fleet"}}) {
    const Outcome before = osler(words);
    EXPECT_EQ(before.exit_code, 2);
    EXPECT_THAT(before.err, HasSubstr("its tables have version 1, and this Osler needs " +
                                      std::to_string(kStoreSchema) + ": osler store init brings them up to date"));
  }
  EXPECT_EQ(server_->ask("SELECT count() FROM osler.points"), "24\n");
  const Outcome upgraded = osler({"store", "init"});
  ASSERT_EQ(upgraded.exit_code, 0) << upgraded.err;
  EXPECT_THAT(upgraded.err, HasSubstr("was brought up to date (version " + std::to_string(kStoreSchema) + ")"));
  EXPECT_THAT(osler({"store", "init"}).err, HasSubstr("is up to date"));
  EXPECT_THAT(osler({"store", "runs"}).out, HasSubstr("24 points  old.csv #first"));
  EXPECT_EQ(store().retention("default").value(), std::optional<int>(90));
  ASSERT_EQ(osler({"ship", log.string(), "--once"}).exit_code, 0);
  EXPECT_THAT(osler({"examine", "--once"}).err, HasSubstr("2 runs examined"));
  const auto card = store().find("old.csv", "default");
  ASSERT_TRUE(card);
  Points points;
  ASSERT_TRUE(store().read_events(card->id, points));
  EXPECT_EQ(points.seen, points_of_lines(12));
  // It has the tables and columns that a new one has, in the same order.
  ClickHouse fresh(folder_.path() / "fresh");
  ASSERT_TRUE(fresh.start());
  ASSERT_EQ(osler({"store", "init", fresh.address()}).exit_code, 0);
  const std::string columns =
      "SELECT table, name, type FROM system.columns WHERE database = 'osler' ORDER BY table, name";
  EXPECT_EQ(server_->ask(columns), fresh.ask(columns));
}

// As it is when it was interrupted.
TEST_F(StoreTest, IsBroughtUpToDateAlsoFromHalfWay) {
  ASSERT_EQ(osler({"store", "init"}).exit_code, 0);
  server_->ask("TRUNCATE TABLE osler.osler_schema");
  server_->ask("INSERT INTO osler.osler_schema VALUES (1, 0)");
  EXPECT_THAT(osler({"store", "init"}).err, HasSubstr("was brought up to date"));
  const Outcome elsewhere = osler({"store", "init", "--cluster", "main"});
  EXPECT_EQ(elsewhere.exit_code, 2);
  EXPECT_THAT(elsewhere.err, HasSubstr("its tables lie on one server"));
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

// What a shipper does that died before it could say how far it was.
TEST_F(StoreTest, HasAPointOnceThoughItWasSentTwice) {
  ASSERT_EQ(osler({"store", "init"}).exit_code, 0);
  const fs::path log = fs::path(OSLER_SOURCE_DIR) / "examples/logs/sick.csv";
  ASSERT_EQ(osler({"ship", log.string(), "--once"}).exit_code, 0);
  server_->ask("SYSTEM STOP MERGES");
  server_->ask("TRUNCATE TABLE osler.progress");
  ASSERT_EQ(osler({"ship", log.string(), "--once"}).exit_code, 0);
  EXPECT_EQ(server_->ask("SELECT count() FROM osler.points"), "1920\n");  // both are there
  Store there = store();
  const auto card = there.find("sick.csv", "default");
  ASSERT_TRUE(card);
  Points points;
  ASSERT_TRUE(there.read_events(card->id, points));
  EXPECT_EQ(points.seen.size(), 960U);
  for (const auto& [point, times] : points.seen) EXPECT_EQ(times, 1);
  EXPECT_EQ(stored_report("sick.csv"), report_of_files(log));
}

// Whichever of its inserts the server had done when it died before it could say so.
TEST_F(StoreTest, HasEveryPointOnceThoughTheServerDiedBetweenAnInsertAndItsAnswer) {
  constexpr int kSteps = 500;
  ASSERT_EQ(osler({"store", "init"}).exit_code, 0);
  int kills = 0;
  for (int fatal = 1;; ++fatal) {
    const std::string name = "run" + std::to_string(fatal) + ".csv";
    const fs::path log = write_log(folder_, name, kSteps);
    std::atomic<int> inserts = 0;
    std::atomic<bool> dead = false;
    wire_->before_answers_to_inserts([&] {
      if (++inserts != fatal) return true;
      server_->kill();
      dead = true;
      return false;
    });
    const pid_t shipper = start({"ship", log.string(), "--once"});
    int code = -1;
    while (!dead && ::waitpid(shipper, &code, WNOHANG) == 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (!dead) {  // there were no more inserts
      std::erase(children_, shipper);
      EXPECT_EQ(code, 0);
      break;
    }
    ++kills;
    ASSERT_TRUE(server_->start());
    EXPECT_EQ(end(shipper, 0), 0) << name;
    Store there = store();
    const auto card = there.find(name, "default");
    ASSERT_TRUE(card) << describe(card.error());
    Points points;
    ASSERT_TRUE(there.read_events(card->id, points));
    EXPECT_EQ(points.seen, points_of_lines(kSteps)) << name;
    EXPECT_EQ(stored_report(name), report_of_files(log));
  }
  EXPECT_GE(kills, 5);  // streams, series, points, progress, runs
}

// The same with the shipper, whose successor cannot know what had been sent.
TEST_F(StoreTest, HasEveryPointOnceThoughTheShipperDiedBetweenAnInsertAndItsAnswer) {
  constexpr int kSteps = 500;
  ASSERT_EQ(osler({"store", "init"}).exit_code, 0);
  server_->ask("SYSTEM STOP MERGES");
  int twice = 0;
  for (int fatal = 1;; ++fatal) {
    const std::string name = "run" + std::to_string(fatal) + ".csv";
    const fs::path log = write_log(folder_, name, kSteps);
    std::atomic<int> inserts = 0;
    std::atomic<bool> lost = false;
    std::atomic<pid_t> shipper = -1;
    wire_->before_answers_to_inserts([&] {
      if (++inserts != fatal) return true;
      ::kill(shipper, SIGKILL);
      lost = true;
      return false;
    });
    shipper = start({"ship", log.string(), "--once"});
    const int code = end(shipper, 0);
    if (!lost) break;
    EXPECT_EQ(code, 128 + SIGKILL);
    wire_->before_answers_to_inserts({});
    const Outcome next = osler({"ship", log.string(), "--once"});
    ASSERT_EQ(next.exit_code, 0) << next.err;
    Store there = store();
    const auto card = there.find(name, "default");
    ASSERT_TRUE(card) << describe(card.error());
    const std::string lying = server_->ask("SELECT count() FROM osler.points WHERE run = " + std::to_string(card->id));
    twice += lying == std::to_string(4 * kSteps) + "\n" ? 1 : 0;
    Points points;
    ASSERT_TRUE(there.read_events(card->id, points));
    EXPECT_EQ(points.seen, points_of_lines(kSteps)) << name;
  }
  EXPECT_GE(twice, 1);  // what died behind its points, and before it said how far they went
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

TEST_F(StoreTest, TakesARemovedRunBackWhenItIsShippedAnew) {
  constexpr int kSteps = 300;
  ASSERT_EQ(osler({"store", "init"}).exit_code, 0);
  const fs::path log = write_log(folder_, "metrics.csv", kSteps);
  const fs::path file = folder_.path() / "run.osler";
  {
    auto writer = RunFileWriter::open(file);
    ASSERT_TRUE(writer);
    const SeriesId loss = writer->series("loss");
    for (int step = 0; step < kSteps; ++step) writer->add(Event{loss, step, 1e9 + step, 1.0 / (1 + step)});
    ASSERT_TRUE(writer->close());
  }
  const std::vector<std::string> ship = {"ship", log.string(), file.string(), "--once"};
  const std::vector<std::string> pipe = {"ship", "-", "--as", "exp42", "--format", "csv"};
  const std::map<std::string, std::size_t> points = {
      {"metrics.csv", 2 * kSteps}, {"run.osler", kSteps}, {"exp42", 2 * kSteps}};
  // Twice: what was removed before may be in the way of the second time.
  for (int round = 0; round < 3; ++round) {
    const Outcome shipped = osler(ship);
    ASSERT_EQ(shipped.exit_code, 0) << shipped.err;
    ASSERT_EQ(osler(pipe, read_text(log)).exit_code, 0);
    ASSERT_EQ(osler(ship).exit_code, 0);
    Store there = store();
    for (const auto& [name, count] : points) {
      const auto card = there.find(name, "default");
      ASSERT_TRUE(card) << describe(card.error()) << " in round " << round;
      EXPECT_TRUE(card->tags.empty()) << name;
      Points seen;
      ASSERT_TRUE(there.read_events(card->id, seen));
      EXPECT_EQ(seen.seen.size(), count) << name << " in round " << round;
      for (const auto& [point, times] : seen.seen) EXPECT_EQ(times, 1);
      ASSERT_EQ(osler({"store", "tag", name, "look"}).exit_code, 0);
      ASSERT_EQ(osler({"store", "remove", name}).exit_code, 0);
    }
    EXPECT_THAT(osler({"store", "runs", "--archived"}).out, Not(HasSubstr("points")));
  }
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
      "began, last_time, points, 0 FROM (SELECT 77 AS run, machine, format, began, last_time, points FROM osler.runs "
      "LIMIT 1)");
  EXPECT_THAT(osler({"store", "runs"}).out, HasSubstr("old.csv"));
  EXPECT_THAT(osler({"store", "prune"}).err, HasSubstr("1 run removed"));
  EXPECT_THAT(osler({"store", "runs"}).out, Not(HasSubstr("old.csv")));
  EXPECT_THAT(osler({"store", "runs"}).out, HasSubstr("sick.csv"));
}

// A shipper that is started again must not bring back what was old enough to be removed.
TEST_F(StoreTest, LeavesAPrunedRunAloneUntilItIsWrittenTo) {
  ASSERT_EQ(osler({"store", "init"}).exit_code, 0);
  const fs::path log = write_log(folder_, "metrics.csv", 100);
  const std::vector<std::string> ship = {"ship", log.string(), "--once"};
  ASSERT_EQ(osler(ship).exit_code, 0);
  ASSERT_TRUE(store().set_retention("default", 0));
  EXPECT_THAT(osler({"store", "prune"}).err, HasSubstr("1 run removed"));
  ASSERT_EQ(osler(ship).exit_code, 0);
  EXPECT_THAT(osler({"store", "runs"}).out, Not(HasSubstr("metrics.csv")));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::ofstream(log, std::ios::app) << line_of(100);
  ASSERT_EQ(osler(ship).exit_code, 0);
  EXPECT_THAT(osler({"store", "runs"}).out, HasSubstr("202 points"));
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

}  // namespace
}  // namespace osler::tests
