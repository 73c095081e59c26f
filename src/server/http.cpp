// One request on one connection that does not block.
#include "server/http.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace osler::server {
namespace {

using Clock = std::chrono::steady_clock;

// The header is there already; a body is small, and comes at once or not at all.
constexpr auto kBodyTime = std::chrono::seconds(5);
// A client that takes nothing for so long has gone.
constexpr auto kWriteTime = std::chrono::seconds(10);

/// Waits until the socket is ready; false when it is not by `until`.
bool wait_for(int socket, short what, Clock::time_point until) {
  pollfd ready{socket, what, 0};
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    const int count = ::poll(&ready, 1, static_cast<int>(std::max<long>(left, 0)));
    if (count > 0) return true;
    if (count == 0 || errno != EINTR) return false;
  }
}

/// What has been received of a request, and then the socket.
class RequestStream final : public httplib::Stream {
 public:
  RequestStream(int socket, std::string& received) : socket_(socket), received_(received) {}

  [[nodiscard]] bool is_readable() const override { return !received_.empty() || wait_for(socket_, POLLIN, deadline_); }
  [[nodiscard]] bool is_writable() const override {
    return wait_for(socket_, POLLOUT, Clock::now() + kWriteTime) && !has_left();
  }

  ssize_t read(char* to, std::size_t size) override {
    if (received_.empty()) {
      if (!wait_for(socket_, POLLIN, deadline_)) return -1;
      return ::recv(socket_, to, size, 0);
    }
    const std::size_t length = std::min(size, received_.size());
    std::memcpy(to, received_.data(), length);
    received_.erase(0, length);
    return static_cast<ssize_t>(length);
  }

  ssize_t write(const char* from, std::size_t size) override {
    for (;;) {
      const ssize_t length = ::send(socket_, from, size, MSG_NOSIGNAL);
      if (length >= 0) return length;
      if (errno != EAGAIN && errno != EINTR) return -1;
      if (!wait_for(socket_, POLLOUT, Clock::now() + kWriteTime)) return -1;
    }
  }

  // Nothing here asks who the client is.
  void get_remote_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
  void get_local_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
  [[nodiscard]] socket_t socket() const override { return socket_; }

 private:
  /// Whether the other side has closed the connection.
  [[nodiscard]] bool has_left() const {
    char byte = 0;
    const ssize_t length = ::recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return length == 0 || (length < 0 && errno != EAGAIN && errno != EINTR);
  }

  int socket_;
  std::string& received_;
  Clock::time_point deadline_ = Clock::now() + kBodyTime;
};

}  // namespace

bool Http::answer(int socket, std::string& received) {
  RequestStream stream(socket, received);
  bool closed = false;
  return process_request(stream, false, closed, nullptr) && !closed;
}

}  // namespace osler::server
