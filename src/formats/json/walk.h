// Walking a JSON document from front to back, forgiving what trainers write: NaN, Infinity, broken UTF-8.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "osler/base/result.h"

namespace osler {

/// Told what a JSON document holds, in its order. The texts live for the call only.
class JsonVisitor {
 public:
  virtual ~JsonVisitor() = default;

  virtual void begin_object() = 0;
  virtual void key(std::string_view name) = 0;
  virtual void end_object() = 0;
  virtual void begin_array() = 0;
  virtual void end_array() = 0;
  virtual void number(double value) = 0;
  virtual void text(std::string_view value) = 0;
  virtual void nothing() = 0;  ///< null
  virtual void truth(bool value) = 0;
};

/// Walks documents, one after another. Nothing deeper than kDeepest is visited.
class JsonWalker {
 public:
  static constexpr int kDeepest = 64;

  JsonWalker();
  ~JsonWalker();
  JsonWalker(const JsonWalker&) = delete;
  JsonWalker& operator=(const JsonWalker&) = delete;

  /// Visits one object or array. An error (`corrupt`) says at which byte of `text` the walk ended, in `context`; what
  /// came before it has been visited.
  [[nodiscard]] Result<void> walk(std::string_view text, JsonVisitor& visitor);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The first object or array of a text.
struct JsonExtent {
  std::size_t begin = 0;
  std::size_t end = 0;  ///< behind it, or behind the last complete value when the document is cut off
  std::string closers;  ///< the brackets that are missing then; empty when the document is whole
  bool found = false;
};

/// Where the first object or array at or after `from` lies.
[[nodiscard]] JsonExtent find_json(std::string_view text, std::size_t from);

}  // namespace osler
