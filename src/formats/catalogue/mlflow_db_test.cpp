// MLflow's SQLite store: what is read of it, and what is said when it is something else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cmath>

#include "reading.h"

namespace osler {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Outcome;
using ::testing::SizeIs;

const Format& mlflow_db() {
  return *find_format("mlflow-db");
}

/// The bytes of a database made by `sql`.
std::string database_of(const std::string& sql) {
  sqlite3* database = nullptr;
  sqlite3_open(":memory:", &database);
  char* complaint = nullptr;
  EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &complaint), SQLITE_OK) << complaint;
  sqlite3_int64 size = 0;
  unsigned char* image = sqlite3_serialize(database, "main", &size, 0);
  const std::string bytes(reinterpret_cast<const char*>(image), static_cast<std::size_t>(size));
  sqlite3_free(image);
  sqlite3_close(database);
  return bytes;
}

constexpr const char* kTables =
    "CREATE TABLE experiments (experiment_id INTEGER PRIMARY KEY, name TEXT);"
    "CREATE TABLE runs (run_uuid TEXT PRIMARY KEY, name TEXT, status TEXT, start_time INTEGER, end_time INTEGER,"
    " lifecycle_stage TEXT, experiment_id INTEGER);"
    "CREATE TABLE params (key TEXT, value TEXT, run_uuid TEXT);"
    "CREATE TABLE tags (key TEXT, value TEXT, run_uuid TEXT);"
    "INSERT INTO experiments VALUES (0, 'Default');";
constexpr const char* kMetrics =
    "CREATE TABLE metrics (key TEXT, value REAL, timestamp INTEGER, run_uuid TEXT, step INTEGER, is_nan BOOLEAN);";
constexpr const char* kRun = "INSERT INTO runs VALUES ('r1', 'one', 'RUNNING', 1, NULL, 'active', 0);";

std::string small_store() {
  return database_of(
      std::string(kTables) + kMetrics + kRun +
      "INSERT INTO metrics VALUES ('loss', 2.5, 1700000000500, 'r1', 10, 0),"
      " ('loss', 1.7976931348623157e308, 1700000001000, 'r1', 20, 0), ('loss', 0, 1700000002000, 'r1', 30, 1);");
}

Outcome read(std::string_view bytes) {
  return testing::read_whole_text(mlflow_db(), "mlflow.db", bytes);
}

TEST(MlflowDb, IsKnownByItsTables) {
  EXPECT_EQ(mlflow_db().sniff({"anything", small_store(), true}), Sniff::certain);
  const std::string other = database_of("CREATE TABLE songs (title TEXT);");
  EXPECT_EQ(mlflow_db().sniff({"music.db", other, true}), Sniff::no);
  EXPECT_EQ(mlflow_db().sniff({"mlflow.db", other, true}), Sniff::possible);
  EXPECT_EQ(mlflow_db().sniff({"mlflow.db", "step,loss\n", true}), Sniff::no);
}

TEST(MlflowDb, TurnsFlagsAndTheLargestDoubleBackIntoNanAndInfinity) {
  const Outcome outcome = read(small_store());
  EXPECT_FALSE(outcome.error);
  EXPECT_THAT(outcome.sink.steps("loss"), ElementsAre(10, 20, 30));
  const std::vector<double> values = outcome.sink.values("loss");
  EXPECT_EQ(values[0], 2.5);
  EXPECT_EQ(values[1], INFINITY);
  EXPECT_TRUE(std::isnan(values[2]));
  EXPECT_DOUBLE_EQ(outcome.sink.events[0].wall_time, 1700000000.5);
}

TEST(MlflowDb, ReadsTheFirstSchemaWhichHadNoSteps) {
  const std::string bytes = database_of(std::string(kTables) + kRun +
                                        "CREATE TABLE metrics (key TEXT, value REAL, timestamp INTEGER, run_uuid TEXT);"
                                        "INSERT INTO metrics VALUES ('loss', 3, 1, 'r1'), ('loss', 2, 2, 'r1');");
  EXPECT_THAT(read(bytes).sink.steps("loss"), ElementsAre(0, 1));
}

TEST(MlflowDb, ReadsTheNewestRunOfAPipeAndSaysSo) {
  const std::string bytes =
      database_of(std::string(kTables) + kMetrics + kRun +
                  "INSERT INTO runs VALUES ('r2', 'two', 'FINISHED', 5, 9000, 'active', 0);"
                  "INSERT INTO metrics VALUES ('loss', 3, 1, 'r1', 1, 0), ('accuracy', 0.5, 2, 'r2', 1, 0);");
  const Outcome outcome = read(bytes);
  EXPECT_THAT(outcome.sink.names, ElementsAre("accuracy"));
  ASSERT_THAT(outcome.damage.items(), SizeIs(1));
  EXPECT_THAT(outcome.damage.items()[0].what, HasSubstr("2 runs"));
  ASSERT_THAT(outcome.sink.marks, SizeIs(1));
  EXPECT_EQ(outcome.sink.marks[0].kind, Mark::Kind::finished);
}

TEST(MlflowDb, ReadsAFileThatIsInWriteAheadMode) {
  std::string bytes = small_store();
  bytes[18] = bytes[19] = 2;
  EXPECT_THAT(read(bytes).sink.steps("loss"), SizeIs(3));
}

TEST(MlflowDb, RefusesADatabaseOfSomethingElse) {
  for (const char* sql : {"CREATE TABLE songs (title TEXT);",
                          // A view could be anything, also a sum over all numbers there are.
                          "CREATE TABLE runs (run_uuid TEXT); CREATE VIEW metrics AS SELECT 1 AS run_uuid;"}) {
    const Outcome outcome = read(database_of(sql));
    ASSERT_TRUE(outcome.error);
    EXPECT_THAT(outcome.error->message, HasSubstr("not one of MLflow"));
    EXPECT_THAT(outcome.sink.events, IsEmpty());
  }
}

TEST(MlflowDb, CallsACutDatabaseTruncated) {
  const std::string bytes = small_store();
  const Outcome outcome = read(std::string_view(bytes).substr(0, bytes.size() - 4096));
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->code, ErrorCode::truncated);
}

}  // namespace
}  // namespace osler
