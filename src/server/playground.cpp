// Starting, following and forgetting the trainings of the playground.
#include "server/playground.h"

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

#include "osler/gallery/patient.h"
#include "osler/gallery/probe.h"
#include "osler/gallery/recipe.h"

namespace osler::server {
namespace {

using dashboard::Json;
using Clock = std::chrono::steady_clock;
using Path = std::filesystem::path;
using Settings = std::map<std::string, std::string>;

constexpr std::size_t kLongestValue = 64;
constexpr std::uint64_t kLargestSeed = 1'000'000'000;
constexpr const char* kNoTrainer =
    "this program was built without LibTorch, so it cannot train; install libtorch-dev and build again";

Playground::Answer refused(int status, const std::string& why) {
  return {status, dashboard::written({{"error", why}})};
}

const char* kind_name(gallery::Knob::Kind kind) {
  switch (kind) {
    case gallery::Knob::Kind::choice:
      return "choice";
    case gallery::Knob::Kind::number:
      return "number";
    case gallery::Knob::Kind::whole:
      return "whole";
    case gallery::Knob::Kind::flag:
      break;
  }
  return "flag";
}

Json knobs_json() {
  const gallery::Recipe usual;
  Json all = Json::array();
  for (const gallery::Knob& knob : gallery::knobs()) {
    gallery::Recipe tried;
    const bool numeric = knob.choices.empty();
    Json one = {{"name", knob.name}, {"doc", knob.doc}, {"kind", kind_name(knob.kind)}, {"value", knob.get(usual)}};
    if (numeric) {
      one["least"] = knob.least;
      one["most"] = knob.most;
      one["logarithmic"] = knob.logarithmic;
      one["optional"] = knob.set(tried, "none");
    } else {
      one["choices"] = knob.choices;
    }
    all.push_back(std::move(one));
  }
  return all;
}

Json patients_json() {
  const gallery::Recipe usual;
  Json all = Json::array();
  for (const auto& row : gallery::patients()) {
    const gallery::Patient& patient = row.descriptor;
    Json settings = Json::object();
    for (const auto& difference : gallery::differences(usual, patient.recipe)) {
      settings[difference.name] = difference.to;
    }
    all.push_back({{"id", patient.id},
                   {"title", patient.title},
                   {"story", patient.story},
                   {"lesson", patient.lesson},
                   {"healthy", patient.healthy()},
                   {"settings", std::move(settings)}});
  }
  return all;
}

Json probes_json() {
  Json all = Json::array();
  for (const gallery::Probe& probe : gallery::probes()) {
    all.push_back({{"name", probe.name}, {"question", probe.question}, {"trained", probe.trained}});
  }
  return all;
}

/// A knob's value as a client may write it.
std::optional<std::string> value_of(const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? "on" : "off";
  if (value.is_number()) return value.dump();
  if (value.is_null()) return "none";
  if (!value.is_string()) return std::nullopt;
  auto text = value.get<std::string>();
  return text.size() <= kLongestValue ? std::optional(std::move(text)) : std::nullopt;
}

/// What a client asks to be trained.
struct Order {
  std::string patient;
  Settings settings;
  std::uint64_t seed = 1;
};

Error wrong(const std::string& message) {
  return {ErrorCode::invalid_argument, message, {}};
}

/// Sets what the order names, and sees that the result can be trained.
Result<Order> read_settings(Order order, const Json& settings) {
  gallery::Recipe recipe;
  if (!order.patient.empty()) {
    const gallery::Patient* patient = gallery::find_patient(order.patient);
    if (patient == nullptr) return wrong("no such patient");
    recipe = patient->recipe;
  }
  if (!settings.is_object() || settings.size() > gallery::knobs().size())
    return wrong("settings must be knobs by name");
  for (const auto& [name, value] : settings.items()) {
    const auto text = value_of(value);
    if (!text) return wrong("a setting is a short text, a number, or a truth");
    if (const auto done = gallery::set(recipe, name.substr(0, kLongestValue), *text); !done) return done.error();
    order.settings[name] = *text;
  }
  if (const auto fits = gallery::check(recipe); !fits) return fits.error();
  return order;
}

Result<Order> order_of(const std::string& body) {
  const Json asked = Json::parse(body, nullptr, false);
  if (!asked.is_object()) return wrong("the body must be a JSON object");
  Order order;
  if (const auto patient = asked.find("patient"); patient != asked.end() && !patient->is_null()) {
    if (!patient->is_string()) return wrong("patient must be an id");
    order.patient = patient->get<std::string>();
  }
  if (const auto seed = asked.find("seed"); seed != asked.end()) {
    if (!seed->is_number_unsigned() || seed->get<std::uint64_t>() > kLargestSeed) return wrong("seed is out of range");
    order.seed = seed->get<std::uint64_t>();
  }
  return read_settings(std::move(order), asked.value("settings", Json::object()));
}

std::optional<std::uint64_t> job_named(const std::string& body) {
  const Json asked = Json::parse(body, nullptr, false);
  if (!asked.is_object() || !asked.contains("job") || !asked.at("job").is_number_unsigned()) return std::nullopt;
  return asked.at("job").get<std::uint64_t>();
}

/// A run file and what SQLite keeps beside it.
void remove_run(const Path& run) {
  if (run.empty()) return;  // of a probe: it leaves none
  for (const char* ending : {"", "-wal", "-shm"}) {
    std::error_code ignored;
    std::filesystem::remove(run.string() + ending, ignored);
  }
}

}  // namespace

/// A training or a treatment. All but the constants and `stop` belong to the playground's mutex.
struct Playground::Job {
  std::uint64_t id = 0;
  std::uint64_t of = 0;  ///< the training that is treated or probed; 0: it is a training
  std::string probe;     ///< its name; empty: it is none
  Order order;
  Path run;  ///< what it writes
  Path sick;
  Clock::time_point start = Clock::now();
  std::atomic<bool> stop{false};

  bool runs = true;
  bool well = false;
  bool timed_out = false;
  std::string run_id;
  std::string phase = "starting";
  Json progress = Json::object();
  Json result;
  std::string error;
  std::string last_words;
  double seconds = 0;
  std::jthread thread;  // the last member: it must end before the others

  [[nodiscard]] const char* state() const {
    if (runs) return "running";
    if (stop) return timed_out ? "timed-out" : "stopped";
    return well ? "done" : "failed";
  }

  [[nodiscard]] Json json() const {
    Json all = {{"id", id}, {"of", of == 0 ? Json(nullptr) : Json(of)}, {"state", state()}, {"phase", phase}};
    all["probe"] = probe.empty() ? Json(nullptr) : Json(probe);
    all["patient"] = order.patient.empty() ? Json(nullptr) : Json(order.patient);
    all["settings"] = order.settings;
    all["seed"] = order.seed;
    all["run"] = run_id.empty() ? Json(nullptr) : Json(run_id);
    all["progress"] = progress;
    all["result"] = result;
    all["error"] = error.empty() ? Json(nullptr) : Json(error);
    return all;
  }
};

Playground::Playground(Path program, Path folder, std::function<std::string(const Path&)> on_run,
                       PlaygroundLimits limits)
    : program_(std::move(program)), folder_(std::move(folder)), on_run_(std::move(on_run)), limits_(limits) {}

Playground::~Playground() {
  std::vector<JobPtr> all;
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    all = std::exchange(jobs_, {});
  }
  for (const JobPtr& job : all) job->stop = true;
  all.clear();  // waits for each
}

std::string Playground::choices_json(const std::string& proof) const {
  if (program_.empty()) return dashboard::written({{"available", false}, {"why", kNoTrainer}});
  return dashboard::written({{"available", true},
                             {"proof", proof},
                             {"at_once", limits_.at_once},
                             {"seconds", limits_.training.count()},
                             {"treatment_seconds", limits_.treatment.count()},
                             {"kept", limits_.kept},
                             {"knobs", knobs_json()},
                             {"probes", probes_json()},
                             {"patients", patients_json()}});
}

std::string Playground::jobs_json() const {
  const std::lock_guard lock(mutex_);
  Json jobs = Json::array();
  for (auto job = jobs_.rbegin(); job != jobs_.rend(); ++job) jobs.push_back((*job)->json());
  return dashboard::written({{"jobs", std::move(jobs)}});
}

Playground::JobPtr Playground::find(std::uint64_t id) const {
  const auto found = std::find_if(jobs_.begin(), jobs_.end(), [&](const JobPtr& job) { return job->id == id; });
  return found == jobs_.end() ? nullptr : *found;
}

std::size_t Playground::running() const {
  return static_cast<std::size_t>(
      std::count_if(jobs_.begin(), jobs_.end(), [](const JobPtr& job) { return job->runs; }));
}

/// Forgets the oldest trainings, with their treatments and runs, that are more than are kept.
void Playground::make_room() {
  const auto is_training = [](const JobPtr& job) { return job->of == 0; };
  while (static_cast<std::size_t>(std::count_if(jobs_.begin(), jobs_.end(), is_training)) > limits_.kept) {
    const auto oldest = std::find_if(jobs_.begin(), jobs_.end(), [&](const JobPtr& job) {
      return is_training(job) && !job->runs && std::none_of(jobs_.begin(), jobs_.end(), [&](const JobPtr& other) {
               return other->of == job->id && other->runs;
             });
    });
    if (oldest == jobs_.end()) return;
    const std::uint64_t id = (*oldest)->id;
    std::erase_if(jobs_, [&](const JobPtr& job) {
      if (job->id != id && job->of != id) return false;
      remove_run(job->run);
      return true;
    });
  }
}

Playground::Answer Playground::start(const JobPtr& job, std::vector<std::string> arguments, std::chrono::seconds most) {
  std::error_code problem;
  std::filesystem::create_directories(folder_, problem);
  if (problem) return refused(500, "the playground's folder cannot be made: " + problem.message());
  const Order& order = job->order;
  if (!order.patient.empty()) arguments.push_back("--patient=" + order.patient);
  for (const auto& [name, value] : order.settings) arguments.push_back("--set=" + name + "=" + value);
  arguments.push_back("--seed=" + std::to_string(order.seed));
  arguments.push_back("--seconds=" + std::to_string(most.count()));
  remove_run(job->run);
  jobs_.push_back(job);
  make_room();
  Job* own = job.get();  // lives until its thread has ended
  job->thread = std::jthread([this, own, arguments = std::move(arguments), most] { follow(*own, arguments, most); });
  ++revision_;
  return {202, dashboard::written(job->json())};
}

Playground::Answer Playground::train(const std::string& body) {
  if (program_.empty()) return refused(501, kNoTrainer);
  auto order = order_of(body);
  if (!order) return refused(400, order.error().message);
  const std::lock_guard lock(mutex_);
  if (closing_) return refused(503, "the server is being stopped");
  if (running() >= limits_.at_once) {
    return refused(429, "as many trainings as may run at once are running; stop one or wait for it");
  }
  auto job = std::make_shared<Job>();
  job->id = ++last_id_;
  job->order = std::move(*order);
  const std::string name = job->order.patient.empty() ? "own" : job->order.patient;
  job->run = folder_ / (name + "-" + std::to_string(job->id) + ".osler");
  return start(job, {"play", "--run=" + job->run.string()}, limits_.training);
}

std::variant<Playground::JobPtr, Playground::Answer> Playground::ended_training(std::uint64_t id,
                                                                                const std::string& probe) {
  if (closing_) return refused(503, "the server is being stopped");
  const JobPtr training = find(id);
  if (training == nullptr || training->of != 0) return refused(404, "no such training");
  if (training->runs || training->run_id.empty()) {
    return refused(409, "only a training that has ended can be treated or probed");
  }
  const auto earlier =
      std::find_if(jobs_.begin(), jobs_.end(), [&](const JobPtr& job) { return job->of == id && job->probe == probe; });
  if (earlier != jobs_.end() && (*earlier)->runs) {
    return refused(409, probe.empty() ? "it is being treated" : "this probe is running on it");
  }
  if (running() >= limits_.at_once) {
    return refused(429, "as many trainings as may run at once are running; stop one or wait for it");
  }
  if (earlier != jobs_.end()) jobs_.erase(earlier);
  return training;
}

Playground::Answer Playground::treat(const std::string& body) {
  if (program_.empty()) return refused(501, kNoTrainer);
  const auto id = job_named(body);
  if (!id) return refused(400, "job must be the number of a training");
  const std::lock_guard lock(mutex_);
  const auto found = ended_training(*id, "");
  if (const Answer* no = std::get_if<Answer>(&found)) return *no;
  const JobPtr& sick = std::get<JobPtr>(found);
  auto job = std::make_shared<Job>();
  job->id = ++last_id_;
  job->of = *id;
  job->order = sick->order;
  job->sick = sick->run;
  job->run = folder_ / (sick->run.stem().string() + "-treated.osler");
  return start(job, {"play", "--treat", "--run=" + sick->run.string()}, limits_.treatment);
}

Playground::Answer Playground::probe(const std::string& body) {
  if (program_.empty()) return refused(501, kNoTrainer);
  const auto id = job_named(body);
  if (!id) return refused(400, "job must be the number of a training");
  const Json asked = Json::parse(body, nullptr, false);
  const auto name = asked.find("probe");
  if (name == asked.end() || !name->is_string()) return refused(400, "probe must be a name");
  const auto probe = gallery::find_probe(name->get<std::string>().substr(0, kLongestValue));
  if (!probe) return refused(400, probe.error().message);
  const std::lock_guard lock(mutex_);
  const auto found = ended_training(*id, std::string((*probe)->name));
  if (const Answer* no = std::get_if<Answer>(&found)) return *no;
  const JobPtr& training = std::get<JobPtr>(found);
  auto job = std::make_shared<Job>();
  job->id = ++last_id_;
  job->of = *id;
  job->probe = (*probe)->name;
  job->order = training->order;
  return start(job, {"play", "--probe=" + job->probe, "--run=" + training->run.string()}, limits_.probe);
}

Playground::Answer Playground::cancel(const std::string& body) {
  const auto id = job_named(body);
  if (!id) return refused(400, "job must be the number of a training or treatment");
  const std::lock_guard lock(mutex_);
  const JobPtr job = find(*id);
  if (job == nullptr) return refused(404, "no such training");
  if (job->runs) job->stop = true;
  ++revision_;
  return {200, dashboard::written(job->json())};
}

void Playground::follow(Job& job, const std::vector<std::string>& arguments, std::chrono::seconds most) {
  auto child = Child::start(program_, arguments);
  if (!child) {
    const std::lock_guard lock(mutex_);
    job.error = describe(child.error());
    job.runs = false;
    ++revision_;
    return;
  }
  const auto deadline = job.start + most + limits_.overtime;
  const auto must_stop = [&] {
    if (!job.stop && Clock::now() > deadline) {
      const std::lock_guard lock(mutex_);
      job.timed_out = true;
      job.stop = true;
    }
    return job.stop.load();
  };
  const auto end = child->follow([&](const std::string& line) { heed(job, line); }, must_stop,
                                 [&] { look_for_runs(job); }, limits_.grace);
  look_for_runs(job);
  finish(job, end);
}

/// Takes what the process says of itself; whatever else it prints is kept for the case that it fails.
void Playground::heed(Job& job, const std::string& line) {
  Json told = Json::parse(line, nullptr, false);
  const std::lock_guard lock(mutex_);
  if (!told.is_object()) {
    job.last_words = line.substr(0, 500);
    return;
  }
  if (const auto phase = told.find("phase"); phase != told.end() && phase->is_string()) {
    job.phase = phase->get<std::string>();
    told.erase(phase);
    job.progress = std::move(told);
  } else if (const auto error = told.find("error"); error != told.end() && error->is_string()) {
    job.error = error->get<std::string>();
  } else if (const auto result = told.find("result"); result != told.end()) {
    job.result = std::move(*result);
  }
  ++revision_;
}

/// Tells of the run as soon as its file is there.
void Playground::look_for_runs(Job& job) {
  {
    const std::lock_guard lock(mutex_);
    if (!job.run_id.empty()) return;
  }
  std::error_code ignored;
  if (job.run.empty() || !std::filesystem::exists(job.run, ignored)) return;
  std::string id = on_run_(job.run);
  const std::lock_guard lock(mutex_);
  job.run_id = std::move(id);
  ++revision_;
}

void Playground::finish(Job& job, const Child::End& end) {
  const std::lock_guard lock(mutex_);
  job.well = end.well;
  if (!end.well && !job.stop && job.error.empty()) {
    job.error = job.last_words.empty() ? "the training ended with " + end.text : job.last_words;
  }
  job.phase = "ended";
  job.runs = false;  // the last thing: from here on the job may be forgotten
  ++revision_;
}

}  // namespace osler::server
