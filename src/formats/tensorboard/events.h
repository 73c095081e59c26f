// EventDecoder: TensorBoard's Event messages become our events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "osler/run/event.h"

namespace osler {

/// Decodes Event messages one by one and remembers what it learned about their tags. Speaks to one sink for life.
class EventDecoder {
 public:
  /// `prefix` is put before every tag.
  explicit EventDecoder(std::string prefix) : prefix_(std::move(prefix)) {}

  /// Emits what the message holds; false when it is no valid Event.
  [[nodiscard]] bool decode(std::span<const std::byte> message, EventSink& sink);

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  static constexpr std::size_t kMostTags = 1'000'000;

  struct Tag {
    std::string name;
    SeriesId series = kNone;  // made with the first scalar
    SeriesId histogram[6] = {kNone, kNone, kNone, kNone, kNone, kNone};
    SeriesId distribution = kNone;  // made with the first histogram
    std::string plugin;             // which plugin's data it holds, once a message told
    std::uint32_t next = kNone;     // the tag that followed last time: tags come in the same order step after step
  };
  struct Moment {
    double wall_time = kNoTime;
    std::int64_t step = 0;
  };
  struct Value;  // a Summary.Value taken apart

  bool decode_plain(const char* at, const char* end, EventSink& sink);
  void decode_any(std::string_view bytes, EventSink& sink);
  void values(std::string_view summary, const Moment& moment, EventSink& sink);
  void value(std::string_view bytes, const Moment& moment, EventSink& sink);
  bool plain_value(const char* at, const char* end, const Moment& moment, EventSink& sink);
  void tensor(Tag& tag, std::string_view message, const Moment& moment, EventSink& sink);
  template <typename Figures>
  void tell_figures(Tag& tag, const Figures& figures, const Moment& moment, EventSink& sink);
  void tell_distribution(Tag& tag, const Moment& moment, EventSink& sink);
  void session_start(const Moment& moment, EventSink& sink) const;
  static void text(std::string_view tag, std::string_view words, const Moment& moment, EventSink& sink);
  void scalar(Tag& tag, double value, const Moment& moment, EventSink& sink);
  std::uint32_t find_tag(std::string_view name);

  struct NameHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>{}(name); }
  };

  std::string prefix_;
  std::vector<Tag> tags_;
  std::unordered_map<std::string, std::uint32_t, NameHash, std::equal_to<>> ids_;
  std::uint32_t newest_ = kNone;
  Histogram distribution_;  // the newest one; its memory is used again
};

}  // namespace osler
