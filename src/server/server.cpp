// Server: answers requests from the library of runs and keeps that library up to date.
#include "osler/server/server.h"

#include <atomic>
#include <charconv>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "dashboard/catalogue_json.h"
#include "dashboard/json.h"
#include "dashboard/pages.h"
#include "server/access.h"
#include "server/answers.h"
#include "server/front.h"
#include "server/http.h"
#include "server/lessons.h"
#include "server/library.h"
#include "server/playground.h"
#include "server/store_shelf.h"

namespace osler {
namespace server {
namespace {

constexpr int kStreams = 200;  // event streams at once; each holds a thread
constexpr int kWorkers = 24;   // threads for everything else
constexpr FrontLimits kLimits{.workers = kStreams + kWorkers};
constexpr std::size_t kMostColumns = 20'000;
constexpr std::size_t kUsualColumns = 1'000;
constexpr auto kLookEvery = std::chrono::milliseconds(500);
constexpr auto kSearchEvery = std::chrono::seconds(3);
constexpr int kSearchRest = 20;  // after a search that took t, at least so many t until the next: a twentieth of a core
constexpr auto kStreamPatience = std::chrono::milliseconds(500);
constexpr auto kStreamPace = std::chrono::milliseconds(100);  // changes that come close together are told together
constexpr int kQuietRounds = 4;  // after which a stream is written to, only to learn whether somebody is there

constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
constexpr const char* kNoDashboard =
    "Osler is serving its API, for example at /api/runs, but this program was built without the dashboard's page:\n"
    "Node and npm were not there. Install them and build again.\n";
constexpr const char* kJson = "application/json";
constexpr const char* kOpenMetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8";
constexpr std::string_view kLearn = "/api/learn";
constexpr std::string_view kPlayground = "/api/playground";
constexpr const char* kProof = "X-Osler-Proof";

void refuse(httplib::Response& response, int status, const std::string& why) {
  response.status = status;
  response.set_content(dashboard::written({{"error", why}}), kJson);
}

/// Sends a text without a copy of it: a long one, asked for by many at once, is then in memory once. Nor does httplib
/// compress what is sent this way, which with Brotli's highest level would take it longer than all the rest.
void send(httplib::Response& response, const Text& text, const char* type) {
  response.set_content_provider(text->size(), type,
                                [text](std::size_t offset, std::size_t length, httplib::DataSink& sink) {
                                  return sink.write(text->data() + offset, length);
                                });
}

void send_page(const httplib::Request& request, httplib::Response& response, const dashboard::Page& page) {
  const bool gzipped = request.get_header_value("Accept-Encoding").find("gzip") != std::string::npos;
  const std::string_view body = gzipped ? page.gzipped : page.body;
  if (gzipped) response.set_header("Content-Encoding", "gzip");
  response.set_header("Vary", "Accept-Encoding");
  response.set_content_provider(body.size(), std::string(page.type),
                                [body](std::size_t offset, std::size_t length, httplib::DataSink& sink) {
                                  return sink.write(body.data() + offset, length);
                                });
}

void give(httplib::Response& response, const Result<Text>& answer) {
  if (answer) return send(response, *answer, kJson);
  refuse(response, answer.error().code == ErrorCode::not_found ? 404 : 422, describe(answer.error()));
}

/// The whole number in a parameter; `fallback` when it is not given, nothing when it is no number.
template <typename Number>
std::optional<Number> parameter(const httplib::Request& request, const char* name, Number fallback) {
  if (!request.has_param(name)) return fallback;
  const std::string text = request.get_param_value(name);
  Number number{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::vector<std::filesystem::path> all_roots(const ServeOptions& options) {
  auto roots = options.roots;
  if (!options.trainer.empty()) roots.push_back(options.playground);
  return roots;
}

class HttpServer final : public Server {
  using Clock = std::chrono::steady_clock;

 public:
  HttpServer(FileSystem& files, ServeOptions options)
      : options_(std::move(options)),
        library_(files, all_roots(options_), options_.archive, options_.diagnosis),
        stored_(options_.store
                    ? std::make_unique<StoreShelf>(*options_.store, options_.store_access, options_.diagnosis)
                    : nullptr),
        shelf_(stored_ ? static_cast<Shelf&>(*stored_) : library_),
        playground_(options_.trainer, options_.playground / "playground",
                    [this](const std::filesystem::path& run) { return library_.notice(run); }),
        catalogue_(shared(dashboard::catalogue_json())),
        tree_(shared(dashboard::tree_json())) {
    http_.set_payload_max_length(1U << 16U);
    http_.set_keep_alive_timeout(std::chrono::duration_cast<std::chrono::seconds>(kLimits.idle_time).count());
    http_.set_default_headers({{"Content-Security-Policy", kPolicy},
                               {"X-Content-Type-Options", "nosniff"},
                               {"Referrer-Policy", "no-referrer"},
                               {"Cross-Origin-Resource-Policy", "same-origin"},
                               {"Cache-Control", "no-store"}});
    // All routing is done here and not by httplib's patterns: nothing but what is named below is ever answered.
    http_.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      if (!may_ask(request, response)) return httplib::Server::HandlerResponse::Handled;
      if (request.method == "POST") return httplib::Server::HandlerResponse::Unhandled;  // the body is read first
      route(request, response);
      return httplib::Server::HandlerResponse::Handled;
    });
    http_.Post(std::string(kPlayground) + "/(train|treat|probe|cancel)",
               [this](const httplib::Request& request, httplib::Response& response) { play(request, response); });
  }

  ~HttpServer() override {
    HttpServer::stop();
    if (watcher_.joinable()) watcher_.join();
  }

  Result<void> bind() {
    const auto listening = listen_at(options_.address, options_.port);
    if (!listening) return listening.error();
    port_ = port_of(*listening);
    http_.begin(*listening);
    front_.emplace(*listening, kLimits,
                   [this](int socket, std::string& received) { return http_.answer(socket, received); });
    watcher_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
    return {};
  }

  [[nodiscard]] int port() const override { return port_; }
  void run() override {
    if (!stopping_) front_->run();
  }
  void stop() override {
    stopping_ = true;
    watcher_.request_stop();
    http_.end();
    shelf_.wake();
    if (front_) front_->stop();
  }

 private:
  void watch(const std::stop_token& stop) {
    auto next_search = Clock::now();
    while (!stop.stop_requested()) {
      if (const auto start = Clock::now(); start >= next_search) {
        shelf_.search(stop);
        const auto end = Clock::now();
        next_search = end + std::max<Clock::duration>(kSearchEvery, kSearchRest * (end - start));
      }
      shelf_.examine_changed(stop);
      std::unique_lock lock(pause_mutex_);
      pause_.wait_for(lock, stop, kLookEvery, [] { return false; });
    }
  }

  bool may_ask(const httplib::Request& request, httplib::Response& response) {
    const bool change = request.method == "POST" && request.path.starts_with(std::string(kPlayground) + "/");
    if (!change && request.method != "GET" && request.method != "HEAD") {
      response.set_header("Allow", "GET, HEAD");
      refuse(response, 405, "only GET and HEAD are answered here");
      return false;
    }
    return is_known(request, response) && (!change || may_change(request, response));
  }

  /// A change is asked for by who shows the token itself, or by a page that came from here: only such a page could read
  /// the proof.
  bool may_change(const httplib::Request& request, httplib::Response& response) {
    const std::string bearer = shown_token(request.get_header_value("Authorization"), "");
    if (!options_.token.empty() && same_secret(bearer, options_.token)) return true;
    const bool foreign = request.has_header("Origin") &&
                         !is_own_origin(request.get_header_value("Origin"), request.get_header_value("Host"));
    if (!foreign && same_secret(request.get_header_value(kProof), proof_)) return true;
    refuse(response, 403, "a change needs the token, or the proof that /api/playground gives to pages of this server");
    return false;
  }

  bool is_known(const httplib::Request& request, httplib::Response& response) {
    if (options_.token.empty()) {
      if (names_this_machine(request.get_header_value("Host"))) return true;
      refuse(response, 403, "the Host header does not name this machine");
      return false;
    }
    if (request.path == "/" && request.has_param("token") &&
        same_secret(request.get_param_value("token"), options_.token)) {
      response.set_header("Set-Cookie",
                          std::string(kTokenCookie) + "=" + options_.token + "; HttpOnly; SameSite=Strict; Path=/");
      response.set_redirect("/", 303);
      return false;
    }
    const std::string shown =
        shown_token(request.get_header_value("Authorization"), request.get_header_value("Cookie"));
    if (same_secret(shown, options_.token)) return true;
    response.set_header("WWW-Authenticate", "Bearer");
    refuse(response, 401, "a token is needed: open /?token=TOKEN once, or send Authorization: Bearer TOKEN");
    return false;
  }

  void route(const httplib::Request& request, httplib::Response& response) {
    const std::string& path = request.path;
    constexpr std::string_view kRun = "/api/runs/";
    if (path == "/api/runs") return send(response, shelf_.runs_json(), kJson);
    if (path == "/api/table") return send(response, shared(shelf_.table_json()), kJson);
    if (path.starts_with(kRun)) return route_run(path.substr(kRun.size()), request, response);
    if (path == "/api/compare") return give_comparison(request, response);
    if (path == "/api/catalogue") return send(response, catalogue_, kJson);
    if (path == "/api/tree") return send(response, tree_, kJson);
    if (path == kPlayground) return send(response, shared(playground_.choices_json(proof_)), kJson);
    if (path == std::string(kPlayground) + "/jobs") return send(response, shared(playground_.jobs_json()), kJson);
    if (path.starts_with(kLearn)) return route_course(path.substr(kLearn.size()), request, response);
    if (path == "/api/events") return stream_events(response);
    if (path == "/metrics") return send(response, shared(metrics_text(shelf_.cards())), kOpenMetrics);
    for (const dashboard::Page& page : dashboard::pages()) {
      if (page.path == path) return send_page(request, response, page);
    }
    if (path == "/") return response.set_content(kNoDashboard, "text/plain; charset=utf-8");
    refuse(response, 404, "nothing is here");
  }

  void route_run(std::string_view rest, const httplib::Request& request, httplib::Response& response) {
    const std::string_view id = rest.substr(0, rest.find('/'));
    const std::string_view what = rest.substr(id.size());
    if (what.empty()) return give(response, shelf_.answer(id, Shelf::Answer::run));
    if (what == "/report") return give(response, shelf_.answer(id, Shelf::Answer::report));
    if (what == "/series") return give_series(id, request, response);
    if (what == "/layers" || what == "/distribution") return give_picture(id, what, request, response);
    refuse(response, 404, "nothing is here");
  }

  void route_course(std::string_view rest, const httplib::Request& request, httplib::Response& response) {
    constexpr std::string_view kImages = "/images/";
    if (rest.empty()) return send(response, shared(lessons_json()), kJson);
    if (rest.starts_with(kImages)) {
      const std::string_view figure = lesson_figure(rest.substr(kImages.size()));
      if (!figure.empty()) return response.set_content(std::string(figure), "image/svg+xml");
    }
    const auto exercise = parameter(request, "exercise", 0);
    std::optional<std::string> answer;
    if (exercise && rest == "/check") answer = checked_json(*exercise, request.get_param_value("answer"));
    if (exercise && rest == "/solution") answer = solution_json(*exercise);
    if (answer) return send(response, shared(std::move(*answer)), kJson);
    refuse(response, 404, "nothing is here");
  }

  void give_series(std::string_view id, const httplib::Request& request, httplib::Response& response) {
    const WindowRequest all;
    const auto from = parameter(request, "from", all.first_step);
    const auto to = parameter(request, "to", all.last_step);
    const auto points = parameter(request, "points", kUsualColumns);
    const auto number = parameter(request, "number", std::size_t{0});
    const bool numbered = request.has_param("number");
    if (!request.has_param("name") && !numbered) return refuse(response, 400, "name= must name a series");
    if (!from || !to || !points || !number) return refuse(response, 400, "from, to and points must be whole numbers");
    const WindowRequest window{*from, *to, std::clamp<std::size_t>(*points, 2, kMostColumns)};
    const SeriesChoice series{request.get_param_value("name"), numbered ? number : std::nullopt};
    give(response, series_json(shelf_, id, series, window));
  }

  void give_picture(std::string_view id, std::string_view what, const httplib::Request& request,
                    httplib::Response& response) {
    const WindowRequest all;
    const auto from = parameter(request, "from", all.first_step);
    const auto to = parameter(request, "to", all.last_step);
    if (!from || !to) return refuse(response, 400, "from and to must be whole numbers");
    dashboard::StepWindow window;
    if (request.has_param("from")) window.from = from;
    if (request.has_param("to")) window.to = to;
    if (what == "/layers") return give(response, heat_json(shelf_, id, window));
    if (!request.has_param("name")) return refuse(response, 400, "name= must name a series");
    give(response, ridge_json(shelf_, id, request.get_param_value("name"), window));
  }

  void play(const httplib::Request& request, httplib::Response& response) {
    const std::string what = request.matches[1];
    const Playground::Answer answer = what == "train"   ? playground_.train(request.body)
                                      : what == "treat" ? playground_.treat(request.body)
                                      : what == "probe" ? playground_.probe(request.body)
                                                        : playground_.cancel(request.body);
    response.status = answer.status;
    response.set_content(answer.body, kJson);
  }

  void give_comparison(const httplib::Request& request, httplib::Response& response) {
    if (!request.has_param("a") || !request.has_param("b"))
      return refuse(response, 400, "a= and b= must name two runs");
    const std::string axis = request.has_param("axis") ? request.get_param_value("axis") : "auto";
    give(response, comparison_json(shelf_, request.get_param_value("a"), request.get_param_value("b"), axis));
  }

  void stream_events(httplib::Response& response) {
    if (streams_.fetch_add(1) >= kStreams) {
      --streams_;
      response.set_header("Retry-After", "30");
      return refuse(response, 503, "too many event streams are open");
    }
    struct Place {
      std::uint64_t revision = 0;
      std::uint64_t jobs = 0;
      int quiet = 0;
      Clock::time_point not_before{};
    };
    auto place = std::make_shared<Place>(Place{shelf_.revision()});
    response.set_chunked_content_provider(
        "text/event-stream",
        [this, place](std::size_t, httplib::DataSink& sink) {
          // The first look does not wait: what it writes tells the client that the stream is open.
          const auto patience = place->quiet == 0 ? std::chrono::milliseconds(0) : kStreamPatience;
          std::this_thread::sleep_until(place->not_before);
          const Changes changes = shelf_.changes_since(place->revision, patience);
          std::string text;
          for (const std::string& card : changes.cards) text += "event: run\ndata: " + card + "\n\n";
          if (changes.list_anew) text += "event: list\ndata: {}\n\n";
          place->revision = changes.revision;
          if (const auto jobs = playground_.revision(); jobs != place->jobs) {
            text += "event: jobs\ndata: " + playground_.jobs_json() + "\n\n";
            place->jobs = jobs;
          }
          if (text.empty() && ++place->quiet % kQuietRounds == 1) text = ": still here\n\n";
          if (!text.empty()) {
            sink.write(text.data(), text.size());
            place->not_before = Clock::now() + kStreamPace;
          }
          if (stopping_) sink.done();
          return !stopping_;
        },
        [this](bool) { --streams_; });
  }

  ServeOptions options_;
  Library library_;
  std::unique_ptr<StoreShelf> stored_;  // shown in place of the library
  Shelf& shelf_;
  Playground playground_;  // its trainings tell the library of their runs
  std::string proof_ = make_secret();
  Text catalogue_;
  Text tree_;
  Http http_;
  std::optional<Front> front_;
  std::atomic<int> streams_{0};
  std::atomic<bool> stopping_{false};
  int port_ = -1;
  std::mutex pause_mutex_;
  std::condition_variable_any pause_;
  std::jthread watcher_;
};

}  // namespace
}  // namespace server

Result<std::unique_ptr<Server>> Server::open(FileSystem& files, ServeOptions options) {
  if (options.token.empty() && !server::is_loopback(options.address)) {
    return Error{ErrorCode::invalid_argument, "others can reach this address, so it needs a token", options.address};
  }
  if (!options.token.empty() && !server::is_usable_token(options.token)) {
    return Error{ErrorCode::invalid_argument, "a token may hold letters, digits and -._~ only", "token"};
  }
  for (const auto& root : options.roots) {
    if (const auto info = files.info(root); !info) return info.error();
  }
  auto made = std::make_unique<server::HttpServer>(files, std::move(options));
  if (const auto bound = made->bind(); !bound) return bound.error();
  return std::unique_ptr<Server>(std::move(made));
}

}  // namespace osler
