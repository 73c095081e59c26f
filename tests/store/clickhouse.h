// A ClickHouse server of a test's own, below a temporary folder on loopback, and a wire to it that can be cut.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "osler/store/address.h"

namespace osler::tests {

/// where clickhouse-server is; empty where it is neither unpacked nor installed.
[[nodiscard]] std::filesystem::path clickhouse_server();

/// A server with its data, configuration and ports. It may be killed and started again on the same data.
class ClickHouse {
 public:
  explicit ClickHouse(std::filesystem::path folder, std::string password = "");
  ~ClickHouse();
  ClickHouse(const ClickHouse&) = delete;
  ClickHouse& operator=(const ClickHouse&) = delete;

  /// Starts it and waits until it answers; false when it does not.
  [[nodiscard]] bool start();
  /// SIGKILL.
  void kill();

  /// More of its configuration, from the next start on: elements of XML.
  void configure(const std::string& more);
  [[nodiscard]] bool alive() const { return child_ >= 0; }

  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] int native_port() const { return native_port_; }
  /// The address of a database on it, of the wire's port where there is one.
  [[nodiscard]] std::string address(const std::string& options = "", int port = 0) const;
  /// Runs a statement by itself and gives the answer; "" when there is none.
  std::string ask(const std::string& sql) const;

 private:
  void write_configuration() const;

  std::filesystem::path folder_;
  std::string password_;
  std::string more_;
  int port_ = 0;
  int native_port_ = 0;
  pid_t child_ = -1;
};

/// Passes bytes on to a port on loopback, while it is whole.
class Wire {
 public:
  explicit Wire(int to);
  ~Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  [[nodiscard]] int port() const { return port_; }
  /// Breaks every connection, wherever it is, and refuses new ones.
  void cut();
  void mend();
  /// Calls `hear` with each answer to an INSERT, before any of it is passed on; where it says false the connection is
  /// broken instead. Not to be changed while something passes.
  void before_answers_to_inserts(std::function<bool()> hear) { hear_ = std::move(hear); }

 private:
  void listen();
  void pass_on(int client);

  int to_;
  int port_ = 0;
  int listener_ = -1;
  std::function<bool()> hear_;
  std::atomic<bool> whole_ = true;
  std::atomic<bool> over_ = false;
  std::atomic<int> passing_ = 0;
  std::mutex mutex_;
  std::set<int> open_;
  std::thread thread_;
};

/// A port on loopback that nobody uses now.
[[nodiscard]] int free_port();

}  // namespace osler::tests
