// The log of a training as its user would have written it: some columns, some rounding, one of many formats.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "history.h"
#include "random.h"
#include "recipe.h"

namespace osler::population {

/// The formats of logs.
enum class Format { csv, json_lines, lightning_csv, dicts, keras_text, bar_text, sentence_text };
/// How often something is written.
enum class Grain { every_step, every_few, every_epoch, both };

/// How a training is logged.
struct Style {
  Format format = Format::csv;
  Grain grain = Grain::every_epoch;
  long every = 1;         ///< Steps between two records of the finer grain.
  std::size_t names = 0;  ///< Which set of column names.
  int digits = 4;         ///< Decimals of losses and metrics.
  double smoothing = 0;   ///< Of the training loss, as an exponential mean; 0 for none.
  bool averaged = false;  ///< The mean since the last record rather than the last value.
  bool validation = true;
  bool metric = true;
  bool training_metric = true;
  bool rate = true;
  bool norm = true;
  bool layers = false;
  bool epoch = true;
  bool time = false;
  bool percent = false;
  bool configuration = false;
};

/// The words for a format and a grain.
std::string_view word(Format format);
std::string_view word(Grain grain);
/// What a log's file is called.
std::string_view file_name(Format format);
/// Draws how a training is logged.
Style draw_style(const Recipe& recipe, Random& random);
/// Writes the log; also counts its records.
std::string write_log(const Recipe& recipe, const History& history, const Style& style, Random random, long& records);

}  // namespace osler::population
