// The server is the one that Debian packages; all it writes is below the folder.
#include "store/clickhouse.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <httplib.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <fstream>
#include <string_view>
#include <utility>

namespace osler::tests {
namespace {

namespace fs = std::filesystem;

int loopback_socket(int port, bool to_listen) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const auto* const generic = reinterpret_cast<const sockaddr*>(&address);
  const int one = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  const int done = to_listen ? ::bind(socket, generic, sizeof address) : ::connect(socket, generic, sizeof address);
  if (done == 0 && (!to_listen || ::listen(socket, 64) == 0)) return socket;
  ::close(socket);
  return -1;
}

int port_of(int socket) {
  sockaddr_in address{};
  socklen_t length = sizeof address;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length);
  return ntohs(address.sin_port);
}

}  // namespace

int free_port() {
  const int socket = loopback_socket(0, true);
  const int port = port_of(socket);
  ::close(socket);
  return port;
}

fs::path clickhouse_server() {
  // The first is where `make setup` unpacks it.
  for (const char* place : {OSLER_SOURCE_DIR "/build/clickhouse/usr/sbin/clickhouse-server",
                            "/usr/sbin/clickhouse-server", "/usr/bin/clickhouse-server"}) {
    if (fs::exists(place)) return place;
  }
  return {};
}

ClickHouse::ClickHouse(fs::path folder, std::string password)
    : folder_(std::move(folder)), password_(std::move(password)), port_(free_port()), native_port_(free_port()) {
  fs::create_directories(folder_ / "data");
  fs::create_directories(folder_ / "tmp");
  write_configuration();
}

ClickHouse::~ClickHouse() {
  kill();
}

void ClickHouse::write_configuration() const {
  std::ofstream(folder_ / "config.xml")
      << "<yandex><logger><level>warning</level><log>" << (folder_ / "log").string() << "</log><errorlog>"
      << (folder_ / "errors").string() << "</errorlog></logger><http_port>" << port_ << "</http_port><tcp_port>"
      << native_port_ << "</tcp_port><listen_host>127.0.0.1</listen_host><path>" << (folder_ / "data").string()
      << "/</path><tmp_path>" << (folder_ / "tmp").string()
      << "/</tmp_path><users_config>users.xml</users_config><default_profile>default</default_profile>"
         "<default_database>default</default_database><mark_cache_size>67108864</mark_cache_size>"
      << more_ << "</yandex>\n";
  std::ofstream(folder_ / "users.xml")
      << "<yandex><profiles><default></default></profiles><users><default><password>" << password_
      << "</password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default>"
         "</users><quotas><default></default></quotas></yandex>\n";
}

void ClickHouse::configure(const std::string& more) {
  more_ = more;
  write_configuration();
}

bool ClickHouse::start() {
  const std::string program = clickhouse_server().string();
  const std::string configuration = "--config-file=" + (folder_ / "config.xml").string();
  const std::string output = (folder_ / "output").string();
  child_ = ::fork();
  if (child_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // no server outlives its test
    const int out = ::open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
    ::execl(program.c_str(), program.c_str(), configuration.c_str(), nullptr);
    ::_exit(127);
  }
  if (child_ < 0) return false;
  for (int round = 0; round < 1200; ++round) {
    if (ask("SELECT 1") == "1\n") return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return false;
}

void ClickHouse::kill() {
  if (child_ < 0) return;
  ::kill(child_, SIGKILL);
  ::waitpid(child_, nullptr, 0);
  child_ = -1;
}

std::string ClickHouse::address(const std::string& options, int port) const {
  return "clickhouse://127.0.0.1:" + std::to_string(port == 0 ? port_ : port) + "/osler" + options;
}

std::string ClickHouse::ask(const std::string& sql) const {
  httplib::Client client("127.0.0.1", port_);
  client.set_read_timeout(60);
  httplib::Headers headers;
  if (!password_.empty()) headers = {{"X-ClickHouse-User", "default"}, {"X-ClickHouse-Key", password_}};
  const auto answer = client.Post("/", headers, sql, "text/plain");
  return answer ? answer->body : "";
}

Wire::Wire(int to) : to_(to), listener_(loopback_socket(0, true)) {
  port_ = port_of(listener_);
  thread_ = std::thread([this] { listen(); });
}

Wire::~Wire() {
  over_ = true;
  cut();
  thread_.join();
  while (passing_ > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ::close(listener_);
}

void Wire::listen() {
  while (!over_) {
    pollfd waiting{listener_, POLLIN, 0};
    if (::poll(&waiting, 1, 50) <= 0) continue;
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) continue;
    if (!whole_) {
      ::close(client);
      continue;
    }
    ++passing_;
    std::thread([this, client] {
      pass_on(client);
      --passing_;
    }).detach();
  }
}

void Wire::pass_on(int client) {
  const int server = loopback_socket(to_, false);
  {
    const std::lock_guard lock(mutex_);
    open_.insert(client);
    if (server >= 0) open_.insert(server);
  }
  std::array<char, 65536> buffer;
  bool going = server >= 0 && whole_;
  bool inserts = false;  // what was asked last
  while (going) {
    std::array<pollfd, 2> waiting = {pollfd{client, POLLIN, 0}, pollfd{server, POLLIN, 0}};
    if (::poll(waiting.data(), waiting.size(), 50) < 0 || !whole_) break;
    for (std::size_t side = 0; side < 2 && going; ++side) {
      if (waiting[side].revents == 0) continue;
      const ssize_t length = ::recv(waiting[side].fd, buffer.data(), buffer.size(), 0);
      going = length > 0;
      const std::string_view piece(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
      if (side == 0 && piece.starts_with("POST ")) {
        inserts = piece.substr(0, piece.find('\r')).find("INSERT") != std::string_view::npos;
      }
      if (side == 1 && going && std::exchange(inserts, false) && hear_) going = hear_();
      for (ssize_t sent = 0; going && sent < length;) {
        const ssize_t more =
            ::send(waiting[1 - side].fd, buffer.data() + sent, static_cast<std::size_t>(length - sent), MSG_NOSIGNAL);
        going = more > 0;
        sent += more;
      }
    }
  }
  const std::lock_guard lock(mutex_);
  for (const int socket : {client, server}) {
    if (socket < 0) continue;
    open_.erase(socket);
    ::close(socket);
  }
}

void Wire::cut() {
  whole_ = false;
  const std::lock_guard lock(mutex_);
  for (const int socket : open_) ::shutdown(socket, SHUT_RDWR);
}

void Wire::mend() {
  whole_ = true;
}

}  // namespace osler::tests
