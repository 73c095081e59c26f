// How long quick clients wait for the server while slow ones hold their requests back. Takes the number of slow and of
// quick clients (500 and 500 unless told). The exit code is 1 when a request was not answered.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "osler/server/server.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRequestsEach = 20;
constexpr std::string_view kRequest = "GET /api/runs HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

int connect_to(int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return socket;
  ::close(socket);
  return -1;
}

bool send_all(int socket, std::string_view text) {
  return ::send(socket, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

/// Sends one header byte by byte on every connection, for ever; who is thrown out comes again.
void dribble(int port, int clients, const std::stop_token& stop) {
  std::vector<int> sockets(static_cast<std::size_t>(clients), -1);
  while (!stop.stop_requested()) {
    for (int& socket : sockets) {
      if (socket < 0 && (socket = connect_to(port)) >= 0) send_all(socket, "GET /api/runs HTTP/1.1\r\nX-Slow: ");
      if (socket >= 0 && !send_all(socket, "x")) {
        ::close(socket);
        socket = -1;
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  for (const int socket : sockets) ::close(socket);
}

/// One whole answer; false when the connection broke.
bool hear_answer(int socket) {
  std::string heard;
  std::size_t whole = std::string::npos;
  char piece[16384];
  while (heard.size() < whole) {
    const ssize_t length = ::recv(socket, piece, sizeof piece, 0);
    if (length <= 0) return false;
    heard.append(piece, static_cast<std::size_t>(length));
    const std::size_t end = heard.find("\r\n\r\n");
    const std::size_t told = heard.find("Content-Length: ");
    if (whole == std::string::npos && end != std::string::npos && told < end) {
      whole = end + 4 + std::strtoul(heard.c_str() + told + 16, nullptr, 10);
    }
  }
  return heard.starts_with("HTTP/1.1 200");
}

std::vector<double> ask(int port) {
  std::vector<double> milliseconds;
  const auto connected = Clock::now();
  const int socket = connect_to(port);
  for (int i = 0; socket >= 0 && i < kRequestsEach; ++i) {
    const auto start = i == 0 ? connected : Clock::now();
    if (!send_all(socket, kRequest) || !hear_answer(socket)) break;
    milliseconds.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  ::close(socket);
  return milliseconds;
}

/// Whether every request of the quick clients was answered.
bool measure(int port, int slow, int quick) {
  const std::jthread slow_ones([=](const std::stop_token& stop) { dribble(port, slow, stop); });
  std::this_thread::sleep_for(std::chrono::seconds(2));
  std::mutex mutex;
  std::vector<double> all;
  std::vector<std::jthread> quick_ones;
  for (int i = 0; i < quick; ++i) {
    quick_ones.emplace_back([&] {
      const auto own = ask(port);
      const std::lock_guard lock(mutex);
      all.insert(all.end(), own.begin(), own.end());
    });
  }
  quick_ones.clear();
  std::sort(all.begin(), all.end());
  const int asked = quick * kRequestsEach;
  if (all.empty()) {
    std::printf("%4d slow, %4d quick clients: none of %d answered\n", slow, quick, asked);
    return asked == 0;
  }
  const auto at = [&](double share) {
    return all[static_cast<std::size_t>(share * static_cast<double>(all.size() - 1))];
  };
  std::printf(
      "%4d slow, %4d quick clients: %zu of %d answered; median %.2f ms, 99 %% %.2f ms, slowest %.2f ms (aim: 200)\n",
      slow, quick, all.size(), asked, at(0.5), at(0.99), at(1));
  return all.size() == static_cast<std::size_t>(asked);
}

}  // namespace

int main(int count, char** arguments) {
  const int slow = count > 1 ? std::atoi(arguments[1]) : 500;
  const int quick = count > 2 ? std::atoi(arguments[2]) : 500;
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 8192);
  ::setrlimit(RLIMIT_NOFILE, &limit);
  const auto folder = std::filesystem::temp_directory_path() / ("osler-server-bench-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream log(folder / "run.csv");
  log << "step,loss\n";
  for (int step = 0; step < 1000; ++step) log << step << ',' << 1.0 / (1 + step) << '\n';
  log.close();
  osler::ServeOptions options;
  options.roots = {folder};
  auto server = osler::Server::open(osler::real_file_system(), options);
  if (!server) return 1;
  std::thread running([&] { (*server)->run(); });
  std::this_thread::sleep_for(std::chrono::seconds(1));
  const bool alone = measure((*server)->port(), 0, 1);
  const bool together = measure((*server)->port(), slow, quick);
  const auto stop = Clock::now();
  (*server)->stop();
  running.join();
  server->reset();
  std::printf("stopped in %.0f ms\n", std::chrono::duration<double, std::milli>(Clock::now() - stop).count());
  std::filesystem::remove_all(folder);
  return alone && together ? 0 : 1;
}
