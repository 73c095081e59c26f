// A JSON object as configuration.
#include "formats/json/config.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "formats/json/walk.h"

namespace osler {
namespace {

class ConfigVisitor final : public JsonVisitor {
 public:
  explicit ConfigVisitor(EventSink& sink) : sink_(sink) {}

  void begin_object() override { path_.push_back(key_); }
  void key(std::string_view name) override { key_ = name; }
  void end_object() override { path_.pop_back(); }
  void begin_array() override { ++arrays_; }
  void end_array() override { --arrays_; }
  void number(double value) override { add(fmt::format("{}", value)); }
  void text(std::string_view value) override { add(value.substr(0, kLongestText)); }
  void nothing() override { add("null"); }
  void truth(bool value) override { add(value ? "true" : "false"); }

 private:
  static constexpr std::size_t kLongestText = 1000;

  void add(std::string_view value) {
    if (arrays_ > 0) return;
    std::string name;
    for (std::size_t i = 1; i < path_.size(); ++i) name += path_[i] + "/";
    sink_.config(name + key_, value);
  }

  EventSink& sink_;
  std::vector<std::string> path_;  // the keys of the objects that are open
  std::string key_;
  int arrays_ = 0;
};

}  // namespace

void json_to_config(std::string_view text, EventSink& sink) {
  JsonWalker walker;
  ConfigVisitor visitor(sink);
  // A comment is not worth a complaint: what was visited before the error stands.
  static_cast<void>(walker.walk(text, visitor));
}

}  // namespace osler
