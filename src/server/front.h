// Front: holds connections while their requests are coming in, so that slow clients cost no thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "osler/base/result.h"

namespace osler::server {

/// What a client may take before its request is looked at.
struct FrontLimits {
  std::size_t header_bytes = std::size_t{16} << 10U;  ///< of one request, up to the empty line behind its header
  std::chrono::milliseconds header_time{5000};        ///< from its first byte, or from the connection, to that line
  std::chrono::milliseconds idle_time{30'000};        ///< between two requests on one connection
  std::size_t waiting = 1000;                         ///< connections without a whole header; the oldest has to go
  std::size_t workers = 224;                          ///< requests answered at once
};

/// Answers one request of a connection, in a thread of its own. `received` is what has come of it, at least its header;
/// what is not used of it stays. Returns whether the connection may be used again. The descriptor does not block.
using AnswerRequest = std::function<bool(int socket, std::string& received)>;

/// Accepts connections and waits for whole headers in one thread, and has requests answered in others.
class Front {
 public:
  /// `listening` is a socket that listens; it is closed with the front.
  Front(int listening, const FrontLimits& limits, AnswerRequest answer);
  ~Front();
  Front(const Front&) = delete;
  Front& operator=(const Front&) = delete;

  /// Works until stop(), and returns when every request has been answered or broken off.
  void run();
  /// Closes every connection, also those that are being answered. May be called from any thread.
  void stop();

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

/// A socket that listens at `address` and `port` (0: any that is free), and at no port that another socket has.
[[nodiscard]] Result<int> listen_at(const std::string& address, int port);

/// The port that a socket is bound to.
[[nodiscard]] int port_of(int socket);

}  // namespace osler::server
