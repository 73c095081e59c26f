// Decoding events: a short way for plain scalars, which are nearly all there is, and a long one for everything else.
#include "formats/tensorboard/events.h"

#include <cmath>
#include <cstring>
#include <protozero/pbf_message.hpp>

#include "formats/tensorboard/hparams.h"
#include "formats/tensorboard/tensors.h"

#include "base/tensorboard_fields.h"

namespace osler {
namespace {

enum class EventField : protozero::pbf_tag_type { wall_time = 1, step = 2, summary = 5, session_log = 7 };
enum class ValueField : protozero::pbf_tag_type {
  tag = 1,
  simple_value = 2,
  histogram = 5,
  tensor = 8,
  metadata = 9,
  exact = kExactScalarField,
  figures_beside = kFiguresBesideField,
};

constexpr auto kBytes = protozero::pbf_wire_type::length_delimited;
constexpr auto kVarint = protozero::pbf_wire_type::varint;
constexpr auto kFixed32 = protozero::pbf_wire_type::fixed32;
constexpr auto kFixed64 = protozero::pbf_wire_type::fixed64;

// The first bytes of the fields that plain scalars are made of: number << 3 | wire type.
constexpr char kWallTimeByte = 0x09;
constexpr char kStepByte = 0x10;
constexpr char kSummaryByte = 0x2A;
constexpr char kValueByte = 0x0A;
constexpr char kTagByte = 0x0A;
constexpr char kSimpleValueByte = 0x15;

std::string_view view(protozero::data_view data) {
  return {data.data(), data.size()};
}

/// Reads a varint and moves `at` behind it; false when it does not end within ten bytes.
inline bool read_varint(const char*& at, const char* end, std::uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; at != end && shift < 70; shift += 7) {
    const auto byte = static_cast<unsigned char>(*at++);
    value |= static_cast<std::uint64_t>(byte & 0x7F) << (shift & 63);
    if ((byte & 0x80) == 0) return true;
  }
  return false;
}

/// Reads a length and checks that as much is there.
inline bool read_length(const char*& at, const char* end, std::uint64_t& length) {
  return read_varint(at, end, length) && length <= static_cast<std::uint64_t>(end - at);
}

/// The plugin a SummaryMetadata names, and the plugin's own data.
struct PluginData {
  std::string_view name;
  std::string_view content;
};

PluginData decode_metadata(std::string_view bytes) {
  PluginData data;
  protozero::pbf_reader metadata(bytes.data(), bytes.size());
  while (metadata.next(1, kBytes)) {
    protozero::pbf_reader plugin = metadata.get_message();
    while (plugin.next()) {
      if (plugin.tag_and_type() == protozero::tag_and_type(1, kBytes)) {
        data.name = view(plugin.get_view());
      } else if (plugin.tag_and_type() == protozero::tag_and_type(2, kBytes)) {
        data.content = view(plugin.get_view());
      } else {
        plugin.skip();
      }
    }
  }
  return data;
}

/// Whether a SessionLog says that a session starts.
bool starts_session(std::string_view bytes) {
  protozero::pbf_reader log(bytes.data(), bytes.size());
  bool starts = false;
  while (log.next(1, kVarint)) starts = log.get_int32() == 1;
  return starts;
}

}  // namespace

struct EventDecoder::Value {
  std::string_view tag;
  double simple_value = 0;
  bool has_simple_value = false;
  std::string_view histogram;
  std::string_view tensor;
  std::string_view metadata;
  bool figures_beside = false;  // of the histogram, as scalars

  explicit Value(std::string_view bytes) {
    protozero::pbf_message<ValueField> message(bytes.data(), bytes.size());
    while (message.next()) {
      switch (message.tag_and_type()) {
        case tag_and_type(ValueField::tag, kBytes):
          tag = view(message.get_view());
          break;
        case tag_and_type(ValueField::simple_value, kFixed32):
          simple_value = message.get_float();
          has_simple_value = true;
          break;
        case tag_and_type(ValueField::exact, kFixed64):  // comes behind the simple value, and takes its place
          simple_value = message.get_double();
          break;
        case tag_and_type(ValueField::histogram, kBytes):
          histogram = view(message.get_view());
          break;
        case tag_and_type(ValueField::tensor, kBytes):
          tensor = view(message.get_view());
          break;
        case tag_and_type(ValueField::metadata, kBytes):
          metadata = view(message.get_view());
          break;
        case tag_and_type(ValueField::figures_beside, kVarint):
          figures_beside = message.get_bool();
          break;
        default:
          message.skip();
      }
    }
  }
};

bool EventDecoder::decode(std::span<const std::byte> message, EventSink& sink) {
  const char* data = reinterpret_cast<const char*>(message.data());
  try {
    if (!decode_plain(data, data + message.size(), sink)) decode_any({data, message.size()}, sink);
    return true;
  } catch (const protozero::exception&) {
    return false;
  }
}

bool EventDecoder::decode_plain(const char* at, const char* end, EventSink& sink) {
  if (end - at < 12 || *at != kWallTimeByte) return false;
  Moment moment;
  std::memcpy(&moment.wall_time, at + 1, sizeof moment.wall_time);
  if (moment.wall_time == 0) moment.wall_time = kNoTime;
  at += 9;
  std::uint64_t number = 0;
  if (*at == kStepByte) {
    if (!read_varint(++at, end, number)) return false;
    moment.step = static_cast<std::int64_t>(number);
  }
  if (at == end || *at != kSummaryByte || !read_length(++at, end, number)) return false;
  if (number != static_cast<std::uint64_t>(end - at)) return false;
  values({at, static_cast<std::size_t>(number)}, moment, sink);
  return true;
}

void EventDecoder::decode_any(std::string_view bytes, EventSink& sink) {
  Moment moment;
  std::string_view summary;
  bool starts = false;
  protozero::pbf_message<EventField> message(bytes.data(), bytes.size());
  while (message.next()) {
    switch (message.tag_and_type()) {
      case tag_and_type(EventField::wall_time, kFixed64):
        moment.wall_time = message.get_double();
        break;
      case tag_and_type(EventField::step, kVarint):
        moment.step = message.get_int64();
        break;
      case tag_and_type(EventField::summary, kBytes):
        summary = view(message.get_view());
        break;
      case tag_and_type(EventField::session_log, kBytes):
        starts = starts_session(view(message.get_view()));
        break;
      default:
        message.skip();
    }
  }
  // An event always has a time; who does not know it writes 0.
  if (moment.wall_time == 0) moment.wall_time = kNoTime;
  if (starts) session_start(moment, sink);
  values(summary, moment, sink);
}

void EventDecoder::session_start(const Moment& moment, EventSink& sink) const {
  // What earlier sessions wrote from this step on is void. A session that evaluates in a folder of its own says nothing
  // about the training beside it.
  if (moment.step <= 0) return;
  const std::string step = std::to_string(moment.step);
  if (prefix_.empty()) {
    sink.add(Mark{Mark::Kind::restart, moment.step, moment.wall_time, "training was resumed at step " + step});
  } else {
    sink.add(Mark{Mark::Kind::note, moment.step, moment.wall_time, "a session starts at step " + step});
  }
}

void EventDecoder::values(std::string_view summary, const Moment& moment, EventSink& sink) {
  const char* at = summary.data();
  const char* const end = at + summary.size();
  while (at != end) {
    std::uint64_t length = 0;
    if (*at != kValueByte || !read_length(++at, end, length)) throw protozero::end_of_buffer_exception();
    if (!plain_value(at, at + length, moment, sink)) value({at, static_cast<std::size_t>(length)}, moment, sink);
    at += length;
  }
}

bool EventDecoder::plain_value(const char* at, const char* end, const Moment& moment, EventSink& sink) {
  if (end - at < 7 || at[0] != kTagByte || at[1] < 0) return false;  // tags of up to 127 bytes
  const std::size_t length = static_cast<std::size_t>(at[1]);
  const char* const name = at + 2;
  if (static_cast<std::size_t>(end - name) != length + 5 || name[length] != kSimpleValueByte) return false;
  float number = 0;
  std::memcpy(&number, name + length + 1, sizeof number);
  const std::uint32_t id = find_tag({name, length});
  if (id != kNone) scalar(tags_[id], number, moment, sink);
  return true;
}

void EventDecoder::value(std::string_view bytes, const Moment& moment, EventSink& sink) {
  const Value value(bytes);
  const std::uint32_t id = find_tag(value.tag);
  if (id == kNone) return;
  Tag& tag = tags_[id];
  if (!value.metadata.empty()) {
    const PluginData data = decode_metadata(value.metadata);
    if (!data.name.empty()) tag.plugin = data.name;
    if (data.name == "hparams") hparams_to_config(data.content, sink);
  }
  if (value.has_simple_value) scalar(tag, value.simple_value, moment, sink);
  if (!value.histogram.empty()) {
    if (const auto figures = figures_of_proto(value.histogram, distribution_)) {
      if (!value.figures_beside) tell_figures(tag, *figures, moment, sink);
      tell_distribution(tag, moment, sink);
    }
  }
  if (!value.tensor.empty()) tensor(tag, value.tensor, moment, sink);
}

void EventDecoder::tensor(Tag& tag, std::string_view message, const Moment& moment, EventSink& sink) {
  // Other plugins keep images, audio, curves and meshes in tensors.
  const bool known =
      tag.plugin.empty() || tag.plugin == "scalars" || tag.plugin == "histograms" || tag.plugin == "text";
  if (!known) return;
  const DecodedTensor decoded = decode_tensor(message);
  if (tag.plugin == "histograms") {
    if (decoded.shape.size() != 2 || decoded.shape[1] != 3) return;
    if (const auto figures = figures_of_rows(decoded.numbers)) {
      distribution_of_rows(decoded.numbers, *figures, distribution_);
      tell_figures(tag, *figures, moment, sink);
      tell_distribution(tag, moment, sink);
    }
  } else if (!decoded.texts.empty()) {
    if (tag.plugin == "text") text(tag.name, decoded.texts.front(), moment, sink);
  } else if (decoded.numbers.size() == 1) {
    scalar(tag, decoded.numbers.front(), moment, sink);
  }
}

/// Texts are configuration. Osler's own event files have it under config/, and what happened to the run under mark/.
void EventDecoder::text(std::string_view tag, std::string_view words, const Moment& moment, EventSink& sink) {
  constexpr std::size_t kLongestText = 1000;
  constexpr std::string_view kConfig = "config/";
  constexpr std::pair<std::string_view, Mark::Kind> kMarks[] = {{"mark/restart", Mark::Kind::restart},
                                                                {"mark/finished", Mark::Kind::finished},
                                                                {"mark/crashed", Mark::Kind::crashed},
                                                                {"mark/note", Mark::Kind::note}};
  words = words.substr(0, kLongestText);
  for (const auto& [name, kind] : kMarks) {
    if (tag == name) return sink.add(Mark{kind, moment.step, moment.wall_time, std::string(words)});
  }
  sink.config(tag.starts_with(kConfig) ? tag.substr(kConfig.size()) : tag, words);
}

void EventDecoder::scalar(Tag& tag, double value, const Moment& moment, EventSink& sink) {
  if (tag.series == kNone) tag.series = sink.series(prefix_ + tag.name);
  sink.add(Event{tag.series, moment.step, moment.wall_time, value});
}

template <typename Figures>
void EventDecoder::tell_figures(Tag& tag, const Figures& figures, const Moment& moment, EventSink& sink) {
  constexpr const char* kSuffixes[] = {"#mean", "#std", "#min", "#max", "#norm", "#zero-share"};
  const double numbers[] = {figures.mean, figures.std,  figures.min,
                            figures.max,  figures.norm, figures.zero_share.value_or(0)};
  for (std::size_t i = 0; i < std::size(numbers); ++i) {
    if (i == 5 && !figures.zero_share) continue;
    if (tag.histogram[i] == kNone) tag.histogram[i] = sink.series(prefix_ + tag.name + kSuffixes[i]);
    sink.add(Event{tag.histogram[i], moment.step, moment.wall_time, numbers[i]});
  }
}

void EventDecoder::tell_distribution(Tag& tag, const Moment& moment, EventSink& sink) {
  if (tag.distribution == kNone) tag.distribution = sink.series(prefix_ + tag.name);
  distribution_.series = tag.distribution;
  distribution_.step = moment.step;
  distribution_.wall_time = moment.wall_time;
  sink.distribution(distribution_);
}

std::uint32_t EventDecoder::find_tag(std::string_view name) {
  if (newest_ != kNone) {
    const std::uint32_t guess = tags_[newest_].next;
    if (guess != kNone && tags_[guess].name == name) return newest_ = guess;
  }
  std::uint32_t id = kNone;
  if (const auto known = ids_.find(name); known != ids_.end()) {
    id = known->second;
  } else if (tags_.size() < kMostTags) {
    id = static_cast<std::uint32_t>(tags_.size());
    tags_.push_back({});
    tags_.back().name = name;
    ids_.emplace(std::string(name), id);
  } else {
    return kNone;
  }
  if (newest_ != kNone) tags_[newest_].next = id;
  return newest_ = id;
}

}  // namespace osler
