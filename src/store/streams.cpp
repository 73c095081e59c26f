// What the two kinds of streams make of events.
#include <bit>
#include <cmath>

#include "store/identity.h"
#include "store/moving_run.h"

namespace osler::store {
namespace {

std::uint64_t number_of(double wall_time) {
  constexpr double kMicroseconds = 1e6;
  constexpr double kMost = 9e18;
  const double number = wall_time * kMicroseconds;
  return number > 0 && number < kMost ? static_cast<std::uint64_t>(std::llround(number)) : 0;
}

std::string_view raw(const std::uint64_t& number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

std::uint64_t identity_of(std::uint64_t series, const Event& event) {
  const auto step = static_cast<std::uint64_t>(event.step);
  const auto time = std::bit_cast<std::uint64_t>(event.wall_time);
  const auto value = std::bit_cast<std::uint64_t>(event.value);
  return identity({raw(series), raw(step), raw(time), raw(value)});
}

}  // namespace

Origin LogStream::origin() const {
  return {run_.id(), state_.stored.id};
}

bool LogStream::is_new() {
  if (next_++ < skip_) return false;
  run_.changed();
  return true;
}

SeriesId LogStream::series(std::string_view name) {
  const auto [known, fresh] = ids_.try_emplace(std::string(name), static_cast<SeriesId>(hashes_.size()));
  if (fresh) {
    hashes_.push_back(identity({name}));
    run_.hold().pending().series(origin(), hashes_.back(), name, known->second);
  }
  return known->second;
}

void LogStream::add(const Event& event) {
  ++state_.points;
  run_.saw(event);
  if (!is_new()) return;
  run_.hold().pending().point(origin(), hashes_[event.series], next_ - 1, event);
  run_.hold().make_room();
}

void LogStream::add(Mark mark) {
  if (!is_new()) return;
  run_.hold().pending().mark(origin(), next_ - 1, mark);
}

void LogStream::config(std::string_view key, std::string_view value) {
  if (!is_new()) return;
  run_.hold().pending().config(origin(), next_ - 1, key, value);
  run_.hold().make_room();
}

void LogStream::distribution(const Histogram& histogram) {
  if (!is_new()) return;
  run_.hold().pending().histogram(origin(), hashes_[histogram.series], next_ - 1, histogram);
  run_.hold().make_room();
}

void LogStream::read_to(std::uint64_t offset, std::uint64_t fingerprint) {
  // While what the store has already is read again, it knows more than this.
  if (next_ < skip_) return;
  run_.reached(state_, {next_, offset, fingerprint});
}

Origin DatabaseStream::origin() const {
  return {run_.id(), state_->stored.id};
}

SeriesId DatabaseStream::series(std::string_view name) {
  const auto [known, fresh] = ids_.try_emplace(std::string(name), static_cast<SeriesId>(names_.size()));
  if (fresh) {
    names_.emplace_back(name);
    hashes_.push_back(identity({name}));
    if (state_ != nullptr) tell_series(known->second);
  }
  return known->second;
}

void DatabaseStream::tell_series(SeriesId id) {
  run_.hold().pending().series(origin(), hashes_[id], names_[id], id);
}

bool DatabaseStream::resolve(const Event& first) {
  if (state_ != nullptr) return true;
  if (!away_) away_ = run_.stays_away(file_);
  if (*away_) return false;
  const std::uint64_t fingerprint = identity_of(hashes_[first.series], first);
  StreamState* known = run_.known(path_);
  if (known == nullptr || known->stored.is_void || known->stored.format != format_ ||
      known->reached.fingerprint != fingerprint) {
    known = run_.begin_stream(path_, format_, 0, 0, known != nullptr);
  }
  if (known == nullptr) return false;
  state_ = known;
  state_->points = 0;
  for (SeriesId id = 0; id < names_.size(); ++id) tell_series(id);
  run_.reached(*state_, {state_->reached.number, 0, fingerprint});
  for (auto& [key, value] : early_config_) config(key, value);
  for (Mark& mark : early_marks_) add(std::move(mark));
  early_config_.clear();
  early_marks_.clear();
  return true;
}

void DatabaseStream::add(const Event& event) {
  if (!resolve(event)) return;
  ++state_->points;
  run_.saw(event);
  const std::uint64_t series = hashes_[event.series];
  if (!run_.is_news(identity_of(series, event))) return;
  run_.changed();
  run_.hold().pending().point(origin(), series, number_of(event.wall_time), event);
  run_.hold().make_room();
}

void DatabaseStream::add(Mark mark) {
  if (state_ == nullptr) return early_marks_.push_back(std::move(mark));
  run_.changed();
  run_.hold().pending().mark(origin(), number_of(mark.wall_time), mark);
}

void DatabaseStream::config(std::string_view key, std::string_view value) {
  if (state_ == nullptr) {
    early_config_.emplace_back(key, value);
    return;
  }
  run_.changed();
  run_.hold().pending().config(origin(), 0, key, value);
}

void DatabaseStream::distribution(const Histogram& histogram) {
  if (state_ == nullptr) return;
  run_.changed();
  run_.hold().pending().histogram(origin(), hashes_[histogram.series], number_of(histogram.wall_time), histogram);
  run_.hold().make_room();
}

}  // namespace osler::store
