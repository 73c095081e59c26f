// osler serve as a service manager runs it: where its token comes from, and how it ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <map>
#include <thread>

#include "program.h"

namespace osler::tests {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kSecret = "correct-horse-battery";

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A running `osler serve`, killed at the latest with the test.
class Service {
 public:
  Service(const fs::path& folder, const std::vector<std::string>& words,
          const std::map<std::string, std::string>& more) {
    int ends[2] = {-1, -1};
    if (::pipe(ends) != 0) std::abort();
    std::vector<std::string> arguments = {OSLER_PROGRAM, "serve"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    std::vector<std::string> variables = {"PATH=/usr/bin:/bin", "LANG=C.UTF-8", "TMPDIR=" + (folder / "tmp").string()};
    for (const auto& [name, value] : more) variables.push_back(name + "=" + value);
    std::vector<char*> argv;
    for (std::string& word : arguments) argv.push_back(word.data());
    argv.push_back(nullptr);
    std::vector<char*> envp;
    for (std::string& variable : variables) envp.push_back(variable.data());
    envp.push_back(nullptr);
    child_ = ::fork();
    if (child_ == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::close(ends[0]);
      ::close(ends[1]);
      if (::chdir(folder.c_str()) == 0) ::execve(argv[0], argv.data(), envp.data());
      ::_exit(127);
    }
    ::close(ends[1]);
    for (char c = 0; ::read(ends[0], &c, 1) == 1 && c != '\n';) line_ += c;
    ::close(ends[0]);
  }
  ~Service() {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  [[nodiscard]] const std::string& line() const { return line_; }
  [[nodiscard]] pid_t process() const { return child_; }
  [[nodiscard]] int port() const {
    const std::size_t colon = line_.rfind(':');
    return colon == std::string::npos ? 0 : std::atoi(line_.c_str() + colon + 1);
  }
  [[nodiscard]] int status_of(const std::string& path, const httplib::Headers& headers = {}) const {
    httplib::Client client("127.0.0.1", port());
    const auto answer = client.Get(path, headers);
    return answer ? answer->status : 0;
  }
  void signal(int number) const { ::kill(child_, number); }
  /// Waits for its end; gives the exit code, or 128 and the signal that ended it.
  int end() {
    int status = 0;
    ::waitpid(child_, &status, 0);
    child_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t child_ = 0;
  std::string line_;
};

class ServeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder.write("runs/a.csv", healthy_csv());
    folder.write("token", std::string(kSecret) + "\n");
    fs::create_directories(folder.path() / "tmp");
  }
  [[nodiscard]] Service serve(std::vector<std::string> words, const std::map<std::string, std::string>& more = {},
                              int port = 0) const {
    words.insert(words.begin(), {"runs", "--port", std::to_string(port)});
    return {folder.path(), words, more};
  }

  Folder folder;
};

TEST_F(ServeTest, ATokenOfAFileOrTheEnvironmentIsAskedForAndShownNowhere) {
  const std::pair<std::vector<std::string>, std::map<std::string, std::string>> kWays[] = {
      {{"--token-file", "token"}, {}}, {{}, {{"OSLER_TOKEN", kSecret}}}};
  for (const auto& [words, variables] : kWays) {
    const Service service = serve(words, variables);
    EXPECT_THAT(service.line(), HasSubstr("?token=TOKEN"));
    EXPECT_THAT(service.line(), Not(HasSubstr(kSecret)));
    EXPECT_THAT(content("/proc/" + std::to_string(service.process()) + "/cmdline"), Not(HasSubstr(kSecret)));
    EXPECT_EQ(service.status_of("/api/runs"), 401);
    EXPECT_EQ(service.status_of("/api/runs", {{"Authorization", "Bearer wrong"}}), 401);
    EXPECT_EQ(service.status_of("/api/runs", {{"Authorization", std::string("Bearer ") + kSecret}}), 200);
  }
}

TEST_F(ServeTest, AFileNamedForTheTokenGoesBeforeTheEnvironment) {
  const Service service = serve({"--token-file", "token"}, {{"OSLER_TOKEN", "another"}});
  EXPECT_EQ(service.status_of("/api/runs", {{"Authorization", "Bearer another"}}), 401);
  EXPECT_EQ(service.status_of("/api/runs", {{"Authorization", std::string("Bearer ") + kSecret}}), 200);
}

TEST_F(ServeTest, ASignalEndsItWithClientsConnectedAndLeavesEverythingAsItWas) {
  const std::string log = content(folder.path() / "runs/a.csv");
  int port = 0;
  for (const int number : {SIGINT, SIGTERM}) {
    Service service = serve({}, {}, port);
    port = service.port();
    ASSERT_EQ(service.status_of("/api/runs"), 200) << "the port of the one that has ended is free";
    // One client hears events for ever; it is cut off, not waited for.
    bool first = true;
    httplib::Client client("127.0.0.1", port);
    client.set_read_timeout(std::chrono::minutes(5));
    const auto heard = client.Get("/api/events", [&](const char*, std::size_t) {
      if (std::exchange(first, false)) service.signal(number);
      return true;
    });
    EXPECT_FALSE(first) << "no event came";
    EXPECT_EQ(service.end(), 0);
    EXPECT_EQ(content(folder.path() / "runs/a.csv"), log);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder.path() / "runs"), {}), 1);
    EXPECT_TRUE(fs::is_empty(folder.path() / "tmp")) << "left in the folder for temporary files";
  }
}

TEST_F(ServeTest, ASignalRightAfterTheAddressEndsItToo) {
  for (int i = 0; i < 20; ++i) {
    Service service = serve({});
    service.signal(SIGTERM);
    ASSERT_EQ(service.end(), 0);
    ASSERT_TRUE(fs::is_empty(folder.path() / "tmp"));
  }
}

}  // namespace
}  // namespace osler::tests
