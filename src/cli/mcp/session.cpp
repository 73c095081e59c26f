// Session: JSON-RPC's rules first, then the protocol's methods.
#include "cli/mcp/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <exception>
#include <nlohmann/json.hpp>
#include <variant>

#include "cli/mcp/pages.h"
#include "osler/base/version.h"

namespace osler::cli::mcp {
namespace {

// Codes of JSON-RPC 2.0, and the one that the protocol adds.
constexpr int kParseError = -32700;
constexpr int kInvalidRequest = -32600;
constexpr int kMethodNotFound = -32601;
constexpr int kInvalidParams = -32602;
constexpr int kInternalError = -32603;
constexpr int kResourceNotFound = -32002;

// The newest last: it is what a client is offered that asks for one we do not know.
constexpr std::array<std::string_view, 3> kVersions = {"2024-11-05", "2025-03-26", "2025-06-18"};
// Nesting beyond this is no message of the protocol; JSON libraries descend by recursion.
constexpr int kDeepest = 64;
// Batches are as old as the first two versions and nobody sends long ones.
constexpr std::size_t kLongestBatch = 50;
constexpr std::size_t kPagesAtOnce = 100;

constexpr const char* kInstructions =
    "Osler diagnoses neural-network trainings from their logs. Begin with diagnose on a log, a run's folder or a "
    "folder "
    "of runs: it says what is wrong, since which step, why, and what to change, with the run's own numbers. explain "
    "tells what an id means, compare finds where two runs part, plot shows the curves. Answers are short; pass "
    "detail \"full\" or \"json\" for everything.";

/// A request that cannot be served.
struct Refusal {
  int code = kInternalError;
  std::string message;
  Json data;
};

using Answered = std::variant<Json, Refusal>;

std::string line_of(const Json& message) {
  return message.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json error_message(const Json& id, const Refusal& refusal) {
  Json error = {{"code", refusal.code}, {"message", refusal.message}};
  if (!refusal.data.is_null()) error["data"] = refusal.data;
  return {{"jsonrpc", "2.0"}, {"id", id}, {"error", std::move(error)}};
}

/// How deep brackets nest outside of strings.
int depth_of(std::string_view text) {
  int depth = 0;
  int deepest = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') {
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == '[' || c == '{')) {
      deepest = std::max(deepest, ++depth);
    } else if (!quoted && (c == ']' || c == '}')) {
      --depth;
    }
  }
  return deepest;
}

/// The member of an object, or nullptr.
const Json* member(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

/// The member where it is a string, or nullptr.
const std::string* string_member(const Json& object, const char* name) {
  const Json* const found = member(object, name);
  return found == nullptr ? nullptr : found->get_ptr<const std::string*>();
}

Json initialized(std::string_view version) {
  Json capabilities = {{"tools", Json::object()}, {"resources", Json::object()}, {"prompts", Json::object()}};
  return {{"protocolVersion", version},
          {"capabilities", std::move(capabilities)},
          {"serverInfo", {{"name", "osler"}, {"title", "Osler"}, {"version", osler::version()}}},
          {"instructions", kInstructions}};
}

Answered list_resources(const Json& params) {
  std::size_t first = 0;
  if (const Json* const cursor = member(params, "cursor")) {
    const auto* const text = cursor->get_ptr<const std::string*>();
    if (text == nullptr) return Refusal{kInvalidParams, "cursor: a string from an earlier answer is needed", {}};
    const auto [end, failure] = std::from_chars(text->data(), text->data() + text->size(), first);
    if (failure != std::errc{} || end != text->data() + text->size() || first >= pages().size()) {
      return Refusal{kInvalidParams, "cursor: not one of ours", {}};
    }
  }
  const std::size_t last = std::min(first + kPagesAtOnce, pages().size());
  Json listed = Json::array();
  for (std::size_t i = first; i < last; ++i) {
    const Page& page = pages()[i];
    listed.push_back(
        {{"uri", page.uri}, {"name", page.id}, {"description", page.title}, {"mimeType", "text/markdown"}});
  }
  Json result = {{"resources", std::move(listed)}};
  if (last < pages().size()) result["nextCursor"] = std::to_string(last);
  return result;
}

Json list_templates() {
  Json listed = Json::array();
  for (const PageKind& kind : page_kinds()) {
    listed.push_back({{"uriTemplate", fmt::format("osler://{}/{{id}}", kind.name)},
                      {"name", kind.name},
                      {"description", kind.about},
                      {"mimeType", "text/markdown"}});
  }
  return {{"resourceTemplates", std::move(listed)}};
}

Answered read_resource(const Json& params) {
  const std::string* const uri = string_member(params, "uri");
  if (uri == nullptr) return Refusal{kInvalidParams, "resources/read needs the string uri", {}};
  const auto page = read_page(*uri);
  if (!page) return Refusal{kResourceNotFound, "there is no such page", {{"uri", *uri}}};
  return Json{{"contents", {{{"uri", *uri}, {"mimeType", "text/markdown"}, {"text", *page}}}}};
}

constexpr const char* kPrompt = "examine-run";

Json list_prompts() {
  Json argument = {{"name", "path"}, {"description", "A log, a run's folder or a folder of runs"}, {"required", true}};
  return {{"prompts",
           {{{"name", kPrompt},
             {"description", "Diagnose a training and propose the change to its code"},
             {"arguments", Json::array({std::move(argument)})}}}}};
}

Answered get_prompt(const Json& params) {
  const std::string* const name = string_member(params, "name");
  if (name == nullptr || *name != kPrompt) return Refusal{kInvalidParams, "there is no such prompt", {}};
  const Json* const arguments = member(params, "arguments");
  const std::string* const path =
      arguments != nullptr && arguments->is_object() ? string_member(*arguments, "path") : nullptr;
  if (path == nullptr) return Refusal{kInvalidParams, "the prompt needs the argument path", {}};
  const std::string text = fmt::format(
      "Examine the training at {} with Osler's diagnose. Tell me the verdict and since which step it holds, which "
      "cause "
      "is likeliest and what speaks against it, and look at the curves with plot. Then find the place in the training "
      "code that the first remedy concerns and propose the change. Do not change anything before I agree.",
      *path);
  Json content = {{"type", "text"}, {"text", text}};
  return Json{{"description", "Examine a training"},
              {"messages", {{{"role", "user"}, {"content", std::move(content)}}}}};
}

}  // namespace

/// One message that was parsed, on its way to an answer.
class Session::Exchange {
 public:
  Exchange(Session& session, const Json& message) : session_(session), message_(message) {}

  /// The answer, or null where there is none to give.
  Json answer() {
    if (!message_.is_object()) return error_message(nullptr, {kInvalidRequest, "a message is a JSON object", {}});
    const Json* const id = member(message_, "id");
    const bool right_id = id == nullptr || id->is_string() || id->is_number_integer();
    const Json shown_id = id != nullptr && right_id ? *id : Json();
    const std::string* const version = string_member(message_, "jsonrpc");
    if (version == nullptr || *version != "2.0") {
      return error_message(shown_id, {kInvalidRequest, "jsonrpc must be \"2.0\"", {}});
    }
    if (!right_id) return error_message(nullptr, {kInvalidRequest, "id must be a string or a whole number", {}});
    const std::string* const method = string_member(message_, "method");
    if (method == nullptr) {
      // An answer to a request of ours; we make none, so there is nothing to do with it.
      if (message_.contains("result") || message_.contains("error")) return {};
      return error_message(shown_id, {kInvalidRequest, "method must be a string", {}});
    }
    if (id == nullptr) return {};  // notifications tell us nothing that we act on
    Answered answered = served(*method);
    if (const auto* const refusal = std::get_if<Refusal>(&answered)) return error_message(*id, *refusal);
    return {{"jsonrpc", "2.0"}, {"id", *id}, {"result", std::move(std::get<Json>(answered))}};
  }

 private:
  Answered served(const std::string& method) {
    static const Json none = Json::object();
    const Json* params = member(message_, "params");
    if (params == nullptr) params = &none;
    if (!params->is_object()) return Refusal{kInvalidParams, "params must be an object", {}};
    try {
      return dispatched(method, *params);
    } catch (const std::bad_alloc&) {
      return Refusal{kInternalError, "out of memory", {}};
    } catch (const std::exception& error) {
      return Refusal{kInternalError, fmt::format("internal error: {}", error.what()), {}};
    }
  }

  Answered dispatched(const std::string& method, const Json& params) {
    if (method == "initialize") return initialize(params);
    if (method == "ping") return Json::object();
    struct Method {
      std::string_view name;
      Answered (*serve)(Session& session, const Json& params);
    };
    static constexpr std::array kMethods = {
        Method{"tools/list",
               [](Session&, const Json&) -> Answered {
                 return Json{{"tools", Tools::list()}};
               }},
        Method{"tools/call", call_tool},
        Method{"resources/list", [](Session&, const Json& asked) { return list_resources(asked); }},
        Method{"resources/templates/list", [](Session&, const Json&) -> Answered { return list_templates(); }},
        Method{"resources/read", [](Session&, const Json& asked) { return read_resource(asked); }},
        Method{"prompts/list", [](Session&, const Json&) -> Answered { return list_prompts(); }},
        Method{"prompts/get", [](Session&, const Json& asked) { return get_prompt(asked); }},
    };
    const auto* const found =
        std::find_if(kMethods.begin(), kMethods.end(), [&](const Method& each) { return each.name == method; });
    // Unknown methods before the greeting, too: clients find out by them what a server speaks.
    if (found == kMethods.end()) return Refusal{kMethodNotFound, "no such method", {{"method", method}}};
    if (session_.version_.empty()) return Refusal{kInvalidRequest, "initialize comes first", {}};
    return found->serve(session_, params);
  }

  Answered initialize(const Json& params) {
    const std::string* const asked = string_member(params, "protocolVersion");
    if (asked == nullptr) return Refusal{kInvalidParams, "initialize needs the string protocolVersion", {}};
    const bool known = std::find(kVersions.begin(), kVersions.end(), *asked) != kVersions.end();
    session_.version_ = known ? *asked : std::string(kVersions.back());
    return initialized(session_.version_);
  }

  static Answered call_tool(Session& session, const Json& params) {
    static const Json none = Json::object();
    const std::string* const name = string_member(params, "name");
    if (name == nullptr) return Refusal{kInvalidParams, "tools/call needs the string name", {}};
    if (!Tools::knows(*name)) return Refusal{kInvalidParams, fmt::format("there is no tool '{}'", *name), {}};
    const Json* arguments = member(params, "arguments");
    if (arguments == nullptr) arguments = &none;
    if (!arguments->is_object()) return Refusal{kInvalidParams, "arguments must be an object", {}};
    return session.tools_.call(*name, *arguments);
  }

  Session& session_;
  const Json& message_;
};

std::string Session::refuse_length() {
  const std::string why = fmt::format("a message may have at most {} bytes", kLongestMessage);
  return line_of(error_message(nullptr, {kParseError, why, {}}));
}

std::optional<std::string> Session::answer(std::string_view line) {
  if (line.find_first_not_of(" \t\r\n") == std::string_view::npos) return std::nullopt;
  if (line.size() > kLongestMessage) return refuse_length();
  if (depth_of(line) > kDeepest) {
    return line_of(error_message(nullptr, {kParseError, "nested too deep to be a message", {}}));
  }
  const Json message = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (message.is_discarded()) return line_of(error_message(nullptr, {kParseError, "not JSON", {}}));
  if (!message.is_array()) {
    const Json answered = Exchange(*this, message).answer();
    return answered.is_null() ? std::nullopt : std::optional(line_of(answered));
  }
  // Batches left the protocol with its newest version.
  if (message.empty() || message.size() > kLongestBatch || version_ == kVersions.back()) {
    const std::string why = version_ == kVersions.back() ? fmt::format("protocol {} has no batches", version_)
                                                         : fmt::format("a batch holds 1 to {} messages", kLongestBatch);
    return line_of(error_message(nullptr, {kInvalidRequest, why, {}}));
  }
  Json answers = Json::array();
  for (const Json& each : message) {
    if (Json answered = Exchange(*this, each).answer(); !answered.is_null()) answers.push_back(std::move(answered));
  }
  return answers.empty() ? std::nullopt : std::optional(line_of(answers));
}

}  // namespace osler::cli::mcp
