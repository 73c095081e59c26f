// A store on two shards with two replicas each, of real ClickHouse servers and a real ZooKeeper.
#include "store/cluster.h"
#include "store/store_fixture.h"

namespace osler::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ClusterTest : public StoreTest {
 protected:
  void SetUp() override {
    if (clickhouse_server().empty() || zookeeper_classes().empty())
      GTEST_SKIP() << "clickhouse-server and ZooKeeper are not both unpacked by `make setup`, or java is missing";
    cluster_ = std::make_unique<Cluster>(folder_.path());
    ASSERT_TRUE(cluster_->start());
    address_ = cluster_->server(0).address();
    const Outcome made = osler({"store", "init", "--cluster", "main"});
    ASSERT_EQ(made.exit_code, 0) << made.err;
  }

  /// What a server says, asked until it says what is expected of it: replicas follow in their own time.
  std::string ask_until(std::size_t server, const std::string& sql, const std::string& expected) {
    std::string answer;
    for (int round = 0; round < 400; ++round) {
      answer = cluster_->server(server).ask(sql);
      if (answer == expected) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return answer;
  }

  std::unique_ptr<Cluster> cluster_;
};

TEST_F(ClusterTest, ServesAFleetFromEveryServer) {
  const fs::path logs = folder_.path() / "logs";
  fs::create_directories(logs);
  fs::copy(fs::path(OSLER_SOURCE_DIR) / "examples/logs", logs, fs::copy_options::recursive);
  for (int run = 0; run < 8; ++run) {
    std::ofstream out(logs / ("run" + std::to_string(run) + ".csv"));
    out << "step,loss,val_loss\n";
    for (int step = 0; step < 60; ++step) out << line_of(step);
  }
  const Outcome shipped = osler({"ship", logs.string(), "--once"});
  ASSERT_EQ(shipped.exit_code, 0) << shipped.err;
  const std::string points = std::to_string(2 * 960 + 8 * 120) + "\n";
  for (std::size_t server = 0; server < cluster_->size(); ++server) {
    EXPECT_EQ(ask_until(server, "SELECT count() FROM osler.points", points), points);
  }
  // Both shards have some, and no shard has all.
  const std::string here = cluster_->server(0).ask("SELECT count() FROM osler.points_local");
  EXPECT_NE(here, "0\n");
  EXPECT_NE(here, points);
  // Each worker, and each who asks, goes to another server.
  std::string texts;
  for (std::size_t server = 0; server < cluster_->size(); ++server) {
    address_ = cluster_->server(server).address();
    const Outcome examined = osler({"examine", "--once"});
    EXPECT_EQ(examined.exit_code, 0) << examined.err;
    texts += examined.out;
  }
  EXPECT_THAT(texts, HasSubstr("sick.csv"));
  for (std::size_t server = 0; server < cluster_->size(); ++server) {
    address_ = cluster_->server(server).address();
    const Outcome fleet = osler({"fleet"});
    EXPECT_EQ(fleet.exit_code, 1) << fleet.err;
    EXPECT_THAT(fleet.out, HasSubstr("1 critical"));
    EXPECT_THAT(fleet.out, HasSubstr("0 not examined yet"));
    EXPECT_THAT(osler({"fleet", "sick.csv"}).out, HasSubstr("history"));
    EXPECT_THAT(osler({"fleet", "--openmetrics"}).out, HasSubstr("status=\"critical\"} 1\n"));
    EXPECT_THAT(osler({"store", "runs"}).out, HasSubstr("960 points"));
  }
}

TEST_F(ClusterTest, KeepsOrderAndTakesBackWhatWasRemoved) {
  const fs::path log = fs::path(OSLER_SOURCE_DIR) / "examples/logs/sick.csv";
  for (int round = 0; round < 2; ++round) {
    ASSERT_EQ(osler({"ship", log.string(), "--once"}).exit_code, 0);
    EXPECT_EQ(ask_until(3, "SELECT count() FROM osler.runs FINAL", "1\n"), "1\n");
    ASSERT_EQ(osler({"store", "tag", "sick.csv", "look"}).exit_code, 0);
    const Outcome removed = osler({"store", "remove", "sick.csv"});
    ASSERT_EQ(removed.exit_code, 0) << removed.err;
    for (std::size_t server = 0; server < cluster_->size(); ++server) {
      EXPECT_EQ(ask_until(server, "SELECT count() FROM osler.points", "0\n"), "0\n");
    }
    EXPECT_THAT(osler({"store", "runs", "--archived"}).out, Not(HasSubstr("sick.csv")));
  }
  // The same blocks as before, which replicas must not pass over.
  ASSERT_EQ(osler({"ship", log.string(), "--once"}).exit_code, 0);
  EXPECT_EQ(ask_until(1, "SELECT count() FROM osler.points", "960\n"), "960\n");
}

TEST_F(ClusterTest, IsBroughtUpToDateOnEveryServer) {
  // As version 1 had it: a Distributed table is made anew, for it cannot be altered on 18.16.
  ClickHouse& first = cluster_->server(0);
  const std::string distributed = first.ask("SHOW CREATE TABLE osler.runs FORMAT TabSeparatedRaw");
  const std::string engine = distributed.substr(distributed.find("ENGINE"));
  first.ask("ALTER TABLE osler.runs_local ON CLUSTER main DROP COLUMN events");
  first.ask("DROP TABLE osler.runs ON CLUSTER main");
  first.ask(
      "CREATE TABLE osler.runs ON CLUSTER main (run UInt64, project String, name String, machine String, format "
      "String, changed UInt64, began Float64, last_time Float64, points UInt64) " +
      engine);
  first.ask("INSERT INTO osler.runs VALUES (5, 'default', 'old.csv', 'node1', 'csv', 1, 0, 0, 10)");
  first.ask("TRUNCATE TABLE osler.osler_schema_local ON CLUSTER main");
  first.ask("INSERT INTO osler.osler_schema (version, applied) VALUES (1, 0)");
  const std::string schema = "SELECT max(version) FROM osler.osler_schema";
  EXPECT_EQ(ask_until(0, schema, "1\n"), "1\n");
  const std::string columns = "SELECT count() FROM system.columns WHERE database = 'osler' AND name = 'events'";
  EXPECT_EQ(ask_until(0, columns, "0\n"), "0\n");
  const Outcome upgraded = osler({"store", "init"});  // where it lies is known
  ASSERT_EQ(upgraded.exit_code, 0) << upgraded.err;
  EXPECT_THAT(upgraded.err, HasSubstr("was brought up to date"));
  for (std::size_t server = 0; server < cluster_->size(); ++server) {
    EXPECT_EQ(ask_until(server, columns, "2\n"), "2\n");
  }
  EXPECT_THAT(osler({"store", "runs"}).out, HasSubstr("10 points  old.csv"));
}

}  // namespace
}  // namespace osler::tests
