// Playground: trainings that visitors start, each in a process of its own, few at a time and none for long.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

#include "dashboard/json.h"
#include "server/child.h"

namespace osler::server {

/// How much a playground may take.
struct PlaygroundLimits {
  std::size_t at_once = 2;            ///< processes
  std::size_t kept = 24;              ///< trainings whose runs are kept; the oldest go first
  std::chrono::seconds training{90};  ///< after which a training is stopped
  std::chrono::seconds treatment{300};
  std::chrono::seconds probe{180};
  std::chrono::milliseconds overtime{5000};  ///< after its seconds, for a training that should have stopped by itself
  std::chrono::milliseconds grace{4000};     ///< from being asked to stop until it is ended
};

/// Its methods may be called from several threads.
class Playground {
 public:
  /// An HTTP status and a JSON body.
  struct Answer {
    int status = 200;
    std::string body;
  };

  /// `program` is osler-gallery, empty where it was not built; runs are written to `folder`. `on_run` is told of each
  /// run file as soon as it is there, and must name the run by its id.
  Playground(std::filesystem::path program, std::filesystem::path folder,
             std::function<std::string(const std::filesystem::path&)> on_run, PlaygroundLimits limits = {});
  /// Ends every training.
  ~Playground();
  Playground(const Playground&) = delete;
  Playground& operator=(const Playground&) = delete;

  /// What a visitor can choose: knobs, patients, limits. `proof` is what a page of this origin shows when it asks for a
  /// change.
  [[nodiscard]] std::string choices_json(const std::string& proof) const;
  /// All trainings and treatments, the newest first.
  [[nodiscard]] std::string jobs_json() const;
  /// Grows with every change of a job.
  [[nodiscard]] std::uint64_t revision() const { return revision_; }

  /// Starts a training: {"patient": id or absent, "settings": {knob: value}, "seed": number}.
  [[nodiscard]] Answer train(const std::string& body);
  /// Treats a finished training: {"job": id}.
  [[nodiscard]] Answer treat(const std::string& body);
  /// Runs a probe on a training that has ended, from its own beginning: {"job": id, "probe": name}.
  [[nodiscard]] Answer probe(const std::string& body);
  /// Stops a job: {"job": id}.
  [[nodiscard]] Answer cancel(const std::string& body);

 private:
  struct Job;
  using JobPtr = std::shared_ptr<Job>;

  [[nodiscard]] Answer start(const JobPtr& job, std::vector<std::string> arguments, std::chrono::seconds most);
  [[nodiscard]] JobPtr find(std::uint64_t id) const;
  /// A training that has ended, with room for a job on it; the other jobs of the same kind on it are forgotten.
  [[nodiscard]] std::variant<JobPtr, Answer> ended_training(std::uint64_t id, const std::string& probe);
  [[nodiscard]] std::size_t running() const;
  void make_room();
  void follow(Job& job, const std::vector<std::string>& arguments, std::chrono::seconds most);
  void heed(Job& job, const std::string& line);
  void look_for_runs(Job& job);
  void finish(Job& job, const Child::End& end);

  const std::filesystem::path program_;
  const std::filesystem::path folder_;
  const std::function<std::string(const std::filesystem::path&)> on_run_;
  const PlaygroundLimits limits_;
  std::atomic<std::uint64_t> revision_{1};

  mutable std::mutex mutex_;  // of what follows, and of every job
  std::vector<JobPtr> jobs_;
  std::uint64_t last_id_ = 0;
  bool closing_ = false;
};

}  // namespace osler::server
