// The server as its clients see it: real requests over a real socket, on real logs.
#include "osler/server/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

namespace osler {
namespace {

using ::testing::HasSubstr;
using Path = std::filesystem::path;
using Json = nlohmann::json;

class ServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    base_ = Path(::testing::TempDir()) / ("osler-server-" + name);
    std::filesystem::remove_all(base_);
    std::filesystem::create_directories(root());
    for (const char* log : {"sick.csv", "healthy.csv"}) {
      std::filesystem::copy_file(Path(OSLER_SOURCE_DIR) / "examples/logs" / log, root() / log);
    }
  }

  void TearDown() override {
    if (server_) server_->stop();
    if (thread_.joinable()) thread_.join();
    server_.reset();
    std::filesystem::remove_all(base_);
  }

  [[nodiscard]] Path root() const { return base_ / "runs"; }

  void serve(const std::string& token = "") {
    ServeOptions options;
    options.roots = {root()};
    options.token = token;
    auto opened = Server::open(real_file_system(), options);
    ASSERT_TRUE(opened) << describe(opened.error());
    server_ = std::move(*opened);
    thread_ = std::thread([this] { server_->run(); });
  }

  [[nodiscard]] httplib::Client client() const { return httplib::Client("127.0.0.1", server_->port()); }

  [[nodiscard]] Json get(const std::string& path) const {
    auto asking = client();
    const auto answer = asking.Get(path);
    return answer ? Json::parse(answer->body, nullptr, false) : Json();
  }

  [[nodiscard]] int status_of(const std::string& path, const httplib::Headers& headers = {}) const {
    auto asking = client();
    const auto answer = asking.Get(path, headers);
    return answer ? answer->status : 0;
  }

  /// The card of the run called `name` once `ready` holds of it; null when that never comes.
  [[nodiscard]] Json card(const std::string& name, const std::function<bool(const Json&)>& ready) const {
    for (int round = 0; round < 600; ++round) {
      for (const Json& run : get("/api/runs").value("runs", Json::array())) {
        if (run.at("name") == name && ready(run)) return run;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return {};
  }

  [[nodiscard]] Json examined(const std::string& name) const {
    return card(name, [](const Json& run) { return run.at("status") != "unexamined"; });
  }

  Path base_;
  std::unique_ptr<Server> server_;
  std::thread thread_;
};

TEST_F(ServerTest, ListsEveryRunWithItsVerdict) {
  serve();
  const Json sick = examined("sick.csv");
  EXPECT_EQ(sick.at("status"), "critical");
  EXPECT_THAT(sick.at("headline").get<std::string>(), HasSubstr("train_loss"));
  EXPECT_EQ(sick.at("steps").at("last"), 1495);
  EXPECT_EQ(examined("healthy.csv").at("status"), "healthy");
}

TEST_F(ServerTest, GivesTheReportContractAndTheSeriesOfARun) {
  serve();
  const std::string run = "/api/runs/" + examined("sick.csv").at("id").get<std::string>();
  EXPECT_EQ(get(run + "/report").at("schema"), "osler-report/1");
  EXPECT_EQ(get(run).at("series").size(), 5U);
  EXPECT_EQ(get(run + "/series?name=train_loss").at("first_step").size(), 300U);
}

TEST_F(ServerTest, KeepsASingleSpikeHoweverFewColumnsAreAsked) {
  std::ofstream log(root() / "spike.csv");
  log << "step,train_loss\n";
  for (int step = 0; step < 20'000; ++step) log << step << ',' << (step == 12'345 ? 777.0 : 0.5) << '\n';
  log.close();
  serve();
  const std::string run = "/api/runs/" + examined("spike.csv").at("id").get<std::string>();
  for (const char* points : {"2", "10", "1000"}) {
    const Json columns = get(run + "/series?name=train_loss&points=" + points);
    EXPECT_EQ(*std::max_element(columns.at("max").begin(), columns.at("max").end()), 777.0) << points;
    EXPECT_LE(columns.at("max").size(), std::stoul(points));
  }
  const Json near = get(run + "/series?name=train_loss&points=100&from=12000&to=13000");
  EXPECT_EQ(*std::max_element(near.at("max").begin(), near.at("max").end()), 777.0);
}

TEST_F(ServerTest, SeesWhatATrainingWritesMeanwhile) {
  serve();
  ASSERT_FALSE(examined("healthy.csv").is_null());
  std::ofstream(root() / "healthy.csv", std::ios::app) << "1500,0.03,,,0.0001,0.05\n";
  const Json grown =
      card("healthy.csv", [](const Json& run) { return run.contains("steps") && run.at("steps").at("last") == 1500; });
  EXPECT_FALSE(grown.is_null());
}

TEST_F(ServerTest, TellsAListenerOfAChange) {
  serve();
  ASSERT_FALSE(examined("healthy.csv").is_null());
  std::string heard;
  bool wrote = false;
  auto asking = client();
  asking.set_read_timeout(30);
  (void)asking.Get("/api/events", [&](const char* data, std::size_t size) {
    heard.append(data, size);
    // The first bytes say that the stream is open: what is written from here on must be told.
    if (!wrote) std::ofstream(root() / "healthy.csv", std::ios::app) << "1500,0.03,,,0.0001,0.05\n";
    wrote = true;
    return heard.find("\"last\":1500") == std::string::npos;
  });
  EXPECT_THAT(heard, HasSubstr("event: run"));
  EXPECT_THAT(heard, HasSubstr("\"last\":1500"));
}

TEST_F(ServerTest, ReadsNothingOutsideTheRoot) {
  std::filesystem::copy_file(root() / "sick.csv", base_ / "secret.csv");
  std::filesystem::create_symlink(base_ / "secret.csv", root() / "link.csv");
  serve();
  ASSERT_FALSE(examined("healthy.csv").is_null());
  EXPECT_EQ(get("/api/runs").at("runs").size(), 2U);
  for (const char* path :
       {"/../secret.csv", "/..%2fsecret.csv", "/api/runs/..%2f..%2fsecret.csv", "/api/runs/../secret",
        "/api/runs/0000000000000000/report", "/assets/..%2f..%2fsecret.csv"}) {
    EXPECT_EQ(status_of(path), 404) << path;
  }
}

TEST_F(ServerTest, ForgetsALogThatBecameALinkOutOfTheRoot) {
  serve();
  const std::string run = "/api/runs/" + examined("sick.csv").at("id").get<std::string>();
  std::filesystem::copy_file(root() / "sick.csv", base_ / "secret.csv");
  std::filesystem::remove(root() / "sick.csv");
  std::filesystem::create_symlink(base_ / "secret.csv", root() / "sick.csv");
  EXPECT_EQ(status_of(run + "/report"), 404);
}

TEST_F(ServerTest, AnswersOnlyWhoMayAsk) {
  serve("s3cret");
  EXPECT_EQ(status_of("/api/runs"), 401);
  EXPECT_EQ(status_of("/api/runs", {{"Authorization", "Bearer s3cre"}}), 401);
  EXPECT_EQ(status_of("/api/runs", {{"Authorization", "Bearer s3cret"}}), 200);
  EXPECT_EQ(status_of("/api/runs", {{"Cookie", "a=b; osler-token=s3cret"}}), 200);
  EXPECT_EQ(status_of("/?token=s3cret"), 303);
}

TEST_F(ServerTest, RefusesForeignHostsOtherMethodsAndNonsense) {
  serve();
  EXPECT_EQ(status_of("/api/runs", {{"Host", "evil.example"}}), 403);
  auto asking = client();
  const auto posted = asking.Post("/api/runs", "x", "text/plain");
  ASSERT_TRUE(posted);
  EXPECT_EQ(posted->status, 405);
  const std::string run = "/api/runs/" + examined("sick.csv").at("id").get<std::string>();
  EXPECT_EQ(status_of(run + "/series"), 400);
  EXPECT_EQ(status_of(run + "/series?name=train_loss&points=many"), 400);
  EXPECT_EQ(status_of(run + "/series?name=train_loss&from=99999999999999999999"), 400);
  EXPECT_EQ(status_of(run + "/series?name=none"), 404);
}

TEST_F(ServerTest, SendsAStrictPolicyWithEveryAnswer) {
  serve();
  auto asking = client();
  for (const char* path : {"/", "/api/runs", "/nothing"}) {
    const auto answer = asking.Get(path);
    ASSERT_TRUE(answer);
    EXPECT_THAT(answer->get_header_value("Content-Security-Policy"), HasSubstr("default-src 'none'")) << path;
  }
}

TEST_F(ServerTest, WritesOpenMetrics) {
  serve();
  ASSERT_FALSE(examined("sick.csv").is_null());
  auto asking = client();
  const auto answer = asking.Get("/metrics");
  ASSERT_TRUE(answer);
  EXPECT_THAT(answer->body, HasSubstr("run=\"sick.csv\",status=\"critical\"} 1\n"));
  EXPECT_TRUE(answer->body.ends_with("# EOF\n"));
}

TEST(ServerOpen, NeedsATokenForAnAddressThatOthersReach) {
  ServeOptions options;
  options.address = "0.0.0.0";
  const auto opened = Server::open(real_file_system(), options);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("token"));
}

}  // namespace
}  // namespace osler
