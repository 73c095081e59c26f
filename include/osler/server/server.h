// Server: the runs below some folders as an HTTP API, live, and the dashboard that shows them.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "osler/base/file_system.h"
#include "osler/base/result.h"
#include "osler/diagnosis/diagnose.h"
#include "osler/store/address.h"

namespace osler {

/// What to serve, and where.
struct ServeOptions {
  std::vector<std::filesystem::path> roots;  ///< folders or logs; nothing outside them is ever read
  std::vector<std::string> archive;          ///< patterns of runs or folders that are listed apart
  std::optional<StoreAddress> store;         ///< the runs of its project in place of those below the roots
  StoreAccess store_access;                  ///< what opens it
  DiagnosisOptions diagnosis;                ///< how every run is judged
  std::string address = "127.0.0.1";         ///< any but a loopback address needs a token
  int port = 0;                              ///< 0: any free one
  std::string token;              ///< what a client must show, as a bearer or once as "/?token="; empty: nothing
  std::filesystem::path trainer;  ///< the osler-gallery program, which trains for the playground; empty: there is none
  std::filesystem::path playground;  ///< the folder for the playground's runs, made when it is needed and served too
};

/// Serves until it is stopped or destroyed. Its methods may be called from any thread.
class Server {
 public:
  /// Binds the address and starts to look for runs. Fails when the address cannot be had, when it needs a token and has
  /// none, or when a root does not exist. `files` must outlive the server.
  [[nodiscard]] static Result<std::unique_ptr<Server>> open(FileSystem& files, ServeOptions options);

  virtual ~Server() = default;

  /// The port that was bound.
  [[nodiscard]] virtual int port() const = 0;
  /// Answers requests; returns after stop().
  virtual void run() = 0;
  virtual void stop() = 0;
};

}  // namespace osler
