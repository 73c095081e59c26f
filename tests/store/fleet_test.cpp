// A fleet in a real ClickHouse server: workers examine what changed, and what they found is kept and told.
#include <httplib.h>

#include <nlohmann/json.hpp>

#include "osler/runfile/reader.h"
#include "store/store_fixture.h"

namespace osler::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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

/// The dashboard over a store, as a browser asks it.
class Dashboard {
 public:
  explicit Dashboard(int port) : client_("127.0.0.1", port) { client_.set_read_timeout(60); }

  nlohmann::json get(const std::string& path) {
    const auto answer = client_.Get(path);
    return answer && answer->status == 200 ? nlohmann::json::parse(answer->body, nullptr, false) : nlohmann::json();
  }
  std::string text(const std::string& path) {
    const auto answer = client_.Get(path);
    return answer ? answer->body : "";
  }
  /// The card of a run when it has that status, asked until it has.
  nlohmann::json card(const std::string& name, const std::string& status) {
    for (int round = 0; round < 600; ++round) {
      const nlohmann::json list = get("/api/runs");  // nothing before the server is up
      for (const auto& card : list.is_object() ? list.at("runs") : nlohmann::json::array()) {
        if (card.value("name", "").ends_with(name) && card.value("status", "") == status) return card;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return {};
  }

 private:
  httplib::Client client_;
};

TEST_F(StoreTest, IsShownInTheDashboard) {
  ASSERT_EQ(osler({"store", "init"}).exit_code, 0);
  const fs::path logs = fs::path(OSLER_SOURCE_DIR) / "examples/logs";
  ASSERT_EQ(osler({"ship", logs.string(), "--once"}).exit_code, 0);
  const int port = free_port();
  start({"serve", "--store", address_, "--port", std::to_string(port)});
  Dashboard page(port);
  EXPECT_FALSE(page.card("sick.csv", "unexamined").is_null());
  ASSERT_EQ(osler({"examine", "--once"}).exit_code, 0);
  const nlohmann::json sick = page.card("sick.csv", "critical");
  ASSERT_FALSE(sick.is_null());
  EXPECT_FALSE(page.card("healthy.csv", "healthy").is_null());
  EXPECT_EQ(sick.at("steps").at("last"), 1495);
  const std::string id = sick.at("id");
  // The same that the files give.
  const auto run = read((logs / "sick.csv").string());
  ASSERT_TRUE(run);
  const auto report = diagnose(*run);
  ASSERT_TRUE(report);
  EXPECT_EQ(page.get("/api/runs/" + id + "/report").at("findings"),
            nlohmann::json::parse(render_json_line(*report)).at("findings"));
  EXPECT_EQ(page.get("/api/runs/" + id).at("series").size(), run->all_series().size());
  EXPECT_TRUE(page.get("/api/table").at("runs").contains(id));
  // A chart of all, and of a stretch in which each step has a column of its own.
  const Series& loss = *run->find("train_loss");
  const auto total = loss.summary().total();
  const nlohmann::json all = page.get("/api/runs/" + id + "/series?name=train_loss&points=10");
  const auto& highest = all.contains("max") ? all.at("max") : all.at("mean");
  EXPECT_EQ(highest.size(), 10U);
  EXPECT_EQ(*std::max_element(highest.begin(), highest.end()), total->max);
  const nlohmann::json some = page.get("/api/runs/" + id + "/series?name=train_loss&from=100&to=200");
  std::vector<double> values;
  for (const Point& point : loss.summary().recent()) {
    if (point.step >= 100 && point.step <= 200) values.push_back(point.value);
  }
  EXPECT_FALSE(values.empty());
  EXPECT_EQ(some.at("mean").get<std::vector<double>>(), values);
  EXPECT_EQ(page.get("/api/runs/" + id + "/series?name=nothing"), nlohmann::json());
  EXPECT_THAT(page.text("/metrics"), HasSubstr("sick.csv"));
  // What people say of a run is seen without a new examination.
  ASSERT_EQ(osler({"store", "rename", "sick.csv", "wide net"}).exit_code, 0);
  EXPECT_FALSE(page.card("wide net", "critical").is_null());
  ASSERT_EQ(osler({"store", "archive", "wide net"}).exit_code, 0);
  bool archived = false;
  for (int round = 0; round < 200 && !archived; ++round) {
    const nlohmann::json card = page.card("wide net", "critical");
    archived = card.is_object() && card.value("archived", false);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_TRUE(archived);
  // While the store is away the list stays.
  wire_->cut();
  EXPECT_FALSE(page.card("healthy.csv", "healthy").is_null());
  EXPECT_EQ(page.get("/api/runs/" + id), nlohmann::json());
  wire_->mend();
  EXPECT_FALSE(page.get("/api/runs/" + id).is_null());
}

/// The commands of the shell blocks of the guide's sections with these titles.
std::string commands_of_guide(const std::vector<std::string>& titles) {
  const std::string guide = read_text(fs::path(OSLER_SOURCE_DIR) / "docs/guides/fleet.md");
  std::string commands;
  for (const std::string& title : titles) {
    const std::size_t section = guide.find("## " + title + "\n");
    if (section == std::string::npos) {
      ADD_FAILURE() << "the guide has no section " << title;
      continue;
    }
    const std::size_t begin = guide.find("```sh\n", section) + std::string("```sh\n").size();
    commands += guide.substr(begin, guide.find("```", begin) - begin);
  }
  return commands;
}

TEST_F(StoreTest, TakesATeamToAFleetInTheTenCommandsOfTheGuide) {
  const std::string start = commands_of_guide({"From nothing to a fleet in ten commands"});
  EXPECT_EQ(std::count(start.begin(), start.end(), '\n'), 10);
  std::string script = commands_of_guide({"From nothing to a fleet in ten commands", "Housekeeping"});
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

TEST_F(StoreTest, GivesRunsToOtherPrograms) {
  ASSERT_EQ(osler({"store", "init"}).exit_code, 0);
  const fs::path logs = fs::path(OSLER_SOURCE_DIR) / "examples/logs";
  ASSERT_EQ(osler({"ship", logs.string(), "--once"}).exit_code, 0);
  const fs::path copy = folder_.path() / "sick.osler";
  const Outcome converted = osler({"convert", "sick.csv", "--store", address_, "-o", copy.string()});
  ASSERT_EQ(converted.exit_code, 0) << converted.err;
  Points here;
  DamageReport damage;
  const Sources sources = find_sources(real_file_system(), {(logs / "sick.csv").string()}, {});
  ASSERT_EQ(sources.runs.size(), 1U);
  ASSERT_TRUE(read_events(real_file_system(), sources.runs.front().log, here, damage));
  Points there;
  auto reader = RunFileReader::open(copy);
  ASSERT_TRUE(reader);
  ASSERT_TRUE(reader->read_events(there));
  EXPECT_EQ(there.seen, here.seen);
  EXPECT_EQ(osler({"convert", "nobody.csv", "--store", address_, "-o", "-"}).exit_code, 2);
}

TEST_F(StoreTest, LearnsWhatIsUsualAsFromFiles) {
  ASSERT_EQ(osler({"store", "init"}).exit_code, 0);
  const fs::path cases = fs::path(OSLER_CASES) / "overfitting";
  ASSERT_EQ(osler({"ship", cases.string(), "--once"}).exit_code, 0);
  const fs::path here = folder_.path() / "here/team.json";
  const fs::path there = folder_.path() / "there/team.json";
  fs::create_directories(here.parent_path());
  fs::create_directories(there.parent_path());
  const Outcome files = osler({"baseline", "learn", "--all", cases.string(), "-o", here.string()});
  ASSERT_EQ(files.exit_code, 0) << files.err;
  const Outcome store = osler({"baseline", "learn", "--all", "--store", address_, "-o", there.string()});
  ASSERT_EQ(store.exit_code, 0) << store.err;
  EXPECT_EQ(read_text(there), read_text(here));
}

}  // namespace
}  // namespace osler::tests
