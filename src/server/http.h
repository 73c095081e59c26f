// Http: cpp-httplib's server without its own way of accepting connections, which gives every one of them a thread.
#pragma once

#include <httplib.h>

#include <string>

namespace osler::server {

/// Reads requests, routes them and writes answers; a Front brings the connections.
class Http final : public httplib::Server {
 public:
  /// From now on streams of events are kept open, until end().
  void begin(int listening) { svr_sock_ = listening; }
  /// Streams of events end with their next look around.
  void end() { svr_sock_ = INVALID_SOCKET; }

  /// An AnswerRequest.
  [[nodiscard]] bool answer(int socket, std::string& received);
};

}  // namespace osler::server
