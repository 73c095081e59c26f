// EventTape: carries what one thread reads to another, in order and in bounded memory.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "osler/run/event.h"

namespace osler {

/// One thread records as into any sink and closes the tape; another plays it into the real sink. The recorder waits
/// while the player lags, so a tape holds at most kLongest chunks.
class EventTape final : public EventSink {
 public:
  SeriesId series(std::string_view name) override;
  void add(const Event& event) override {
    recording_.events.push_back(event);
    if (recording_.events.size() >= kChunkEvents) hand_over();
  }
  void add(Mark mark) override { aside(std::move(mark)); }
  void config(std::string_view key, std::string_view value) override {
    aside(std::pair(std::string(key), std::string(value)));
  }
  void distribution(const Histogram& histogram) override;
  /// The recorder is done.
  void close();

  /// Plays what is there into `sink`, waiting for the recorder; false when the tape is closed and all was played.
  [[nodiscard]] bool play(EventSink& sink);

 private:
  static constexpr std::size_t kChunkEvents = 8192;
  static constexpr std::size_t kLongest = 16;
  static constexpr std::size_t kChunkNumbers = std::size_t{1} << 17;  // in the distributions of a chunk

  struct Name {
    std::string text;
  };
  using Aside = std::variant<Name, Mark, std::pair<std::string, std::string>, Histogram>;
  struct Chunk {
    std::vector<Event> events;
    std::vector<std::pair<std::size_t, Aside>> asides;  // each with the number of events before it
  };

  void aside(Aside entry);
  void hand_over();
  void play_aside(Aside& entry, EventSink& sink);

  Chunk recording_;
  std::size_t numbers_ = 0;  // in the distributions of the chunk being recorded
  SeriesId names_ = 0;
  std::vector<SeriesId> played_ids_;  // the sink's number of each of our series

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Chunk> waiting_;
  std::vector<Chunk> spare_;  // emptied chunks: their memory is used again
  bool closed_ = false;
};

}  // namespace osler
