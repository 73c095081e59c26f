// Notes that a person attaches to a run: inside a run file, or in a file beside any other log.
#pragma once

#include <filesystem>
#include <string_view>

#include "osler/base/file_system.h"
#include "osler/base/result.h"
#include "osler/run/run.h"
#include "osler/source/source.h"

namespace osler {

/// Behind a log's own name: "metrics.csv" has its notes in "metrics.csv.notes.jsonl".
inline constexpr std::string_view kNotesEnding = ".notes.jsonl";

/// Where the notes beside a run are kept, one JSON object on each line; empty for a pipe, which has no place.
[[nodiscard]] std::filesystem::path notes_file(const Source& source);

/// Attaches a note and says which file holds it now. A run file takes it itself, unless someone may still be writing
/// it: then, and for every other log, it goes into the file beside it. `note` must be of that kind and have a text.
[[nodiscard]] Result<std::filesystem::path> add_note(const Source& source, const Mark& note);

/// Adds the notes beside `source` to `run`. A line that is no note counts as damage; no file is no failure.
void read_notes(FileSystem& files, const Source& source, Run& run);

}  // namespace osler
