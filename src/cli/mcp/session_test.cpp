// The protocol, with clients that keep to it and clients that do not.
#include "cli/mcp/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "cli/mcp/pages.h"
#include "osler/run/experiment.h"
#include "osler/runfile/writer.h"

namespace osler::cli::mcp {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr int kParseError = -32700;
constexpr int kInvalidRequest = -32600;
constexpr int kMethodNotFound = -32601;
constexpr int kInvalidParams = -32602;
constexpr int kResourceNotFound = -32002;

const std::filesystem::path kLogs = std::filesystem::path(OSLER_SOURCE_DIR) / "examples" / "logs";

class Conversation : public testing::Test {
 protected:
  Session session_{Tools(*ConfinedFiles::below({kLogs.string()}), std::stop_token{})};

  std::optional<Json> say(const std::string& line) {
    const auto answer = session_.answer(line);
    if (!answer) return std::nullopt;
    EXPECT_EQ(answer->find('\n'), std::string::npos) << "an answer is one line";
    return Json::parse(*answer);
  }

  Json ask(const std::string& method, const Json& params = Json::object()) {
    const Json request = {{"jsonrpc", "2.0"}, {"id", ++id_}, {"method", method}, {"params", params}};
    const auto answer = say(request.dump());
    EXPECT_TRUE(answer.has_value()) << method;
    if (!answer) return {};
    EXPECT_EQ((*answer)["id"], id_);
    EXPECT_EQ((*answer)["jsonrpc"], "2.0");
    return *answer;
  }

  Json greet(const std::string& version = "2025-06-18") {
    const Json client = {{"name", "test"}, {"version", "1"}};
    return ask("initialize",
               {{"protocolVersion", version}, {"capabilities", Json::object()}, {"clientInfo", client}})["result"];
  }

  /// The text of a tool's answer; `failed` says whether it must be an error.
  std::string call(const std::string& tool, const Json& arguments, bool failed = false) {
    const Json answer = ask("tools/call", {{"name", tool}, {"arguments", arguments}});
    EXPECT_TRUE(answer.contains("result")) << answer.dump();
    if (!answer.contains("result")) return {};
    EXPECT_EQ(answer["result"]["isError"], failed) << answer.dump();
    return answer["result"]["content"].back()["text"];
  }

  int code_of(const std::string& line) {
    const auto answer = say(line);
    EXPECT_TRUE(answer && answer->contains("error")) << line.substr(0, 200);
    return answer && answer->contains("error") ? (*answer)["error"]["code"].get<int>() : 0;
  }

 private:
  int id_ = 0;
};

TEST_F(Conversation, AgreesOnAVersionBothKnow) {
  for (const char* version : {"2024-11-05", "2025-03-26", "2025-06-18"}) {
    EXPECT_EQ(greet(version)["protocolVersion"], version);
  }
  EXPECT_EQ(greet("2031-01-01")["protocolVersion"], "2025-06-18") << "unknown: the newest of ours";
  const Json hello = greet();
  EXPECT_EQ(hello["serverInfo"]["name"], "osler");
  for (const char* part : {"tools", "resources", "prompts"}) EXPECT_TRUE(hello["capabilities"].contains(part));
  EXPECT_FALSE(hello["capabilities"].contains("logging")) << "what is not there is not offered";
}

TEST_F(Conversation, WaitsForTheGreeting) {
  EXPECT_EQ(ask("tools/list")["error"]["code"], kInvalidRequest);
  EXPECT_EQ(ask("ping")["result"], Json::object());
  EXPECT_EQ(ask("server/discover")["error"]["code"], kMethodNotFound) << "by this newer clients know an older server";
  greet();
  EXPECT_TRUE(ask("tools/list").contains("result"));
}

TEST_F(Conversation, KeepsSilentOnNotificationsAndAnswers) {
  greet();
  EXPECT_FALSE(say(R"({"jsonrpc":"2.0","method":"notifications/initialized"})"));
  EXPECT_FALSE(say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})"));
  EXPECT_FALSE(say(R"({"jsonrpc":"2.0","method":"no/such/notification"})"));
  EXPECT_FALSE(say(R"({"jsonrpc":"2.0","id":7,"result":{}})"));
  EXPECT_FALSE(say(""));
  EXPECT_FALSE(say("  \r"));
}

TEST_F(Conversation, AnswersMalformedMessagesWithErrors) {
  greet();
  EXPECT_EQ(code_of("{"), kParseError);
  EXPECT_EQ(code_of("nonsense"), kParseError);
  EXPECT_EQ(code_of("\xff\xfe{}"), kParseError);
  EXPECT_EQ(code_of(R"({"jsonrpc":"2.0","id":1,"method":"ping"} {})"), kParseError);
  EXPECT_EQ(code_of("\"text\""), kInvalidRequest);
  EXPECT_EQ(code_of("17"), kInvalidRequest);
  EXPECT_EQ(code_of("{}"), kInvalidRequest);
  EXPECT_EQ(code_of(R"({"jsonrpc":"1.0","id":1,"method":"ping"})"), kInvalidRequest);
  EXPECT_EQ(code_of(R"({"jsonrpc":"2.0","id":1})"), kInvalidRequest);
  EXPECT_EQ(code_of(R"({"jsonrpc":"2.0","id":1,"method":5})"), kInvalidRequest);
  for (const char* id : {"null", "{}", "[1]", "1.5", "true"}) {
    EXPECT_EQ(code_of(std::string(R"({"jsonrpc":"2.0","method":"ping","id":)") + id + "}"), kInvalidRequest) << id;
  }
  EXPECT_EQ(code_of(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[1]})"), kInvalidParams);
  EXPECT_EQ(code_of(R"({"jsonrpc":"2.0","id":"a","method":"tools/invent"})"), kMethodNotFound);
}

TEST_F(Conversation, GivesBackTheIdItWasGiven) {
  greet();
  EXPECT_EQ((*say(R"({"jsonrpc":"2.0","id":"ä-7","method":"ping"})"))["id"], "ä-7");
  EXPECT_EQ((*say(R"({"jsonrpc":"2.0","id":-9007199254740991,"method":"ping"})"))["id"], -9007199254740991);
  EXPECT_TRUE((*say("{"))["id"].is_null());
}

TEST_F(Conversation, BoundsWhatItTakesIn) {
  greet();
  EXPECT_EQ(code_of(std::string(500'000, '[')), kParseError) << "no recursion into the deep";
  EXPECT_EQ(code_of(std::string(500'000, '[') + std::string(500'000, ']')), kParseError);
  std::string nested = R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":)";
  for (int i = 0; i < 100'000; ++i) nested += R"({"a":)";
  EXPECT_EQ(code_of(nested), kParseError);
  EXPECT_EQ(code_of(R"({"jsonrpc":"2.0","id":1,"method":")" + std::string(kLongestMessage, 'x') + "\"}"), kParseError);
  EXPECT_EQ(Json::parse(Session::refuse_length())["error"]["code"], kParseError);
  EXPECT_TRUE(say(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"[[[[[[\"[[[[[["}})")->contains("result"))
      << "brackets in strings nest nothing";
}

TEST_F(Conversation, KnowsBatchesWhereTheVersionDoes) {
  const std::string two = R"([{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}])";
  greet("2025-03-26");
  const auto answers = say(two);
  ASSERT_TRUE(answers && answers->is_array());
  EXPECT_EQ(answers->size(), 2U);
  EXPECT_FALSE(say(R"([{"jsonrpc":"2.0","method":"notifications/initialized"}])"));
  EXPECT_EQ(code_of("[]"), kInvalidRequest);
  EXPECT_EQ((*say("[1]"))[0]["error"]["code"], kInvalidRequest);
  std::string many = "[1";
  for (int i = 0; i < 1000; ++i) many += ",1";
  EXPECT_EQ(code_of(many + "]"), kInvalidRequest);
  greet("2025-06-18");
  EXPECT_EQ(code_of(two), kInvalidRequest);
}

TEST_F(Conversation, DescribesItsTools) {
  greet();
  const Json tools = ask("tools/list")["result"]["tools"];
  std::set<std::string> names;
  for (const Json& tool : tools) {
    names.insert(tool["name"]);
    EXPECT_EQ(tool["inputSchema"]["type"], "object");
    EXPECT_FALSE(tool["description"].get<std::string>().empty());
    for (const Json& needed : tool["inputSchema"]["required"]) {
      EXPECT_TRUE(tool["inputSchema"]["properties"].contains(needed.get<std::string>())) << tool["name"];
    }
  }
  EXPECT_EQ(names, (std::set<std::string>{"compare", "diagnose", "explain", "list_runs", "plot", "probe_results"}));
}

TEST_F(Conversation, SaysWhatIsWrongInFewWords) {
  greet();
  const std::string words = call("diagnose", {{"path", "sick.csv"}});
  EXPECT_THAT(words, AllOf(HasSubstr("sick.csv: critical:"), HasSubstr("loss-diverging since step 95"),
                           HasSubstr("lr-too-high"), HasSubstr("lr 10 -> 1")));
  EXPECT_LT(words.size(), 2500U);
  EXPECT_GT(call("diagnose", {{"path", "sick.csv"}, {"detail", "full"}}).size(), words.size());
  EXPECT_EQ(Json::parse(call("diagnose", {{"path", "sick.csv"}, {"detail", "json"}}))["schema"], "osler-report/1");
  EXPECT_THAT(call("diagnose", {{"path", "healthy.csv"}}), HasSubstr("healthy.csv: healthy:"));
}

TEST_F(Conversation, ListsAndExaminesAFolder) {
  greet();
  EXPECT_THAT(call("list_runs", Json::object()), AllOf(HasSubstr("sick.csv (csv)"), HasSubstr("healthy.csv (csv)")));
  const std::string words = call("diagnose", {{"path", "*ick.csv"}});
  EXPECT_THAT(words, HasSubstr("loss-diverging"));
  const std::string many = call("diagnose", {{"path", "."}});
  EXPECT_THAT(many, HasSubstr("the worst first"));
  EXPECT_LT(many.find("sick.csv: critical"), many.find("healthy.csv: healthy"));
}

TEST_F(Conversation, NamesRunsByPathsThatItUnderstands) {
  session_ = Session(Tools(*ConfinedFiles::below({OSLER_SOURCE_DIR}), std::stop_token{}));
  greet();
  EXPECT_THAT(call("list_runs", {{"folder", "examples"}}), HasSubstr("- examples/logs/sick.csv (csv)"));
  EXPECT_THAT(call("diagnose", {{"path", "examples"}}), HasSubstr("- examples/logs/sick.csv: critical"));
  EXPECT_THAT(call("diagnose", {{"path", "examples/logs/sick.csv"}}), HasSubstr("examples/logs/sick.csv: critical"));
}

TEST_F(Conversation, ObeysWhatItIsTold) {
  greet();
  EXPECT_THAT(call("diagnose", {{"path", "sick.csv"}, {"only", {"overfitting"}}}), Not(HasSubstr("loss-diverging")));
  EXPECT_THAT(call("diagnose", {{"path", "sick.csv"}, {"roles", {{"train-los", "train_loss"}}}}, true),
              HasSubstr("did you mean train-loss"));
  EXPECT_THAT(call("diagnose", {{"path", "sick.csv"}, {"settings", {{"loss-diverging.nois", 1}}}}, true),
              HasSubstr("there is no setting"));
  EXPECT_THAT(call("diagnose", {{"path", "sick.csv"}, {"format", "cvs"}}, true), HasSubstr("csv"));
}

TEST_F(Conversation, ComparesExplainsAndDraws) {
  greet();
  EXPECT_THAT(call("compare", {{"a", "healthy.csv"}, {"b", "sick.csv"}}), HasSubstr("loss-diverging"));
  EXPECT_EQ(Json::parse(call("compare", {{"a", "healthy.csv"}, {"b", "sick.csv"}, {"detail", "json"}}))["schema"],
            "osler-comparison/1");
  const std::string page = call("explain", {{"id", "overfitting"}});
  EXPECT_THAT(page, AllOf(HasSubstr("# "), HasSubstr("When it is harmless"), Not(HasSubstr("## References"))));
  EXPECT_GT(call("explain", {{"id", "overfitting"}, {"detail", "full"}}).size(), page.size());
  EXPECT_THAT(call("explain", {{"id", "loss-diverging.stays"}}), HasSubstr("a setting of loss-diverging"));
  EXPECT_THAT(call("explain", {{"id", "overfiting"}}, true), HasSubstr("did you mean overfitting"));
  const Json drawn = ask("tools/call", {{"name", "plot"}, {"arguments", {{"path", "sick.csv"}}}})["result"];
  EXPECT_EQ(drawn["content"][0]["type"], "image");
  EXPECT_EQ(drawn["content"][0]["mimeType"], "image/png");
  EXPECT_TRUE(drawn["content"][0]["data"].get<std::string>().starts_with("iVBORw0KGgo")) << "PNG's first bytes";
  EXPECT_THAT(call("plot", {{"path", "sick.csv"}, {"kind", "curve"}}, true), HasSubstr("did you mean curves"));
}

TEST_F(Conversation, TellsWhatProbesMeasured) {
  greet();
  EXPECT_THAT(call("probe_results", {{"path", "sick.csv"}}), HasSubstr("holds no result of a probe"));
  std::string folder = (std::filesystem::temp_directory_path() / "osler-mcp-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  Experiment test;
  test.probe = "lr-range-test";
  test.outcome = Experiment::Outcome::passed;
  test.verdict = "Rates from 0.001 to 0.1 train.";
  test.values = {{"steepest-rate", 0.03, 0.01, 0.09}};
  {
    auto writer = RunFileWriter::open(std::filesystem::path(folder) / "run.osler");
    ASSERT_TRUE(writer);
    const SeriesId loss = writer->series("loss");
    for (int step = 0; step < 20; ++step) writer->add(Event{loss, step, kNoTime, 1.0 / (step + 1)});
    writer->config(experiment_key(test.probe), to_json(test));
    ASSERT_TRUE(writer->close());
  }
  session_ = Session(Tools(*ConfinedFiles::below({folder}), std::stop_token{}));
  greet();
  EXPECT_THAT(call("probe_results", {{"path", "run.osler"}}),
              AllOf(HasSubstr("lr-range-test at step 0: passed: Rates from 0.001 to 0.1 train."),
                    HasSubstr("steepest-rate = 0.03 (0.01 to 0.09)")));
  EXPECT_THAT(call("probe_results", {{"path", "run.osler"}, {"probe", "curvature"}}),
              HasSubstr("no result of curvature"));
  EXPECT_EQ(Json::parse(call("probe_results", {{"path", "run.osler"}, {"detail", "json"}}))["probe"], "lr-range-test");
  EXPECT_THAT(call("list_runs", Json::object()), HasSubstr("run.osler (run file)"));
  std::filesystem::remove_all(folder);
}

TEST_F(Conversation, ToolsRefuseWrongArgumentsByName) {
  greet();
  EXPECT_EQ(ask("tools/call", {{"name", "cure"}})["error"]["code"], kInvalidParams);
  EXPECT_EQ(ask("tools/call", {{"name", 3}})["error"]["code"], kInvalidParams);
  EXPECT_EQ(ask("tools/call", {{"name", "diagnose"}, {"arguments", {1}}})["error"]["code"], kInvalidParams);
  EXPECT_THAT(call("diagnose", Json::object(), true), HasSubstr("path: is needed"));
  EXPECT_THAT(call("diagnose", {{"path", 7}}, true), HasSubstr("path: must be a string"));
  EXPECT_THAT(call("diagnose", {{"path", "sick.csv"}, {"detial", "full"}}, true), HasSubstr("did you mean detail"));
  EXPECT_THAT(call("diagnose", {{"path", "sick.csv"}, {"detail", "all"}}, true), HasSubstr("short, full, json"));
  EXPECT_THAT(call("diagnose", {{"path", "sick.csv"}, {"only", "overfitting"}}, true),
              HasSubstr("only: must be an array"));
  EXPECT_THAT(call("plot", {{"path", "sick.csv"}, {"width", 1e9}}, true), HasSubstr("width: must be a whole number"));
  EXPECT_THAT(call("diagnose", {{"path", std::string("sick.csv\0", 9)}}, true), HasSubstr("zero byte"));
  EXPECT_THAT(call("diagnose", {{"path", "-"}}, true), HasSubstr("taken by the protocol"));
  EXPECT_THAT(call("diagnose", {{"path", "nothing.csv"}}, true), HasSubstr("nothing.csv"));
}

TEST_F(Conversation, ReadsNothingOutside) {
  greet();
  for (const char* path : {"/etc/passwd", "../../README.md", "/etc/*", "../python/*", "/", "/no/such/file"}) {
    const std::string words = call("diagnose", {{"path", path}}, true);
    EXPECT_THAT(words, AllOf(HasSubstr("outside"), Not(HasSubstr("root:")), Not(HasSubstr("passwd,")))) << path;
  }
  EXPECT_THAT(call("list_runs", {{"folder", "../*"}}), AllOf(HasSubstr("2 runs"), Not(HasSubstr("python"))))
      << "of what a pattern names, only what lies inside";
  EXPECT_THAT(call("list_runs", {{"folder", "/"}}, true), HasSubstr("outside"));
  EXPECT_THAT(call("plot", {{"path", "/etc/passwd"}}, true), HasSubstr("outside"));
  EXPECT_THAT(call("compare", {{"a", "sick.csv"}, {"b", "/etc/passwd"}}, true), HasSubstr("outside"));
  EXPECT_THAT(call("probe_results", {{"path", "/etc/passwd"}}, true), HasSubstr("outside"));
}

TEST_F(Conversation, ServesTheCatalogueAsPages) {
  greet();
  std::set<std::string> seen;
  Json params = Json::object();
  for (;;) {
    const Json result = ask("resources/list", params)["result"];
    for (const Json& page : result["resources"]) seen.insert(page["uri"].get<std::string>());
    if (!result.contains("nextCursor")) break;
    params["cursor"] = result["nextCursor"];
  }
  EXPECT_EQ(seen.size(), pages().size()) << "every page once";
  for (const std::string& uri : seen) {
    const Json page = ask("resources/read", {{"uri", uri}})["result"]["contents"][0];
    EXPECT_EQ(page["uri"], uri);
    EXPECT_EQ(page["mimeType"], "text/markdown");
    EXPECT_TRUE(page["text"].get<std::string>().starts_with("# ")) << uri;
  }
  EXPECT_TRUE(seen.contains("osler://finding/loss-diverging"));
  EXPECT_EQ(ask("resources/templates/list")["result"]["resourceTemplates"].size(), page_kinds().size());
  EXPECT_EQ(ask("resources/read", {{"uri", "osler://finding/nothing"}})["error"]["code"], kResourceNotFound);
  EXPECT_EQ(ask("resources/read", {{"uri", "file:///etc/passwd"}})["error"]["code"], kResourceNotFound);
  EXPECT_EQ(ask("resources/read")["error"]["code"], kInvalidParams);
  for (const Json& cursor : {Json("x"), Json("-1"), Json("99999"), Json(3), Json("")}) {
    EXPECT_EQ(ask("resources/list", {{"cursor", cursor}})["error"]["code"], kInvalidParams) << cursor;
  }
}

TEST_F(Conversation, OffersAPrompt) {
  greet();
  EXPECT_EQ(ask("prompts/list")["result"]["prompts"][0]["name"], "examine-run");
  const Json got = ask("prompts/get", {{"name", "examine-run"}, {"arguments", {{"path", "runs/a"}}}})["result"];
  EXPECT_THAT(got["messages"][0]["content"]["text"].get<std::string>(), HasSubstr("runs/a"));
  EXPECT_EQ(ask("prompts/get", {{"name", "examine-run"}})["error"]["code"], kInvalidParams);
  EXPECT_EQ(ask("prompts/get", {{"name", "other"}})["error"]["code"], kInvalidParams);
}

/// Good messages with bytes replaced, removed and doubled: an answer or silence, never more.
TEST_F(Conversation, SurvivesDamagedMessages) {
  const std::vector<std::string> good = {
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{}}})",
      R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"explain","arguments":{"id":"overfitting"}}})",
      R"({"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"osler://cause/lr-too-high"}})",
      R"([{"jsonrpc":"2.0","id":4,"method":"resources/list","params":{"cursor":"10"}},{"jsonrpc":"2.0","id":"x"}])",
  };
  std::mt19937 random(20);
  int answered = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string line = good[random() % good.size()];
    for (unsigned changes = random() % 4; changes > 0 && !line.empty(); --changes) {
      const std::size_t at = random() % line.size();
      const unsigned kind = random() % 3;
      if (kind == 0) line[at] = static_cast<char>(random() % 256);
      if (kind == 1) line.erase(at, random() % 5);
      if (kind == 2) line.insert(at, line.substr(at, random() % 12));
    }
    const auto answer = session_.answer(line);
    if (!answer) continue;
    ++answered;
    ASSERT_FALSE(Json::parse(*answer, nullptr, false).is_discarded()) << line;
  }
  EXPECT_GT(answered, 3000);
}

}  // namespace
}  // namespace osler::cli::mcp
