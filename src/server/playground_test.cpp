// The playground: what is trained, what is refused, and that nothing outlives its bounds.
#include "server/playground.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "osler/runfile/writer.h"
#include "server_fixture.h"

namespace osler::server {
namespace {

using ::testing::HasSubstr;

/// A playground whose trainer is a script: it leaves a run and then does what the test says.
class PlaygroundTest : public ServerTest {
 protected:
  void SetUp() override {
    ServerTest::SetUp();
    auto writer = RunFileWriter::open(base_ / "prepared.osler");
    ASSERT_TRUE(writer);
    const SeriesId loss = writer->series("train/loss");
    for (int step = 0; step < 100; ++step) {
      writer->add(Event{loss, step, kNoTime, step < 50 ? 2.0 / (1 + step) : std::nan("")});
    }
    ASSERT_TRUE(writer->close());
  }

  [[nodiscard]] Path trainer(const std::string& rest) const {
    const Path path = base_ / "trainer";
    std::ofstream script(path);
    script << "#!/bin/sh\nfor word in \"$@\"; do\n  case \"$word\" in --run=*) run=\"${word#--run=}\" ;; esac\ndone\n"
           << "case \"$*\" in *--treat*) run=\"${run%.osler}-treated.osler\" ;; esac\n"
           << "cp '" << (base_ / "prepared.osler").string() << "' \"$run\"\n"
           << "echo $$ > '" << (base_ / "pid").string() << "'\n"
           << "echo '{\"phase\":\"training\",\"step\":5,\"steps\":10,\"loss\":0.5}'\n"
           << rest << "\n";
    script.close();
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }

  [[nodiscard]] std::unique_ptr<Playground> playground(const std::string& rest, PlaygroundLimits limits = {}) const {
    return std::make_unique<Playground>(
        trainer(rest), base_ / "play", [](const Path& run) { return run.stem().string(); }, limits);
  }

  /// The newest job once `ready` holds of it; null when that never comes.
  [[nodiscard]] static Json newest(const Playground& playground, const std::function<bool(const Json&)>& ready) {
    for (int round = 0; round < 3000; ++round) {
      const Json jobs = Json::parse(playground.jobs_json()).at("jobs");
      if (!jobs.empty() && ready(jobs.at(0))) return jobs.at(0);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return {};
  }
  [[nodiscard]] static Json ended(const Playground& playground) {
    return newest(playground, [](const Json& job) { return job.at("state") != "running"; });
  }
  [[nodiscard]] static Json at_work(const Playground& playground) {
    return newest(playground,
                  [](const Json& job) { return job.at("phase") == "training" && !job.at("run").is_null(); });
  }
  [[nodiscard]] static std::string named(const Json& job) { return Json{{"job", job.at("id")}}.dump(); }

  [[nodiscard]] bool trainer_lives() const {
    int pid = 0;
    std::ifstream(base_ / "pid") >> pid;
    return pid > 0 && ::kill(pid, 0) == 0;
  }
};

constexpr const char* kWaits = "cat > /dev/null";  // until its input ends
constexpr const char* kDeaf = "exec sleep 600";
constexpr const char* kEnds = "echo '{\"result\":{\"true_loss\":0.25}}'";

TEST_F(PlaygroundTest, TellsHowATrainingGoesAndWhatCameOfIt) {
  const auto ground = playground(kEnds);
  const auto answer = ground->train(R"({"patient":"vanishing-sigmoid","settings":{"lr":0.5,"steps":"50"},"seed":7})");
  EXPECT_EQ(answer.status, 202) << answer.body;
  const Json job = ended(*ground);
  EXPECT_EQ(job.at("state"), "done");
  EXPECT_EQ(job.at("run"), "vanishing-sigmoid-1");
  EXPECT_EQ(job.at("progress").at("steps"), 10);
  EXPECT_EQ(job.at("result").at("true_loss"), 0.25);
  EXPECT_EQ(job.at("settings"), Json({{"lr", "0.5"}, {"steps", "50"}}));
}

TEST_F(PlaygroundTest, RefusesWhatCannotBeTrained) {
  const auto ground = playground(kEnds);
  for (const char* body : {"",
                           "null",
                           "[]",
                           "{",
                           "\"train\"",
                           R"({"patient":"nobody"})",
                           R"({"patient":["vanishing-sigmoid"]})",
                           R"({"patient":"../../etc/passwd"})",
                           R"({"settings":{"no_such_knob":1}})",
                           R"({"settings":{"lr":1e300}})",
                           R"({"settings":{"lr":-1}})",
                           R"({"settings":{"lr":"nan"}})",
                           R"({"settings":{"lr":"1e-3; rm -rf /"}})",
                           R"({"settings":{"depth":1000000000}})",
                           R"({"settings":{"batch_size":0}})",
                           R"({"settings":{"width":[1]}})",
                           R"({"settings":{"steps":1e18}})",
                           R"({"settings":[1,2]})",
                           R"({"settings":{"model":"gpt"}})",
                           R"({"seed":-1})",
                           R"({"seed":1e30})",
                           R"({"seed":"one"})"}) {
    const auto answer = ground->train(body);
    EXPECT_EQ(answer.status, 400) << body;
    EXPECT_FALSE(Json::parse(answer.body).at("error").get<std::string>().empty()) << body;
  }
  EXPECT_EQ(ground->train(std::string(60'000, '[')).status, 400);
  EXPECT_EQ(ground->train(R"({"settings":{"lr":")" + std::string(60'000, '9') + "\"}}").status, 400);
  EXPECT_EQ(Json::parse(ground->jobs_json()).at("jobs").size(), 0U);
  EXPECT_EQ(ground->cancel(R"({"job":99})").status, 404);
  EXPECT_EQ(ground->treat(R"({"job":99})").status, 404);
  EXPECT_EQ(ground->treat(R"({"job":"1"})").status, 400);
}

TEST_F(PlaygroundTest, RunsProbesOnATrainingThatHasEnded) {
  const auto ground = playground(kEnds);
  const Json choices = Json::parse(ground->choices_json("proof"));
  ASSERT_FALSE(choices.at("probes").empty());
  ASSERT_EQ(ground->train(R"({"patient":"lr-too-low"})").status, 202);
  ASSERT_EQ(ended(*ground).at("state"), "done");
  for (const Json& probe : choices.at("probes")) {
    const Json asked = {{"job", 1}, {"probe", probe.at("name")}};
    EXPECT_EQ(ground->probe(asked.dump()).status, 202) << asked;
    const Json job = ended(*ground);
    EXPECT_EQ(job.at("state"), "done");
    EXPECT_EQ(job.at("probe"), probe.at("name"));
    EXPECT_EQ(job.at("of"), 1);
    EXPECT_TRUE(job.at("run").is_null()) << "it leaves no run of its own";
  }
  EXPECT_EQ(ground->probe(R"({"job":1,"probe":"lr-range"})").status, 202);
  ASSERT_EQ(ended(*ground).at("state"), "done");
  EXPECT_EQ(Json::parse(ground->jobs_json()).at("jobs").size(), 1 + choices.at("probes").size())
      << "the newest of each";
  EXPECT_EQ(ground->treat(R"({"job":1})").status, 202) << "a probe is no treatment";
}

TEST_F(PlaygroundTest, RefusesProbesThatThereAreNot) {
  const auto ground = playground(kWaits);
  EXPECT_EQ(ground->probe(R"({"job":1,"probe":"lr-range"})").status, 404);
  ASSERT_EQ(ground->train("{}").status, 202);
  EXPECT_EQ(ground->probe(R"({"job":1})").status, 400);
  EXPECT_EQ(ground->probe(R"({"job":1,"probe":7})").status, 400);
  const auto unknown = ground->probe(R"({"job":1,"probe":"--run=/etc/passwd"})");
  EXPECT_EQ(unknown.status, 400);
  EXPECT_THAT(unknown.body, HasSubstr("lr-range"));
  EXPECT_EQ(ground->probe(R"({"job":1,"probe":"lr-range"})").status, 409) << "it still runs";
}

TEST_F(PlaygroundTest, RunsOnlySoManyAtOnce) {
  const auto ground = playground(kWaits, {.at_once = 2});
  EXPECT_EQ(ground->train("{}").status, 202);
  EXPECT_EQ(ground->train("{}").status, 202);
  EXPECT_EQ(ground->train("{}").status, 429);
  const Json job = at_work(*ground);
  EXPECT_EQ(ground->treat(named(job)).status, 409);
  EXPECT_EQ(ground->cancel(named(job)).status, 200);
  EXPECT_EQ(ended(*ground).at("state"), "stopped");
  EXPECT_EQ(ground->train("{}").status, 202);
}

TEST_F(PlaygroundTest, EndsATrainingThatDoesNotListen) {
  const auto ground = playground(kDeaf, {.grace = std::chrono::milliseconds(50)});
  ASSERT_EQ(ground->train("{}").status, 202);
  const Json job = at_work(*ground);
  EXPECT_TRUE(trainer_lives());
  EXPECT_EQ(ground->cancel(named(job)).status, 200);
  EXPECT_EQ(ended(*ground).at("state"), "stopped");
  EXPECT_FALSE(trainer_lives());
}

TEST_F(PlaygroundTest, EndsATrainingThatTakesTooLong) {
  const auto ground = playground(kDeaf, {.training = std::chrono::seconds(0),
                                         .overtime = std::chrono::milliseconds(50),
                                         .grace = std::chrono::milliseconds(50)});
  ASSERT_EQ(ground->train("{}").status, 202);
  EXPECT_EQ(ended(*ground).at("state"), "timed-out");
}

TEST_F(PlaygroundTest, SaysWhyATrainingFailed) {
  const auto ground = playground("echo 'no {memory' >&2\nexit 3");
  ASSERT_EQ(ground->train("{}").status, 202);
  const Json job = ended(*ground);
  EXPECT_EQ(job.at("state"), "failed");
  EXPECT_EQ(job.at("error"), "no {memory");
}

TEST_F(PlaygroundTest, OutlivesATrainerThatIsNotThere) {
  Playground ground(base_ / "nowhere", base_ / "play", [](const Path&) { return "x"; });
  ASSERT_EQ(ground.train("{}").status, 202);
  EXPECT_THAT(ended(ground).at("error").get<std::string>(), HasSubstr("cannot be started"));
}

TEST_F(PlaygroundTest, OutlivesATrainerThatTalksNonsense) {
  const auto ground =
      playground("head -c 3000000 /dev/urandom\necho\necho '{\"phase\":7}'\necho '[1]'\n" + std::string(kEnds));
  ASSERT_EQ(ground->train("{}").status, 202);
  EXPECT_EQ(ended(*ground).at("state"), "done");
}

TEST_F(PlaygroundTest, ForgetsTheOldestTrainings) {
  const auto ground = playground(kEnds, {.kept = 2});
  for (int i = 1; i <= 4; ++i) {
    ASSERT_EQ(ground->train("{}").status, 202);
    ASSERT_EQ(ended(*ground).at("id"), i);
  }
  EXPECT_EQ(Json::parse(ground->jobs_json()).at("jobs").size(), 2U);
  EXPECT_FALSE(std::filesystem::exists(base_ / "play/own-1.osler"));
  EXPECT_TRUE(std::filesystem::exists(base_ / "play/own-4.osler"));
}

TEST_F(PlaygroundTest, TreatsATrainingOnceItHasEnded) {
  const auto ground = playground(kEnds);
  ASSERT_EQ(ground->train("{}").status, 202);
  const Json sick = ended(*ground);
  ASSERT_EQ(ground->treat(named(sick)).status, 202);
  const Json treatment = ended(*ground);
  EXPECT_EQ(treatment.at("of"), sick.at("id"));
  EXPECT_EQ(treatment.at("run"), "own-1-treated");
  EXPECT_EQ(ground->treat(named(treatment)).status, 404);
}

TEST_F(PlaygroundTest, EndsEveryTrainingWithItself) {
  auto ground = playground(kDeaf, {.grace = std::chrono::milliseconds(50)});
  ASSERT_EQ(ground->train("{}").status, 202);
  ASSERT_FALSE(at_work(*ground).is_null());
  ASSERT_TRUE(trainer_lives());
  ground.reset();
  EXPECT_FALSE(trainer_lives());
}

/// The same behind a server.
class ServedPlaygroundTest : public PlaygroundTest {
 protected:
  void serve_with(const Path& program, const std::string& token = "") {
    ServeOptions options;
    options.trainer = program;
    options.playground = base_ / "ground";
    serve(token, options);
  }
  [[nodiscard]] int post(const std::string& what, const std::string& body, const httplib::Headers& headers) const {
    auto asking = client();
    const auto answer = asking.Post("/api/playground/" + what, headers, body, "application/json");
    return answer ? answer->status : 0;
  }
  [[nodiscard]] httplib::Headers proof() const {
    return {{"X-Osler-Proof", get("/api/playground").at("proof").get<std::string>()}};
  }
  [[nodiscard]] Json job(const std::function<bool(const Json&)>& ready) const {
    for (int round = 0; round < 3000; ++round) {
      const Json jobs = get("/api/playground/jobs").value("jobs", Json::array());
      if (!jobs.empty() && ready(jobs.at(0))) return jobs.at(0);
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return {};
  }
  [[nodiscard]] Json ended_job() const {
    return job([](const Json& one) { return one.at("state") != "running"; });
  }
};

TEST_F(ServedPlaygroundTest, ChangesNothingForAPageFromElsewhere) {
  serve_with(trainer(kEnds));
  EXPECT_EQ(post("train", "{}", {}), 403);
  EXPECT_EQ(post("train", "{}", {{"X-Osler-Proof", "guess"}}), 403);
  auto foreign = proof();
  foreign.emplace("Origin", "http://evil.example");
  EXPECT_EQ(post("train", "{}", foreign), 403);
  auto rebound = proof();
  rebound.emplace("Host", "evil.example");
  EXPECT_EQ(post("train", "{}", rebound), 403);
  EXPECT_EQ(get("/api/playground/jobs").at("jobs").size(), 0U);
  auto own = proof();
  own.emplace("Origin", "http://127.0.0.1:" + std::to_string(server_->port()));
  EXPECT_EQ(post("train", "{}", own), 202);
}

TEST_F(ServedPlaygroundTest, NeedsTheTokenWhereThereIsOne) {
  serve_with(trainer(kEnds), "s3cret");
  EXPECT_EQ(post("train", "{}", {}), 401);
  EXPECT_EQ(post("train", "{}", {{"Cookie", "osler-token=s3cret"}}), 403);
  EXPECT_EQ(post("train", "{}", {{"Authorization", "Bearer s3cret"}}), 202);
}

TEST_F(ServedPlaygroundTest, ShowsARunOfThePlaygroundAmongTheOthers) {
  serve_with(trainer(kWaits));
  ASSERT_EQ(post("train", "{}", proof()), 202);
  const Json at_work = job([](const Json& one) { return !one.at("run").is_null(); });
  ASSERT_FALSE(at_work.is_null());
  const std::string path = "/api/runs/" + at_work.at("run").get<std::string>();
  EXPECT_EQ(get(path + "/report").at("status"), "critical");
  EXPECT_EQ(examined("playground/own-1.osler").at("status"), "critical");
  EXPECT_EQ(post("cancel", R"({"job":1})", proof()), 200);
  EXPECT_EQ(ended_job().at("state"), "stopped");
}

TEST_F(ServedPlaygroundTest, RefusesOtherMethodsPathsAndHugeOrders) {
  serve_with(trainer(kEnds));
  EXPECT_EQ(post("explode", "{}", proof()), 404);
  EXPECT_EQ(post("train", std::string(200'000, ' '), proof()), 413);
  EXPECT_EQ(status_of("/api/playground/train"), 404);
  auto asking = client();
  const auto removed = asking.Delete("/api/playground/train");
  ASSERT_TRUE(removed);
  EXPECT_EQ(removed->status, 405);
  EXPECT_EQ(get("/api/playground/jobs").at("jobs").size(), 0U);
}

TEST_F(ServedPlaygroundTest, ServesOthersWhileClientsNeverFinishTheirOrders) {
  serve_with(trainer(kEnds));
  std::vector<int> sockets;
  const std::string head = "POST /api/playground/train HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Osler-Proof: " +
                           proof().find("X-Osler-Proof")->second + "\r\nContent-Length: 5000\r\n\r\n{";
  for (int i = 0; i < 50; ++i) {
    const int connection = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(server_->port()));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(::connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    (void)::send(connection, head.data(), head.size(), MSG_NOSIGNAL);
    sockets.push_back(connection);
  }
  EXPECT_EQ(post("train", "{}", proof()), 202);
  for (const int connection : sockets) ::close(connection);
  EXPECT_EQ(ended_job().at("state"), "done");
  EXPECT_EQ(get("/api/playground/jobs").at("jobs").size(), 1U);
}

TEST_F(ServedPlaygroundTest, SaysThatItCannotTrainWhereThereIsNoTrainer) {
  serve();
  const Json choices = get("/api/playground");
  EXPECT_EQ(choices.at("available"), false);
  EXPECT_THAT(choices.at("why").get<std::string>(), HasSubstr("LibTorch"));
  EXPECT_FALSE(choices.contains("proof"));
}

TEST_F(ServedPlaygroundTest, TrainsAndTreatsARealNetwork) {
  const Path program = Path(OSLER_BINARY_DIR) / "src/cli/osler-gallery";
  if (!std::filesystem::exists(program)) GTEST_SKIP() << "osler-gallery was not built (LibTorch is missing)";
  serve_with(program);
  const std::string recipe = R"({"settings":{"task":"clouds","samples":200,"steps":80,"optimizer":"sgd","lr":100}})";
  ASSERT_EQ(post("train", recipe, proof()), 202);
  const Json sick = ended_job();
  ASSERT_EQ(sick.at("state"), "done") << sick;
  EXPECT_EQ(examined("playground/own-1.osler").at("status"), "critical");
  ASSERT_EQ(post("treat", R"({"job":1})", proof()), 202);
  const Json treatment = ended_job();
  ASSERT_EQ(treatment.at("state"), "done") << treatment;
  EXPECT_FALSE(treatment.at("result").at("trials").empty()) << treatment;
  EXPECT_FALSE(treatment.at("result").at("changes").empty()) << treatment;
  EXPECT_FALSE(examined("playground/own-1-treated.osler").is_null());
}

}  // namespace
}  // namespace osler::server
