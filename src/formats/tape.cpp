// Recording and playing events.
#include "formats/tape.h"

namespace osler {

SeriesId EventTape::series(std::string_view name) {
  aside(Name{std::string(name)});
  return names_++;
}

void EventTape::aside(Aside entry) {
  recording_.asides.emplace_back(recording_.events.size(), std::move(entry));
  if (recording_.asides.size() >= kChunkEvents) hand_over();
}

void EventTape::distribution(const Histogram& histogram) {
  numbers_ += histogram.limits.size() + histogram.counts.size();
  aside(histogram);
  if (numbers_ >= kChunkNumbers) hand_over();
}

void EventTape::hand_over() {
  numbers_ = 0;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return waiting_.size() < kLongest; });
  waiting_.push_back(std::move(recording_));
  recording_ = {};
  if (!spare_.empty()) {
    recording_ = std::move(spare_.back());
    spare_.pop_back();
  }
  changed_.notify_all();
}

void EventTape::close() {
  hand_over();
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

void EventTape::play_aside(Aside& entry, EventSink& sink) {
  if (auto* name = std::get_if<Name>(&entry)) {
    played_ids_.push_back(sink.series(name->text));
  } else if (auto* mark = std::get_if<Mark>(&entry)) {
    sink.add(std::move(*mark));
  } else if (const auto* setting = std::get_if<std::pair<std::string, std::string>>(&entry)) {
    sink.config(setting->first, setting->second);
  } else if (auto* histogram = std::get_if<Histogram>(&entry)) {
    histogram->series = played_ids_[histogram->series];
    sink.distribution(*histogram);
  }
}

bool EventTape::play(EventSink& sink) {
  Chunk chunk;
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !waiting_.empty() || closed_; });
    if (waiting_.empty()) return false;
    chunk = std::move(waiting_.front());
    waiting_.pop_front();
    changed_.notify_all();
  }
  std::size_t next = 0;
  for (auto& [before, entry] : chunk.asides) {
    for (; next < before; ++next) {
      chunk.events[next].series = played_ids_[chunk.events[next].series];
      sink.add(chunk.events[next]);
    }
    play_aside(entry, sink);
  }
  for (; next < chunk.events.size(); ++next) {
    chunk.events[next].series = played_ids_[chunk.events[next].series];
    sink.add(chunk.events[next]);
  }
  chunk.events.clear();
  chunk.asides.clear();
  const std::lock_guard lock(mutex_);
  spare_.push_back(std::move(chunk));
  return true;
}

}  // namespace osler
