// Events into a sink, batch by batch.
#include "osler/recorder/sink_feed.h"

namespace osler {

SeriesId SinkFeed::series(std::string_view name) {
  const auto [known, fresh] = ids_.try_emplace(std::string(name), static_cast<SeriesId>(names_.size()));
  if (fresh) names_.emplace_back(name);
  return known->second;
}

void SinkFeed::add(const Event& event) {
  events_.push_back(event);
  pass_on_when_full();
}

void SinkFeed::add(Mark mark) {
  // A restart starts a batch.
  if (mark.kind == Mark::Kind::restart) pass_on();
  marks_.push_back(std::move(mark));
}

void SinkFeed::config(std::string_view key, std::string_view value) {
  config_.emplace_back(key, value);
}

void SinkFeed::distribution(const Histogram& histogram) {
  histograms_.push_back(histogram);
  pass_on_when_full();
}

void SinkFeed::pass_on_when_full() {
  constexpr std::size_t kEventsPerHistogram = 64;
  if (events_.size() + histograms_.size() * kEventsPerHistogram >= kBatch) pass_on();
}

void SinkFeed::pass_on() {
  const auto written = sink_->write({names_, config_, {}, marks_, histograms_, events_});
  if (outcome_ && !written) outcome_ = written;
  config_.clear();
  marks_.clear();
  histograms_.clear();
  events_.clear();
}

Result<void> SinkFeed::close() {
  pass_on();
  const auto closed = sink_->close();
  if (outcome_ && !closed) outcome_ = closed;
  return outcome_;
}

}  // namespace osler
