// Reading whole JSON documents: arrays of records, histories, the state files of trainers.
#pragma once

#include <memory>
#include <string>

#include "osler/formats/format.h"

namespace osler {

/// A reader of JSON documents. `name` is what a series is called that has no name in the document.
[[nodiscard]] std::unique_ptr<Reader> make_json_document_reader(std::string name);

}  // namespace osler
