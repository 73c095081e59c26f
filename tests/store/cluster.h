// A cluster of a test's own: ZooKeeper and two shards with two replicas each, below a temporary folder on loopback.
#pragma once

#include <sys/types.h>

#include <array>
#include <filesystem>
#include <memory>
#include <string>

#include "store/clickhouse.h"

namespace osler::tests {

/// Where ZooKeeper's classes are; empty where they, or java, are not there.
[[nodiscard]] std::filesystem::path zookeeper_classes();

/// One ZooKeeper, which keeps its data over a kill.
class ZooKeeper {
 public:
  explicit ZooKeeper(std::filesystem::path folder);
  ~ZooKeeper();
  ZooKeeper(const ZooKeeper&) = delete;
  ZooKeeper& operator=(const ZooKeeper&) = delete;

  /// Starts it and waits until it answers; false when it does not.
  [[nodiscard]] bool start();
  void kill();
  [[nodiscard]] int port() const { return port_; }

 private:
  [[nodiscard]] bool answers() const;

  std::filesystem::path folder_;
  int port_;
  pid_t child_ = -1;
};

/// The cluster called "main". Server 2 * s + r is replica r of shard s.
class Cluster {
 public:
  explicit Cluster(const std::filesystem::path& folder);

  [[nodiscard]] bool start();
  [[nodiscard]] ClickHouse& server(std::size_t number) { return *servers_.at(number); }
  [[nodiscard]] std::size_t size() const { return servers_.size(); }

 private:
  ZooKeeper keeper_;
  std::array<std::unique_ptr<ClickHouse>, 4> servers_;
};

}  // namespace osler::tests
