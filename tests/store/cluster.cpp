// ZooKeeper is Debian's, unpacked by `make setup`; it needs the machine's java.
#include "store/cluster.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

namespace osler::tests {
namespace {

namespace fs = std::filesystem;

constexpr const char* kJava = "/usr/bin/java";

std::string element(const std::string& name, const std::string& text) {
  return "<" + name + ">" + text + "</" + name + ">";
}

std::string element(const std::string& name, int number) {
  return element(name, std::to_string(number));
}

}  // namespace

fs::path zookeeper_classes() {
  if (!fs::exists(kJava)) return {};
  for (const char* place : {OSLER_SOURCE_DIR "/build/zookeeper/usr/share/java", "/usr/share/java"}) {
    if (fs::exists(fs::path(place) / "zookeeper.jar")) return place;
  }
  return {};
}

ZooKeeper::ZooKeeper(fs::path folder) : folder_(std::move(folder)), port_(free_port()) {
  fs::create_directories(folder_ / "data");
  std::ofstream(folder_ / "zoo.cfg") << "tickTime=500\ndataDir=" << (folder_ / "data").string()
                                     << "\nclientPort=" << port_
                                     << "\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\nmaxClientCnxns=0\n"
                                        "minSessionTimeout=1000\n4lw.commands.whitelist=ruok\n";
}

ZooKeeper::~ZooKeeper() {
  kill();
}

bool ZooKeeper::answers() const {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port_));
  std::array<char, 4> answer{};
  const bool fine = ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
                    ::send(socket, "ruok", 4, MSG_NOSIGNAL) == 4 &&
                    ::recv(socket, answer.data(), answer.size(), MSG_WAITALL) == 4;
  ::close(socket);
  return fine && std::string(answer.data(), answer.size()) == "imok";
}

bool ZooKeeper::start() {
  const std::string classes = (zookeeper_classes() / "*").string();
  const std::string configuration = (folder_ / "zoo.cfg").string();
  const std::string output = (folder_ / "output").string();
  child_ = ::fork();
  if (child_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int out = ::open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
    ::execl(kJava, kJava, "-Xmx128m", "-cp", classes.c_str(), "org.apache.zookeeper.server.quorum.QuorumPeerMain",
            configuration.c_str(), nullptr);
    ::_exit(127);
  }
  if (child_ < 0) return false;
  for (int round = 0; round < 1200; ++round) {
    if (answers()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return false;
}

void ZooKeeper::kill() {
  if (child_ < 0) return;
  ::kill(child_, SIGKILL);
  ::waitpid(child_, nullptr, 0);
  child_ = -1;
}

Cluster::Cluster(const fs::path& folder) : keeper_(folder / "zookeeper") {
  for (std::size_t number = 0; number < servers_.size(); ++number) {
    servers_[number] = std::make_unique<ClickHouse>(folder / ("server" + std::to_string(number)));
  }
  std::string shards;
  for (std::size_t shard = 0; shard < 2; ++shard) {
    std::string replicas = element("internal_replication", "true");
    for (std::size_t replica = 0; replica < 2; ++replica) {
      const int port = servers_[2 * shard + replica]->native_port();
      replicas += element("replica", element("host", "127.0.0.1") + element("port", port));
    }
    shards += element("shard", replicas);
  }
  const std::string common =
      element("remote_servers", element("main", shards)) +
      element("zookeeper", "<node index=\"1\">" + element("host", "127.0.0.1") + element("port", keeper_.port()) +
                               "</node>" + element("session_timeout_ms", 3000)) +
      element("distributed_ddl", element("path", "/clickhouse/task_queue/ddl")) +
      element("interserver_http_host", "127.0.0.1");
  for (std::size_t number = 0; number < servers_.size(); ++number) {
    const std::string macros =
        element("shard", static_cast<int>(number / 2)) + element("replica", "server" + std::to_string(number));
    servers_[number]->configure(common + element("macros", macros) + element("interserver_http_port", free_port()));
  }
}

bool Cluster::start() {
  if (!keeper_.start()) return false;
  for (auto& server : servers_) {
    if (!server->start()) return false;
  }
  return true;
}

}  // namespace osler::tests
