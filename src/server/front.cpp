// The front of the server: one loop over all connections that wait, and a pool of threads for those that do not.
#include "server/front.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace osler::server {
namespace {

using Clock = std::chrono::steady_clock;

// How often connections are looked at for having waited too long.
constexpr int kLookEvery = 200;  // milliseconds
constexpr int kBacklog = 1024;
constexpr std::string_view kEndOfHeader = "\r\n\r\n";
constexpr std::string_view kTooSlow = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
constexpr std::string_view kTooLong =
    "HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
constexpr std::string_view kAddressTooLong =
    "HTTP/1.1 414 URI Too Long\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

Error system_error(const std::string& where) {
  return {ErrorCode::io, std::strerror(errno), where};
}

/// A connection whose next request has not come in yet.
struct Waiting {
  std::string received;
  Clock::time_point since;
  bool fresh = true;         // no request was answered on it so far
  std::size_t searched = 0;  // up to here there is no end of a header
};

/// Says it as far as it fits into what the system buffers.
void say(int socket, std::string_view text) {
  static_cast<void>(::send(socket, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
}

/// Closes so that the client gets what was said: with unread bytes the system would throw the answer away.
void close_after_word(int socket) {
  ::shutdown(socket, SHUT_WR);
  std::array<char, 4096> rest;
  while (::recv(socket, rest.data(), rest.size(), MSG_DONTWAIT) > 0) {
  }
  ::close(socket);
}

}  // namespace

class Front::Loop {
 public:
  Loop(int listening, const FrontLimits& limits, AnswerRequest answer)
      : listening_(listening), limits_(limits), answer_(std::move(answer)) {
    epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
    woken_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    watch(listening_);
    watch(woken_);
  }
  ~Loop() {
    for (const int descriptor : {listening_, epoll_, woken_}) ::close(descriptor);
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void run() {
    std::vector<std::jthread> workers;
    for (std::size_t i = 0; i < limits_.workers; ++i) workers.emplace_back([this] { work(); });
    std::array<epoll_event, 256> events;
    auto next_look = Clock::now();
    while (!stopping_) {
      const int count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), kLookEvery);
      for (int i = 0; i < count; ++i) handle(events[static_cast<std::size_t>(i)].data.fd);
      if (Clock::now() < next_look) continue;
      close_the_slow();
      next_look = Clock::now() + std::chrono::milliseconds(kLookEvery);
    }
    // Connections that the system has taken in, but nobody here, would otherwise hang until the front is destroyed.
    ::shutdown(listening_, SHUT_RDWR);
    for (const auto& [socket, waiting] : waiting_) ::close(socket);
    waiting_.clear();
    break_off();
  }

  void stop() {
    stopping_ = true;
    wake();
    break_off();
  }

 private:
  struct Task {
    int socket;
    std::string received;
  };

  void watch(int descriptor) const {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = descriptor;
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event);
  }

  void wake() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(woken_, &one, sizeof one);
  }

  void handle(int descriptor) {
    if (descriptor == listening_) return accept_all();
    if (descriptor == woken_) return take_back();
    if (const auto at = waiting_.find(descriptor); at != waiting_.end()) receive(at->first, at->second);
  }

  void accept_all() {
    for (;;) {
      const int socket = ::accept4(listening_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (socket < 0 && (errno == EMFILE || errno == ENFILE) && !waiting_.empty()) {
        drop_oldest();
        continue;
      }
      if (socket < 0) return;
      // Small answers must not wait for the acknowledgement of those before.
      const int yes = 1;
      ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      if (waiting_.size() >= limits_.waiting) drop_oldest();
      wait_for_request(socket, {}, true);
    }
  }

  /// The connection that has waited longest goes, one between two requests before others.
  void drop_oldest() {
    const auto longer = [](const auto& a, const auto& b) {
      const bool idle_a = a.second.received.empty() && !a.second.fresh;
      const bool idle_b = b.second.received.empty() && !b.second.fresh;
      return idle_a != idle_b ? idle_a : a.second.since < b.second.since;
    };
    const auto oldest = std::min_element(waiting_.begin(), waiting_.end(), longer);
    ::close(oldest->first);
    waiting_.erase(oldest);
  }

  void wait_for_request(int socket, std::string received, bool fresh) {
    const auto [at, inserted] = waiting_.insert_or_assign(socket, Waiting{std::move(received), Clock::now(), fresh, 0});
    watch(socket);
    if (!at->second.received.empty()) receive(at->first, at->second);  // two requests in one piece
  }

  void receive(int socket, Waiting& waiting) {
    std::array<char, 8192> piece;
    const bool idle = waiting.received.empty();
    for (bool more = true; more && waiting.received.size() <= limits_.header_bytes;) {
      const ssize_t length = ::recv(socket, piece.data(), piece.size(), 0);
      if (length == 0 || (length < 0 && errno != EAGAIN && errno != EINTR)) return forget(socket);
      more = length == static_cast<ssize_t>(piece.size());
      if (length > 0) waiting.received.append(piece.data(), static_cast<std::size_t>(length));
    }
    if (idle && !waiting.fresh) waiting.since = Clock::now();  // the clock of a header starts with its first byte
    const std::size_t end = waiting.received.find(kEndOfHeader, waiting.searched);
    waiting.searched = waiting.received.size() - std::min(waiting.received.size(), kEndOfHeader.size() - 1);
    if (end != std::string::npos && end <= limits_.header_bytes) return hand_over(socket, waiting);
    if (waiting.received.size() > limits_.header_bytes) refuse_length(socket, waiting);
  }

  void refuse_length(int socket, const Waiting& waiting) {
    constexpr std::size_t kLongestAddress = 8192;
    say(socket, waiting.received.find('\n') > kLongestAddress ? kAddressTooLong : kTooLong);
    ::epoll_ctl(epoll_, EPOLL_CTL_DEL, socket, nullptr);
    waiting_.erase(socket);
    close_after_word(socket);
  }

  void forget(int socket) {
    waiting_.erase(socket);
    ::close(socket);
  }

  void hand_over(int socket, Waiting& waiting) {
    ::epoll_ctl(epoll_, EPOLL_CTL_DEL, socket, nullptr);
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back({socket, std::move(waiting.received)});
    }
    waiting_.erase(socket);
    task_came_.notify_one();
  }

  void close_the_slow() {
    const auto now = Clock::now();
    for (auto at = waiting_.begin(); at != waiting_.end();) {
      const auto& [socket, waiting] = *at;
      const bool idle = waiting.received.empty() && !waiting.fresh;
      if (now - waiting.since < (idle ? limits_.idle_time : limits_.header_time)) {
        ++at;
        continue;
      }
      if (!waiting.received.empty()) say(socket, kTooSlow);
      close_after_word(socket);
      at = waiting_.erase(at);
    }
  }

  /// Takes over the connections whose requests were answered.
  void take_back() {
    std::uint64_t times = 0;
    [[maybe_unused]] const ssize_t taken = ::read(woken_, &times, sizeof times);
    std::vector<Task> done;
    {
      const std::lock_guard lock(mutex_);
      done.swap(answered_);
    }
    for (Task& task : done) wait_for_request(task.socket, std::move(task.received), false);
  }

  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      task_came_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
      if (stopping_) return;
      Task task = std::move(tasks_.front());
      tasks_.pop_front();
      busy_.insert(task.socket);
      lock.unlock();
      const bool again = answer_(task.socket, task.received);
      lock.lock();
      busy_.erase(task.socket);
      if (again && !stopping_) {
        answered_.push_back(std::move(task));
        wake();
      } else {
        ::close(task.socket);
      }
    }
  }

  /// Ends what is being answered and what waits for it.
  void break_off() {
    const std::lock_guard lock(mutex_);
    for (const int socket : busy_) ::shutdown(socket, SHUT_RDWR);
    for (const Task& task : tasks_) ::close(task.socket);
    for (const Task& task : answered_) ::close(task.socket);
    tasks_.clear();
    answered_.clear();
    task_came_.notify_all();
  }

  int listening_;
  FrontLimits limits_;
  AnswerRequest answer_;
  int epoll_ = -1;
  int woken_ = -1;
  std::map<int, Waiting> waiting_;  // the loop's own
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::condition_variable task_came_;
  std::deque<Task> tasks_;
  std::vector<Task> answered_;
  std::set<int> busy_;
};

Front::Front(int listening, const FrontLimits& limits, AnswerRequest answer)
    : loop_(std::make_unique<Loop>(listening, limits, std::move(answer))) {}

Front::~Front() = default;

void Front::run() {
  loop_->run();
}

void Front::stop() {
  loop_->stop();
}

Result<int> listen_at(const std::string& address, int port) {
  const std::string where = address + ":" + std::to_string(port);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (const int failure = ::getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found); failure != 0) {
    return Error{ErrorCode::invalid_argument, ::gai_strerror(failure), address};
  }
  Result<int> listening = Error{ErrorCode::io, "this address cannot be had", where};
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    const int socket = ::socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, at->ai_protocol);
    if (socket < 0) continue;
    const int yes = 1;
    // A port that was left a moment ago may be taken again; one that another socket listens at may not.
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (::bind(socket, at->ai_addr, at->ai_addrlen) == 0 && ::listen(socket, kBacklog) == 0) {
      listening = socket;
      break;
    }
    listening = errno == EADDRINUSE
                    ? Error{ErrorCode::io,
                            "port " + std::to_string(port) +
                                " is in use, perhaps by another osler serve; choose another port (0 takes any that is "
                                "free)",
                            address}
                    : system_error(where);
    ::close(socket);
  }
  ::freeaddrinfo(found);
  return listening;
}

int port_of(int socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length) != 0) return -1;
  if (address.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

}  // namespace osler::server
