// Decoding the hparams plugin's messages.
#include "formats/tensorboard/hparams.h"

#include <fmt/format.h>

#include <protozero/pbf_reader.hpp>
#include <string>

namespace osler {
namespace {

using Reader = protozero::pbf_reader;
constexpr auto kBytes = protozero::pbf_wire_type::length_delimited;

/// A google.protobuf.Value as text; empty for lists and objects.
std::string value_text(Reader value) {
  std::string text;
  while (value.next()) {
    switch (value.tag_and_type()) {
      case protozero::tag_and_type(2, protozero::pbf_wire_type::fixed64):
        text = fmt::format("{}", value.get_double());
        break;
      case protozero::tag_and_type(3, kBytes):
        text = value.get_string();
        break;
      case protozero::tag_and_type(4, protozero::pbf_wire_type::varint):
        text = value.get_bool() ? "true" : "false";
        break;
      default:
        value.skip();
    }
  }
  return text;
}

}  // namespace

void hparams_to_config(std::string_view message, EventSink& sink) {
  constexpr std::size_t kLongestText = 1000;
  Reader data(message.data(), message.size());
  while (data.next(3, kBytes)) {  // session_start_info
    Reader start = data.get_message();
    while (start.next(1, kBytes)) {  // hparams, a map
      Reader entry = start.get_message();
      std::string key;
      std::string text;
      while (entry.next()) {
        if (entry.tag_and_type() == protozero::tag_and_type(1, kBytes)) {
          key = entry.get_string();
        } else if (entry.tag_and_type() == protozero::tag_and_type(2, kBytes)) {
          text = value_text(entry.get_message());
        } else {
          entry.skip();
        }
      }
      sink.config(key, std::string_view(text).substr(0, kLongestText));
    }
  }
}

}  // namespace osler
