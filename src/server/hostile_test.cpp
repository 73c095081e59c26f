// The server among enemies: names that try to be markup or paths, impossible ranges, clients that stall or leave.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <fstream>
#include <vector>

#include "osler/runfile/writer.h"
#include "server/front.h"
#include "server_fixture.h"

namespace osler::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A connection that speaks only when it is told to.
class RawClient {
 public:
  explicit RawClient(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    // A server that falls silent fails the test; it does not hang it.
    const timeval patience{.tv_sec = 60, .tv_usec = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    open_ = ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  RawClient(RawClient&& other) noexcept : socket_(std::exchange(other.socket_, -1)), open_(other.open_) {}
  RawClient& operator=(RawClient&&) = delete;
  ~RawClient() {
    if (socket_ >= 0) ::close(socket_);
  }

  [[nodiscard]] bool is_open() const { return open_; }
  /// Whether the server has neither spoken nor hung up.
  [[nodiscard]] bool is_let_wait() const {
    char byte = 0;
    return ::recv(socket_, &byte, 1, MSG_DONTWAIT | MSG_PEEK) < 0 && errno == EAGAIN;
  }
  void say(std::string_view text) const { (void)::send(socket_, text.data(), text.size(), MSG_NOSIGNAL); }
  /// What comes first, at most `most` bytes; nothing when the connection has ended.
  [[nodiscard]] std::string hear(std::size_t most) const {
    std::string text(most, '\0');
    const ssize_t got = ::recv(socket_, text.data(), most, 0);
    EXPECT_FALSE(got < 0 && errno == EAGAIN) << "no word and no end for a minute";
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
  }

 private:
  int socket_;
  bool open_ = false;
};

/// A thousand clients and their server in one process have two thousand descriptors.
void raise_descriptor_limit() {
  constexpr rlim_t kEnough = 4096;
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::max(limit.rlim_cur, std::min(limit.rlim_max, kEnough));
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

constexpr const char* kAskForEvents = "GET /api/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

TEST_F(ServerTest, TellsNamesAsTheyAreWhateverIsInThem) {
  const std::string name =
      "<script>alert(1)<!--\"'\xe2\x80\xae"
      "fdp\n\xff.csv";
  std::filesystem::copy_file(root() / "sick.csv", root() / name);
  serve();
  ASSERT_FALSE(examined("sick.csv").is_null());
  std::size_t found = 0;
  for (int round = 0; round < 200 && found == 0; ++round) {
    const Json list = get("/api/runs");
    for (const Json& run : list.at("runs")) {
      if (run.at("status") == "unexamined") continue;
      found += run.at("name").get<std::string>().starts_with("<script>alert(1)<!--\"'") ? 1 : 0;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(found, 1U);
  auto asking = client();
  const auto answer = asking.Get("/api/runs");
  EXPECT_THAT(answer->get_header_value("Content-Type"), HasSubstr("application/json"));
  EXPECT_EQ(answer->get_header_value("X-Content-Type-Options"), "nosniff");
  // A line break in a name must not begin a line of its own, where it could pass for another metric.
  const auto metrics = asking.Get("/metrics");
  EXPECT_THAT(metrics->body, Not(HasSubstr("\n\xff")));
  EXPECT_THAT(metrics->body, HasSubstr("fdp\\n\xef\xbf\xbd.csv"));  // Prometheus takes UTF-8 only
}

TEST_F(ServerTest, DrawsASeriesWhoseNameIsAMegabyteLong) {
  {
    auto writer = RunFileWriter::open(root() / "long.osler");
    ASSERT_TRUE(writer);
    const SeriesId loss = writer->series("loss");
    const SeriesId other = writer->series(std::string(1'000'000, 'n'));
    for (int step = 0; step < 30; ++step) {
      writer->add(Event{loss, step, kNoTime, 1.0 / (step + 1)});
      writer->add(Event{other, step, kNoTime, 1.0 * step});
    }
    ASSERT_TRUE(writer->close());
  }
  serve();
  const std::string path = run_path("long.osler");
  const Json run = get(path);
  ASSERT_TRUE(run.contains("series")) << run;
  for (const Json& series : run.at("series")) {
    EXPECT_LT(series.at("name").get<std::string>().size(), 1100U);
    if (series.at("number").is_null()) continue;
    const Json columns = get(path + "/series?number=" + std::to_string(series.at("number").get<int>()));
    EXPECT_EQ(columns.at("mean").size(), 30U);
  }
  EXPECT_EQ(status_of(path + "/series?number=99"), 404);
  EXPECT_EQ(status_of(path + "/series?number=-1"), 400);
}

TEST_F(ServerTest, AnswersImpossibleRangesWithWhatThereIs) {
  serve();
  const std::string series = run_path("sick.csv") + "/series?name=train_loss";
  const Json all = get(series + "&from=-9223372036854775808&to=9223372036854775807&points=18446744073709551615");
  EXPECT_EQ(all.at("first_step").size(), 300U);
  EXPECT_EQ(get(series + "&from=100&to=50").at("first_step").size(), 0U);
  EXPECT_EQ(get(series + "&from=9223372036854775807&to=9223372036854775807").at("first_step").size(), 0U);
  EXPECT_EQ(get(series + "&points=0").at("first_step").size(), 2U);
  EXPECT_EQ(status_of(series + "&points=-1"), 400);
  EXPECT_EQ(status_of(series + "&from=1e9"), 400);
  const std::string path = run_path("sick.csv");
  for (const char* what : {"/layers", "/distribution"}) {
    EXPECT_EQ(status_of(path + what + "?name=x&from=1&to=zwei"), 400) << what;
    EXPECT_NE(status_of(path + what + "?name=x&from=9223372036854775807&to=-9223372036854775808"), 500) << what;
  }
  EXPECT_EQ(status_of("/" + std::string(100'000, 'a')), 414);
}

TEST_F(ServerTest, ListsNothingBehindALinkOutOfTheRoot) {
  std::filesystem::create_directories(base_ / "elsewhere");
  std::filesystem::copy_file(root() / "sick.csv", base_ / "elsewhere/secret.csv");
  std::filesystem::create_directory_symlink(base_ / "elsewhere", root() / "door");
  std::filesystem::create_directory_symlink(root(), root() / "circle");
  std::filesystem::create_symlink("/etc/passwd", root() / "passwd.osler");
  std::filesystem::create_symlink("nothing.csv", root() / "dangling.csv");
  serve();
  ASSERT_FALSE(examined("healthy.csv").is_null());
  const Json list = get("/api/runs");
  EXPECT_GE(list.at("runs").size(), 2U);
  for (const Json& run : list.at("runs")) {
    EXPECT_THAT(run.at("name").get<std::string>(), Not(HasSubstr("secret")));
    EXPECT_THAT(run.at("name").get<std::string>(), Not(HasSubstr("passwd")));
  }
}

TEST_F(ServerTest, GoesOnAnsweringWhileOthersStall) {
  serve();
  ASSERT_FALSE(examined("sick.csv").is_null());
  std::vector<RawClient> stalled;
  for (int i = 0; i < 100; ++i) {
    stalled.emplace_back(server_->port());
    stalled.back().say(i % 2 == 0 ? "GET /api/runs HT" : "GET /api/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ");
  }
  EXPECT_EQ(status_of("/api/runs"), 200);
}

TEST_F(ServerTest, OnePortBelongsToOneServer) {
  serve();
  ServeOptions options;
  options.roots = {root()};
  options.port = server_->port();
  const auto second = Server::open(real_file_system(), options);
  ASSERT_FALSE(second);
  EXPECT_THAT(describe(second.error()), HasSubstr("port " + std::to_string(options.port) + " is in use"));
  EXPECT_THAT(describe(second.error()), HasSubstr("choose another port"));
}

TEST_F(ServerTest, ClientsThatDribbleTakeNoThreadFromOthers) {
  serve();
  ASSERT_FALSE(examined("sick.csv").is_null());
  std::vector<RawClient> slow;
  for (int i = 0; i < 500; ++i) {
    slow.emplace_back(server_->port());
    ASSERT_TRUE(slow.back().is_open());
    slow.back().say("GET /api/runs HTTP/1.1\r\nX-Slow: ");
  }
  const std::jthread dribbling([&slow](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      for (const RawClient& client : slow) client.say("x");
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  auto asking = client();
  asking.set_keep_alive(true);
  asking.set_read_timeout(std::chrono::seconds(20));
  for (int i = 0; i < 50; ++i) {
    const auto answer = asking.Get("/api/runs");
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 200);
  }
}

/// Nobody is thrown out for being slow here, so that whoever waits for a slow one waits for ever.
TEST(Front, AnswersFiveHundredQuickClientsBeforeAnyOfFiveHundredSlowOnesIsDropped) {
  constexpr std::size_t kEach = 500;
  raise_descriptor_limit();
  auto listening = listen_at("127.0.0.1", 0);
  ASSERT_TRUE(listening) << describe(listening.error());
  const int port = port_of(*listening);
  FrontLimits limits;
  limits.header_time = limits.idle_time = std::chrono::hours(1);
  Front front(*listening, limits, [](int socket, std::string& received) {
    received.clear();
    constexpr std::string_view kAnswer = "HTTP/1.1 204 No Content\r\n\r\n";
    return ::send(socket, kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(kAnswer.size());
  });
  std::thread running([&front] { front.run(); });
  std::vector<RawClient> slow;
  std::vector<RawClient> quick;
  for (std::size_t i = 0; i < kEach; ++i) slow.emplace_back(port).say("GET / HTTP/1.1\r\nX-Slow: ");
  for (std::size_t i = 0; i < kEach; ++i) quick.emplace_back(port);
  for (int round = 0; round < 3; ++round) {
    for (const RawClient& client : slow) client.say("x");
    for (const RawClient& client : quick) client.say("GET / HTTP/1.1\r\n\r\n");
    for (const RawClient& client : quick) EXPECT_THAT(client.hear(64), HasSubstr("204"));
  }
  for (const RawClient& client : slow) EXPECT_TRUE(client.is_let_wait());
  for (const RawClient& client : slow) client.say("\r\n\r\n");
  for (const RawClient& client : slow) EXPECT_THAT(client.hear(64), HasSubstr("204"));
  front.stop();
  running.join();
}

TEST_F(ServerTest, AHeaderHasItsMeasure) {
  serve();
  const RawClient long_header(server_->port());
  long_header.say("GET /api/runs HTTP/1.1\r\nHost: 127.0.0.1\r\n");
  for (int i = 0; i < 20; ++i) long_header.say("X-Filler: " + std::string(1000, 'a') + "\r\n");
  EXPECT_THAT(long_header.hear(64), HasSubstr("431"));
  const RawClient two(server_->port());
  const std::string request = "GET /api/catalogue HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
  two.say(request + "GET /api/nothing HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
  std::string heard;
  for (std::string piece = two.hear(65536); !piece.empty(); piece = two.hear(65536)) heard += piece;
  EXPECT_THAT(heard, HasSubstr("404")) << "two requests in one piece are two requests";
}

TEST_F(ServerTest, EndsWithConnectionsOpen) {
  serve();
  ASSERT_FALSE(examined("sick.csv").is_null());
  std::vector<RawClient> open;
  for (int i = 0; i < 30; ++i) {
    open.emplace_back(server_->port());
    open.back().say(i % 3 == 0 ? kAskForEvents : i % 3 == 1 ? "GET / HT" : "");
  }
  EXPECT_THAT(open.front().hear(64), HasSubstr("200 OK"));
  server_->stop();
  thread_.join();
  for (const RawClient& client : open) {
    while (!client.hear(4096).empty()) {  // up to the end, which comes
    }
  }
}

TEST_F(ServerTest, LetsNobodyInAfterItsEnd) {
  serve();
  ASSERT_FALSE(examined("sick.csv").is_null());
  const int port = server_->port();
  server_->stop();
  thread_.join();
  // The server is still there, but a client that was let in now would wait for ever.
  const RawClient late(port);
  EXPECT_FALSE(late.is_open());
}

TEST_F(ServerTest, WhatIsNotShownIsSaid) {
  std::filesystem::create_directory_symlink("/", root() / "door");
  std::ofstream(root() / "table.csv") << "1,2\n3,4\n";
  serve();
  ASSERT_FALSE(examined("sick.csv").is_null());
  const Json left_out = get("/api/runs").at("left_out");
  EXPECT_EQ(left_out.at("count"), 2);
  EXPECT_THAT(left_out.dump(), HasSubstr("door"));
  EXPECT_THAT(left_out.dump(), HasSubstr("table.csv"));
}

TEST_F(ServerTest, SurvivesClientsThatLeaveInTheMiddle) {
  serve();
  ASSERT_FALSE(examined("sick.csv").is_null());
  for (int i = 0; i < 100; ++i) {
    const RawClient leaving(server_->port());
    leaving.say("GET /api/catalogue HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    if (i % 2 == 0) {
      EXPECT_FALSE(leaving.hear(1).empty());
    }
  }
  EXPECT_EQ(status_of("/api/catalogue"), 200);
}

TEST_F(ServerTest, HoldsTwoHundredStreamsAndRefusesMore) {
  serve();
  ASSERT_FALSE(examined("sick.csv").is_null());
  {
    std::vector<RawClient> listening;
    for (int i = 0; i < 200; ++i) {
      listening.emplace_back(server_->port());
      ASSERT_TRUE(listening.back().is_open());
      listening.back().say(kAskForEvents);
    }
    for (const RawClient& listener : listening) EXPECT_THAT(listener.hear(64), HasSubstr("200 OK"));
    EXPECT_EQ(status_of("/api/events"), 503);
    EXPECT_EQ(status_of("/api/runs"), 200);
  }
  // They have all left; their places become free when the server next writes to them.
  std::ofstream(root() / "healthy.csv", std::ios::app) << "1500,0.03,,,0.0001,0.05\n";
  std::string heard;
  for (int round = 0; round < 600 && heard.find("200 OK") == std::string::npos; ++round) {
    const RawClient again(server_->port());
    again.say(kAskForEvents);
    heard = again.hear(64);
    if (heard.find("200 OK") == std::string::npos) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_THAT(heard, HasSubstr("200 OK"));
}

TEST_F(ServerTest, KeepsTheTokenToItself) {
  serve("s3cret");
  auto asking = client();
  const auto entered = asking.Get("/?token=s3cret");
  ASSERT_TRUE(entered);
  EXPECT_THAT(entered->get_header_value("Set-Cookie"), HasSubstr("HttpOnly; SameSite=Strict"));
  EXPECT_THAT(entered->get_header_value("Location"), Not(HasSubstr("s3cret")));
  EXPECT_EQ(status_of("/?token=wrong"), 401);
  EXPECT_EQ(status_of("/api/runs?token=s3cret"), 401);
  EXPECT_EQ(status_of("/metrics"), 401);
  EXPECT_EQ(status_of("/api/events"), 401);
  const auto posted = asking.Post("/api/runs", {{"Authorization", "Bearer s3cret"}}, "x", "text/plain");
  ASSERT_TRUE(posted);
  EXPECT_EQ(posted->status, 405);
}

}  // namespace
}  // namespace osler::server
