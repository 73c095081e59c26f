// ServerTest: a folder of runs, a server on it, and the questions a client asks.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "osler/server/server.h"

namespace osler::server {

/// Serves a folder of its own with a sick and a healthy log in it, over a real socket.
class ServerTest : public ::testing::Test {
 protected:
  using Path = std::filesystem::path;
  using Json = nlohmann::json;

  void SetUp() override {
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    base_ = Path(::testing::TempDir()) / ("osler-server-" + name);
    std::filesystem::remove_all(base_);
    std::filesystem::create_directories(root());
    for (const char* log : {"sick.csv", "healthy.csv"}) {
      std::filesystem::copy_file(Path(OSLER_SOURCE_DIR) / "examples/logs" / log, root() / log);
    }
  }

  void TearDown() override {
    if (server_) server_->stop();
    if (thread_.joinable()) thread_.join();
    server_.reset();
    std::filesystem::remove_all(base_);
  }

  [[nodiscard]] Path root() const { return base_ / "runs"; }

  void serve(const std::string& token = "", ServeOptions options = {}) {
    options.roots = {root()};
    options.token = token;
    auto opened = Server::open(real_file_system(), options);
    ASSERT_TRUE(opened) << describe(opened.error());
    server_ = std::move(*opened);
    thread_ = std::thread([this] { server_->run(); });
  }

  [[nodiscard]] httplib::Client client() const { return httplib::Client("127.0.0.1", server_->port()); }

  [[nodiscard]] Json get(const std::string& path) const {
    auto asking = client();
    const auto answer = asking.Get(path);
    return answer ? Json::parse(answer->body, nullptr, false) : Json();
  }

  [[nodiscard]] int status_of(const std::string& path, const httplib::Headers& headers = {}) const {
    auto asking = client();
    const auto answer = asking.Get(path, headers);
    return answer ? answer->status : 0;
  }

  /// The card of the run called `name` once `ready` holds of it; null when that never comes.
  [[nodiscard]] Json card(const std::string& name, const std::function<bool(const Json&)>& ready) const {
    for (int round = 0; round < 600; ++round) {
      for (const Json& run : get("/api/runs").value("runs", Json::array())) {
        if (run.at("name") == name && ready(run)) return run;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return {};
  }

  [[nodiscard]] Json examined(const std::string& name) const {
    return card(name, [](const Json& run) { return run.at("status") != "unexamined"; });
  }

  /// The address of the run called `name`, once it was examined.
  [[nodiscard]] std::string run_path(const std::string& name) const {
    return "/api/runs/" + examined(name).at("id").get<std::string>();
  }

  Path base_;
  std::unique_ptr<Server> server_;
  std::thread thread_;
};

}  // namespace osler::server
