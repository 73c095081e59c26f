// osler watch as people use it: on pipes of many styles, on files that grow, with alerts that really arrive.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "osler/runfile/writer.h"
#include "program.h"

namespace osler::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// The loss of a training that breaks at `breaks`.
double loss_at(int step, int breaks) {
  return step >= breaks ? std::nan("") : 2.3 * std::exp(-step / 60.0) + 0.4 + 0.02 * noise(step, 1);
}

/// A way in which programs print their progress.
struct Style {
  const char* name;
  std::string (*line)(int step, double loss);
};

std::string print_style(int step, double loss) {
  return fmt::format("Epoch {} | step {} | loss {:.4f} | lr 1.0e-03\n", 1 + step / 100, step, loss);
}
std::string tqdm_style(int step, double loss) {
  return fmt::format("\r{:3d}%|{:<10}| {}/400 [00:{:02d}<01:00, 9.8it/s, loss={:.3f}]", step / 4,
                     std::string(static_cast<std::size_t>(step / 40), '#'), step, step % 60, loss);
}
std::string trainer_style(int step, double loss) {
  return fmt::format("{{'loss': {:.4f}, 'grad_norm': 1.2, 'learning_rate': 4.9e-05, 'epoch': {:.2f}}}\n", loss,
                     step / 100.0);
}
std::string logging_style(int step, double loss) {
  return fmt::format("2026-03-01 12:{:02d}:{:02d},123 - trainer - INFO - iter: {} loss: {:.5f} time: 0.21 s\n",
                     step / 60 % 60, step % 60, step, loss);
}
std::string json_style(int step, double loss) {
  return std::isnan(loss) ? fmt::format("{{\"step\": {}, \"train_loss\": NaN}}\n", step)
                          : fmt::format("{{\"step\": {}, \"train_loss\": {:.4f}}}\n", step, loss);
}
std::string equals_style(int step, double loss) {
  return fmt::format("\x1b[32mstep={}\x1b[0m train/loss={:.4f} tok/s=12.3k\n", step, loss);
}

class WatchTest : public ::testing::TestWithParam<Style> {
 protected:
  static Outcome watch(std::vector<std::string> arguments, const std::optional<std::string>& input = {}) {
    arguments.insert(arguments.begin(), "watch");
    Call call;
    call.arguments = std::move(arguments);
    call.input = input;
    call.environment = {{"LANG", "C.UTF-8"}, {"PATH", "/usr/bin:/bin"}};
    return run(call);
  }
  static std::string log(const Style& style, int steps, int breaks) {
    std::string text = "Loading data ...\nModel has 1,234,567 parameters\n";
    for (int step = 1; step <= steps; ++step) text += style.line(step, loss_at(step, breaks));
    return text;
  }

  Folder folder;
};

TEST_P(WatchTest, SeesATrainingBreakInItsOutput) {
  const Outcome sick = watch({"-"}, log(GetParam(), 400, 250));
  EXPECT_EQ(sick.exit_code, 1) << sick.err;
  EXPECT_THAT(sick.out, HasSubstr("loss-nonfinite-later"));
  const Outcome healthy = watch({"-"}, log(GetParam(), 400, 1000));
  EXPECT_EQ(healthy.exit_code, 0) << healthy.out << healthy.err;
}

INSTANTIATE_TEST_SUITE_P(Styles, WatchTest,
                         ::testing::Values(Style{"print", print_style}, Style{"tqdm", tqdm_style},
                                           Style{"trainer", trainer_style}, Style{"logging", logging_style},
                                           Style{"json", json_style}, Style{"equals", equals_style}),
                         [](const auto& instance) { return instance.param.name; });

using WatchFiles = WatchTest;

/// A web server on this machine that keeps what is posted to it.
class Receiver {
 public:
  explicit Receiver(int refuse_first = 0) : refuse_(refuse_first) {
    server_.Post("/hook", [this](const httplib::Request& request, httplib::Response& response) {
      const std::lock_guard lock(mutex_);
      if (refuse_-- > 0) {
        response.status = 503;
        return;
      }
      bodies_.push_back(request.body);
    });
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::jthread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ~Receiver() { server_.stop(); }
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;

  [[nodiscard]] std::string url() const { return fmt::format("http://127.0.0.1:{}/hook", port_); }
  [[nodiscard]] std::vector<std::string> bodies() {
    const std::lock_guard lock(mutex_);
    return bodies_;
  }

 private:
  httplib::Server server_;
  int port_ = 0;
  std::mutex mutex_;
  std::vector<std::string> bodies_;
  int refuse_;
  std::jthread thread_;
};

TEST_F(WatchFiles, TheWebhookGetsEachFindingOnce) {
  Receiver receiver(1);  // busy at first: Osler tries again
  const Outcome outcome = watch({"-", "--webhook", receiver.url()}, nan_csv());
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, IsEmpty());
  ASSERT_EQ(receiver.bodies().size(), 1);
  const nlohmann::json alert = nlohmann::json::parse(receiver.bodies()[0]);
  EXPECT_EQ(alert["schema"], "osler-alert/1");
  EXPECT_EQ(alert["finding"]["id"], "loss-nonfinite-later");
  EXPECT_EQ(alert["finding"]["severity"], "critical");
  EXPECT_THAT(alert["text"].get<std::string>(), AllOf(HasSubstr("loss-nonfinite-later"), HasSubstr("remedy")));
}

TEST_F(WatchFiles, AWebhookThatCannotBeReachedIsComplainedOfAndNothingElseHappens) {
  const Outcome outcome = watch({"-", "--webhook", "http://127.0.0.1:1/hook"}, nan_csv());
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("cannot be reached"));
  EXPECT_THAT(outcome.out, HasSubstr("loss-nonfinite-later"));
}

TEST_F(WatchFiles, TheCommandGetsTheAlert) {
  const std::string told = (folder.path() / "told").string();
  const Outcome outcome =
      watch({"-", "--on-critical", "{ echo \"$OSLER_FINDING at $OSLER_STEP\"; cat; } > '" + told + "'"}, nan_csv());
  EXPECT_EQ(outcome.exit_code, 1);
  std::ifstream file(told);
  std::string first;
  std::getline(file, first);
  EXPECT_THAT(first, HasSubstr("loss-nonfinite-later at "));
  EXPECT_EQ(nlohmann::json::parse(file)["schema"], "osler-alert/1");
}

TEST_F(WatchFiles, ACommandThatFailsIsComplainedOf) {
  const Outcome outcome = watch({"-", "--on-critical", "exit 3"}, nan_csv());
  EXPECT_THAT(outcome.err, HasSubstr("--on-critical ended with exit code 3"));
}

TEST_F(WatchFiles, AHealthyTrainingAlertsNobody) {
  Receiver receiver;
  const Outcome outcome = watch({"-", "--webhook", receiver.url(), "--on-critical", "echo called >&2"}, healthy_csv());
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, IsEmpty());
  EXPECT_THAT(receiver.bodies(), IsEmpty());
}

/// A process that stands for the training: it ends with 7 when it is asked to end.
pid_t start_training() {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGTERM, [](int) { ::_exit(7); });
    for (;;) ::pause();
  }
  return child;
}

/// Writes rows to a log until the training is gone: a falling loss that turns NaN at `breaks`.
std::jthread writing(const std::filesystem::path& path, int breaks) {
  return std::jthread([path, breaks](const std::stop_token& stop) {
    std::ofstream file(path);
    file << "step,loss\n";
    for (int step = 0; !stop.stop_requested() && step < 100'000; ++step) {
      file << step << ',' << loss_at(step, breaks) << '\n' << std::flush;
      if (step > 200) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
}

TEST_F(WatchFiles, AHopelessTrainingIsAskedToEnd) {
  const pid_t training = start_training();
  const std::filesystem::path path = folder.path() / "train.csv";
  const std::jthread writer = writing(path, 150);
  const Outcome outcome =
      watch({path.string(), "--stop-on", "critical", "--pid", std::to_string(training), "--until-done"});
  int status = 0;
  ASSERT_EQ(::waitpid(training, &status, 0), training);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr(fmt::format("sent SIGTERM to process {}", training)),
                                 HasSubstr("points of loss and still there at")));
}

TEST_F(WatchFiles, ATrainingIsNotEndedForWhatNoLaterDataConfirm) {
  const pid_t training = start_training();
  folder.write("train.csv", nan_csv());  // and nothing more comes
  const Outcome outcome = watch({(folder.path() / "train.csv").string(), "--stop-on", "critical", "--pid",
                                 std::to_string(training), "--until-done", "--idle", "4"});
  ::kill(training, SIGKILL);
  int status = 0;
  ASSERT_EQ(::waitpid(training, &status, 0), training);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_THAT(outcome.err, Not(HasSubstr("SIGTERM")));
}

TEST_F(WatchFiles, EndsWithASentenceWhenNoValueEverCame) {
  folder.write("train.log", "Downloading the data set\nLoading the tokenizer\n");
  for (const std::string name : {"train.log", "missing.csv"}) {
    const Outcome outcome = watch({(folder.path() / name).string(), "--until-done", "--idle", "1"});
    EXPECT_EQ(outcome.exit_code, 2) << name;
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("no value came within 1 s"), HasSubstr(name)));
  }
  folder.write("crashed.log", "Traceback (most recent call last):\nImportError: no module named x\n");
  const Outcome crashed = watch({(folder.path() / "crashed.log").string(), "--until-done", "--idle", "1"});
  EXPECT_EQ(crashed.exit_code, 1) << "a program that crashed before its first number has told what matters";
  EXPECT_THAT(crashed.out, HasSubstr("ended by an exception before its first number"));
  Call silent;
  silent.arguments = {"watch", (folder.path() / "fifo").string(), "--until-done", "--idle", "1"};
  ASSERT_EQ(::mkfifo((folder.path() / "fifo").c_str(), 0600), 0);
  const int writer = ::open((folder.path() / "fifo").c_str(), O_RDWR | O_CLOEXEC);
  const Outcome outcome = run(silent);
  ::close(writer);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("no value came within 1 s"));
}

TEST_F(WatchFiles, AHealthyTrainingIsLeftAlone) {
  const pid_t training = start_training();
  const std::string path = folder.write("train.csv", healthy_csv());
  std::jthread ender([training] {
    std::this_thread::sleep_for(std::chrono::seconds(4));
    ::kill(training, SIGKILL);
  });
  const Outcome outcome = watch(
      {(folder.path() / path).string(), "--stop-on", "critical", "--pid", std::to_string(training), "--until-done"});
  int status = 0;
  ASSERT_EQ(::waitpid(training, &status, 0), training);
  EXPECT_TRUE(WIFSIGNALED(status)) << "it lived until it was killed by the test";
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, Not(HasSubstr("SIGTERM")));
}

TEST_F(WatchFiles, ARunFileIsFollowedWhileATrainingRecordsIntoIt) {
  const std::filesystem::path path = folder.path() / "run.osler";
  std::jthread training([&path] {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    auto writer = RunFileWriter::open(path);
    ASSERT_TRUE(writer);
    const SeriesId loss = writer->series("train/loss");
    const double now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    for (int step = 0; step < 400; ++step) {
      writer->add(Event{loss, step, now + 0.01 * step, loss_at(step, 250)});
      if (step % 50 != 49) continue;
      ASSERT_TRUE(writer->commit());
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
    }
  });
  for (const std::filesystem::path& place : {path, folder.path()}) {
    const Outcome outcome = watch({place.string(), "--until-done", "--idle", "3"});
    EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
    EXPECT_NE(outcome.out.find("critical"), std::string::npos) << outcome.out;
    if (place != path) continue;
    EXPECT_LT(outcome.out.find("healthy"), outcome.out.find("critical"))
        << "one line when it was still well, one when it broke:\n"
        << outcome.out;
  }
}

TEST_F(WatchFiles, AFileIsFollowedWhileItGrows) {
  const std::filesystem::path path = folder.path() / "late.csv";
  std::jthread writer([&path] {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    const std::string text = nan_csv();
    std::ofstream file(path);
    for (std::size_t at = 0; at < text.size(); at += text.size() / 8 + 1) {
      file << text.substr(at, text.size() / 8 + 1) << std::flush;
      std::this_thread::sleep_for(std::chrono::milliseconds(400));
    }
  });
  const Outcome outcome = watch({path.string(), "--until-done", "--idle", "3"});
  EXPECT_EQ(outcome.exit_code, 1);
  const std::size_t healthy = outcome.out.find("healthy");
  const std::size_t critical = outcome.out.find("critical");
  EXPECT_LT(healthy, critical) << "one line when it was still well, one when it broke:\n" << outcome.out;
  EXPECT_NE(critical, std::string::npos);
}

TEST_F(WatchFiles, EveryChangeIsAReportForPrograms) {
  const Outcome outcome = watch({"-", "--json"}, nan_csv());
  std::istringstream lines(outcome.out);
  std::string line;
  nlohmann::json last;
  while (std::getline(lines, line)) last = nlohmann::json::parse(line);
  EXPECT_EQ(last["schema"], "osler-report/1");
  EXPECT_EQ(last["status"], "critical");
}

TEST_F(WatchFiles, OnATerminalTheViewIsDrawnOverItself) {
  folder.write("train.csv", nan_csv());
  Call call;
  call.arguments = {"watch", (folder.path() / "train.csv").string(), "--until-done", "--idle", "2"};
  call.environment = {{"LANG", "C.UTF-8"}, {"TERM", "xterm"}};
  call.terminal = true;
  const Outcome outcome = run(call);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("\x1b[J"), HasSubstr("watching 1 run")));
  EXPECT_EQ(outcome.exit_code, 1);
}

TEST_F(WatchFiles, CtrlCEndsItWithTheReport) {
  Call call;
  call.arguments = {"watch", "-"};
  call.input = nan_csv();
  call.environment = {{"LANG", "C.UTF-8"}};
  call.interrupt_when_read = true;
  const Outcome outcome = run(call);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("What to do"));
}

TEST_F(WatchFiles, WishesThatMakeNoSenseAreRefusedInOneLine) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong = {
      {{"-", "--stop-on", "critical"}, "--pid N"},
      {{"-", "--pid", "1", "--until-done"}, "not a process that Osler will end"},
      {{"-", "--pid", "2147480000", "--until-done"}, "no such process"},
      {{"-", "--pid", "77"}, "--stop-on LEVEL"},
      {{"-", "--webhook", "ftp://x"}, "http://"},
      {{"-", "--webhook", "http://"}, "no host"},
      {{"-", "--alert-on", "panic"}, "panic"},
      {{"-", "--format", "nope"}, "nope"},
      {{"-", "a.csv"}, "the only thing to watch"},
      {{"a.csv", "--idle", "0"}, "--idle"},
  };
  for (const auto& [arguments, why] : wrong) {
    const Outcome outcome = watch(arguments, "");
    EXPECT_EQ(outcome.exit_code, 2) << why;
    EXPECT_THAT(outcome.err, HasSubstr(why));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
}

TEST_F(WatchFiles, APipeWithoutALogSaysSo) {
  const Outcome outcome = watch({"-"}, "Traceback (most recent call last):\n  File \"train.py\"\nKeyError: 'x'\n");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_FALSE(outcome.err.empty());
}

}  // namespace
}  // namespace osler::tests
