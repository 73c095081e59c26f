// The server as its clients see it: real requests over a real socket, on real logs.
#include "osler/server/server.h"

#include <algorithm>
#include <fstream>

#include "osler/dashboard/html_report.h"
#include "osler/runfile/writer.h"
#include "server_fixture.h"

namespace osler::server {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

double highest(const nlohmann::json& columns) {
  const auto& high = columns.contains("max") ? columns.at("max") : columns.at("mean");
  return *std::max_element(high.begin(), high.end());
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::vector<std::string> findings_of(const nlohmann::json& report) {
  std::vector<std::string> ids;
  for (const auto& finding : report.at("findings")) ids.push_back(finding.at("id"));
  return ids;
}

TEST_F(ServerTest, ListsEveryRunWithItsVerdict) {
  serve();
  const Json sick = examined("sick.csv");
  EXPECT_EQ(sick.at("status"), "critical");
  EXPECT_THAT(sick.at("headline").get<std::string>(), HasSubstr("train_loss"));
  EXPECT_EQ(sick.at("steps").at("last"), 1495);
  EXPECT_EQ(examined("healthy.csv").at("status"), "healthy");
}

TEST_F(ServerTest, GivesConfigurationAndFiguresAsColumns) {
  std::filesystem::create_directories(root() / "version_0");
  std::filesystem::copy_file(root() / "healthy.csv", root() / "version_0/metrics.csv");
  std::ofstream(root() / "version_0/hparams.yaml") << "lr: 0.1\n";
  serve();
  const Json card = examined("version_0");
  ASSERT_FALSE(card.is_null());
  const Json row = get("/api/table").at("runs").at(card.at("id").get<std::string>());
  EXPECT_EQ(row.at("configuration").at("lr"), "0.1");
  EXPECT_EQ(row.at("metrics").at("final-train-loss"), card.at("loss"));
}

TEST_F(ServerTest, ListsApartWhatIsArchivedAndCountsItNoMore) {
  std::filesystem::create_directories(root() / "old");
  std::filesystem::copy_file(root() / "sick.csv", root() / "old/first.csv");
  std::filesystem::copy_file(root() / "sick.csv", root() / "try-1.csv");
  ServeOptions options;
  options.archive = {"old", "try-*"};
  serve("", options);
  EXPECT_EQ(examined("old/first.csv").value("archived", false), true) << "a folder stands for all in it";
  EXPECT_EQ(examined("try-1.csv").value("archived", false), true);
  EXPECT_FALSE(examined("sick.csv").contains("archived"));
  auto asking = client();
  const std::string metrics = asking.Get("/metrics")->body;
  EXPECT_THAT(metrics, HasSubstr("run=\"sick.csv\""));
  EXPECT_THAT(metrics, Not(HasSubstr("old/first.csv"))) << "nobody is to be woken for it";
}

TEST_F(ServerTest, JudgesAsItsOptionsSay) {
  ServeOptions options;
  options.diagnosis.roles_if_there = {{Role::train_loss, "val_loss"}, {Role::train_loss, "not there"}};
  serve("", options);
  const std::string run = "/api/runs/" + examined("sick.csv").at("id").get<std::string>();
  const Json roles = get(run + "/report").at("roles").at("train-loss");
  EXPECT_EQ(roles.is_array() ? roles.at(0) : roles, "val_loss");
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
    EXPECT_EQ(highest(columns), 777.0) << points;
    EXPECT_LE(columns.at("mean").size(), std::stoul(points));
  }
  const Json near = get(run + "/series?name=train_loss&points=100&from=12000&to=13000");
  EXPECT_EQ(highest(near), 777.0);
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

TEST_F(ServerTest, TellsAListenerThatARunIsGone) {
  serve();
  ASSERT_FALSE(examined("healthy.csv").is_null());
  std::string heard;
  bool removed = false;
  auto asking = client();
  asking.set_read_timeout(30);
  (void)asking.Get("/api/events", [&](const char* data, std::size_t size) {
    heard.append(data, size);
    if (!removed) std::filesystem::remove(root() / "healthy.csv");
    removed = true;
    return heard.find("event: list") == std::string::npos;
  });
  EXPECT_THAT(heard, HasSubstr("event: list"));
  const Json list = get("/api/runs");
  EXPECT_TRUE(list.at("searched").get<bool>());
  EXPECT_EQ(list.at("runs").size(), 1U);
}

TEST_F(ServerTest, SendsItsPagesPackedToWhoTakesThemSo) {
  serve();
  auto asking = client();
  const auto plain = asking.Get("/", {{"Accept-Encoding", "identity"}});
  const auto packed = asking.Get("/", {{"Accept-Encoding", "br, gzip"}});  // the client unpacks it
  ASSERT_TRUE(plain && packed);
  EXPECT_EQ(plain->body, packed->body);
  EXPECT_EQ(plain->get_header_value("Content-Encoding"), "");
  if (!has_dashboard()) GTEST_SKIP() << "this program was built without the dashboard's page";
  EXPECT_EQ(packed->get_header_value("Content-Encoding"), "gzip");
  EXPECT_EQ(packed->get_header_value("Vary"), "Accept-Encoding");
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
  // While a run is being examined, what was told of it before is told again; so the first answer may be an old one.
  int status = 0;
  for (int round = 0; round < 600 && status != 404; ++round) {
    status = status_of(run + "/report");
    if (status != 404) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_EQ(status, 404);
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

TEST_F(ServerTest, DrawsARunFileExactlyAtEveryZoom) {
  {
    auto writer = RunFileWriter::open(root() / "long.osler");
    ASSERT_TRUE(writer);
    const SeriesId loss = writer->series("train/loss");
    for (std::int64_t step = 0; step < 300'000; ++step) {
      const bool spike = step == 12'345 || step == 200'001;
      writer->add(Event{loss, step, kNoTime, spike ? 777.0 : 1 + static_cast<double>(step % 100) / 1000});
    }
    ASSERT_TRUE(writer->close());
  }
  serve();
  const std::string series = run_path("long.osler") + "/series?name=train%2Floss";
  EXPECT_EQ(examined("long.osler").at("format"), "osler");
  for (const std::int64_t spike : {12'345, 200'001}) {
    for (std::int64_t width = 8; width < 300'000; width *= 4) {
      const std::int64_t from = std::max<std::int64_t>(spike - width / 2, 0);
      const auto columns =
          get(series + "&points=50&from=" + std::to_string(from) + "&to=" + std::to_string(from + width));
      EXPECT_EQ(highest(columns), 777.0) << spike << " in " << width;
      EXPECT_LE(columns.at("mean").size(), 50U);
    }
  }
  const auto exact = get(series + "&points=50&from=200000&to=200002");
  EXPECT_EQ(exact.at("first_step"), Json({200'000, 200'001, 200'002}));
  EXPECT_EQ(exact.at("mean"), Json({1.0, 777.0, 1.002}));
}

TEST_F(ServerTest, GivesLayersDistributionsAndWhereANanCameFrom) {
  {
    auto writer = RunFileWriter::open(root() / "watched.osler");
    ASSERT_TRUE(writer);
    const SeriesId loss = writer->series("train/loss");
    const SeriesId origin = writer->series("osler/origin/log-of-zero");
    const SeriesId weight = writer->series("fc1.weight");
    for (std::int64_t step = 0; step < 60; ++step) {
      writer->add(Event{loss, step, kNoTime, step < 50 ? 2.0 / (1 + static_cast<double>(step)) : std::nan("")});
      for (int layer = 0; layer < 4; ++layer) {
        const SeriesId id = writer->series("grad_norm/layers." + std::to_string(layer) + ".weight");
        writer->add(Event{id, step, kNoTime, 0.1 * (layer + 1)});
      }
    }
    writer->add(Event{origin, 50, kNoTime, 1});
    writer->add(Mark{Mark::Kind::note, 50, kNoTime, "The loss is not finite. log at fc2 made 3 NaN."});
    writer->distribution(Histogram{weight, 10, kNoTime, -1, 1, 10, 0, 3, {0, 1}, {4, 6}});
    ASSERT_TRUE(writer->close());
  }
  serve();
  const std::string path = run_path("watched.osler");
  const Json run = get(path);
  EXPECT_EQ(run.at("origin").at("cause"), "log-of-zero");
  EXPECT_EQ(run.at("origin").at("step"), 50);
  EXPECT_THAT(run.at("origin").at("text").get<std::string>(), HasSubstr("made 3 NaN"));
  EXPECT_EQ(run.at("histograms"), Json({"fc1.weight"}));
  const Json ridge = get(path + "/distribution?name=fc1.weight");
  EXPECT_EQ(ridge.at("rows").at(0).at("masses"), Json({4, 6}));
  const Json maps = get(path + "/layers").at("maps");
  ASSERT_EQ(maps.size(), 1U);
  EXPECT_EQ(maps.at(0).at("rows").size(), 4U);
  EXPECT_EQ(status_of(path + "/distribution?name=none"), 404);
}

TEST_F(ServerTest, ComparesTwoRuns) {
  serve();
  const std::string good = examined("healthy.csv").at("id");
  const std::string bad = examined("sick.csv").at("id");
  const Json comparison = get("/api/compare?a=" + good + "&b=" + bad);
  EXPECT_EQ(comparison.at("schema"), "osler-comparison/1");
  EXPECT_EQ(comparison.at("standing"), "worse");
  EXPECT_EQ(status_of("/api/compare?a=" + good), 400);
  EXPECT_EQ(status_of("/api/compare?a=" + good + "&b=none"), 404);
  EXPECT_EQ(status_of("/api/compare?a=" + good + "&b=" + good), 422);
  EXPECT_EQ(status_of("/api/compare?a=" + good + "&b=" + bad + "&axis=moon"), 422);
}

TEST_F(ServerTest, TakesTheLastLineOfALogThatIsStillThoughItHasNoLineEnd) {
  std::ofstream(root() / "healthy.csv", std::ios::app) << "1500,0.03,,,0.0001,0.05";
  std::filesystem::last_write_time(root() / "healthy.csv",
                                   std::filesystem::file_time_type::clock::now() - std::chrono::minutes(5));
  serve();
  EXPECT_EQ(examined("healthy.csv").at("steps").at("last"), 1500);
}

TEST_F(ServerTest, ReadsTheFileThatTookTheTurnOfAnother) {
  const Path resumed = Path(OSLER_SOURCE_DIR) / "tests/samples/tensorboard/resumed";
  const Path first = resumed / "events.out.tfevents.1700000000.host";
  const Path second = resumed / "events.out.tfevents.1700000500.host";
  std::filesystem::create_directories(root() / "board");
  std::filesystem::copy_file(first, root() / "board/events.out.tfevents.1700000000.one");
  serve();
  const Json before = examined("board");
  ASSERT_FALSE(before.is_null());
  std::filesystem::remove(root() / "board/events.out.tfevents.1700000000.one");
  std::filesystem::copy_file(second, root() / "board/events.out.tfevents.1800000000.two");
  const std::string path = run_path("board");
  bool seen = false;
  for (int round = 0; round < 600 && !seen; ++round) {
    const auto sources = get(path).value("sources", Json::array());
    seen = std::any_of(sources.begin(), sources.end(),
                       [](const Json& source) { return source.get<std::string>().ends_with("1800000000.two"); });
    if (!seen) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_TRUE(seen);
}

TEST_F(ServerTest, SaysThatALiveRunStandsStillAndNotThatAnOldOneDoes) {
  const auto write = [&](const char* name, double end) {
    auto writer = RunFileWriter::open(root() / name);
    ASSERT_TRUE(writer);
    const SeriesId loss = writer->series("train/loss");
    for (int step = 0; step < 500; ++step) {
      writer->add(Event{loss, step, end - 500 + step, 2.0 / (1 + step) + 0.01 * (step % 5)});
    }
    ASSERT_TRUE(writer->close());
  };
  write("live.osler", seconds_now() - 3600);
  write("old.osler", seconds_now() - 9e7);
  serve();
  EXPECT_THAT(findings_of(get(run_path("live.osler") + "/report")), Contains("training-stalled"));
  EXPECT_THAT(findings_of(get(run_path("old.osler") + "/report")), Not(Contains("training-stalled")));
  const Json times = get(run_path("old.osler")).at("times");
  EXPECT_NEAR(times.at("last").get<double>() - times.at("first").get<double>(), 499, 0.1);
  EXPECT_TRUE(get(run_path("sick.csv")).at("times").is_null());  // its log has none
}

TEST(ServerOpen, NeedsATokenForAnAddressThatOthersReach) {
  ServeOptions options;
  options.address = "0.0.0.0";
  const auto opened = Server::open(real_file_system(), options);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("token"));
}

}  // namespace
}  // namespace osler::server
