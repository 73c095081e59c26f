// The log of a training as its user would have written it.
#include "journal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>

namespace osler::population {
namespace {

/// The names that belong together in one house; {} stands for the metric.
struct Names {
  std::string_view loss, metric, rate, norm, held_loss, held_metric;
};

constexpr std::array<Names, 12> kNames = {{
    {"loss", "{}", "lr", "grad_norm", "val_loss", "val_{}"},
    {"train_loss", "train_{}", "lr", "grad_norm", "val_loss", "val_{}"},
    {"train/loss", "train/{}", "train/lr", "train/grad_norm", "val/loss", "val/{}"},
    {"training/loss", "training/{}", "learning_rate", "gradient_norm", "validation/loss", "validation/{}"},
    {"tr_loss", "tr_{}", "lr", "gnorm", "va_loss", "va_{}"},
    {"Train Loss", "Train {}", "LR", "Grad Norm", "Val Loss", "Val {}"},
    {"loss", "{}", "learning_rate", "grad_norm", "eval_loss", "eval_{}"},
    {"trainLoss", "train{}", "learningRate", "gradNorm", "valLoss", "val{}"},
    {"loss/train", "{}/train", "lr", "grad_norm", "loss/val", "{}/val"},
    {"train_loss", "train_{}", "lr", "total_norm", "valid_loss", "valid_{}"},
    {"train_loss", "train_{}", "learning_rate", "grad_norm", "test_loss", "test_{}"},
    {"training_loss", "training_{}", "lr", "norm", "validation_loss", "validation_{}"},
}};

std::string metric_name(const Recipe& recipe, const Style& style) {
  const bool short_name = style.names % 2 == 1;
  switch (recipe.metric) {
    case Metric::accuracy:
      return short_name ? "acc" : "accuracy";
    case Metric::perplexity:
      return short_name ? "ppl" : "perplexity";
    default:
      return std::string(word(recipe.metric));
  }
}

std::string filled(std::string_view pattern, const std::string& metric) {
  const std::size_t hole = pattern.find("{}");
  if (hole == std::string_view::npos) return std::string(pattern);
  return std::string(pattern.substr(0, hole)) + metric + std::string(pattern.substr(hole + 2));
}

/// One field of a record: a name and how its number is written.
struct Field {
  std::string name;
  std::string value;
};

/// One record of the log.
struct Record {
  long step = 0;
  double epoch = 0;
  std::vector<Field> training;
  std::vector<Field> held_out;
};

std::string printed(const char* format, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

bool is_json(Format format) {
  return format == Format::json_lines;
}

std::string unusual(double value, Format format) {
  if (std::isnan(value)) return is_json(format) ? "NaN" : "nan";
  const std::string sign = value < 0 ? "-" : "";
  return sign + (is_json(format) ? "Infinity" : "inf");
}

std::string decimals(double value, const Style& style) {
  if (!std::isfinite(value)) return unusual(value, style.format);
  const std::string format = "%." + std::to_string(style.digits) + "f";
  return printed(format.c_str(), value);
}

std::string significant(double value, const Style& style) {
  if (!std::isfinite(value)) return unusual(value, style.format);
  return printed(style.format == Format::bar_text ? "%.2e" : "%.6g", value);
}

class Writer {
 public:
  Writer(const Recipe& recipe, const History& history, const Style& style, Random random)
      : recipe_(recipe),
        history_(history),
        style_(style),
        random_(random),
        names_(kNames[style.names]),
        metric_(metric_name(recipe, style)) {}

  std::vector<Record> records() {
    const long last = static_cast<long>(history_.steps.size());
    std::size_t next_look = 0;
    long pace_from = 0;
    const long every = std::max(1L, style_.every);
    std::vector<Record> all;
    for (long step = 1; step <= last; ++step) {
      smooth(history_.steps[static_cast<std::size_t>(step - 1)].loss);
      const bool looked = next_look < history_.looks.size() && history_.looks[next_look].step == step;
      const bool fine = style_.grain != Grain::every_epoch && step % every == 0;
      const bool coarse = looked && (style_.grain == Grain::every_epoch || style_.validation);
      if (fine || coarse) {
        Record record;
        record.step = step;
        record.epoch = style_.grain == Grain::every_epoch
                           ? static_cast<double>(next_look + 1)
                           : static_cast<double>(step) / static_cast<double>(epoch_steps(recipe_));
        if (fine || style_.grain == Grain::every_epoch) record.training = training_fields(pace_from, step);
        if (fine || style_.grain == Grain::every_epoch) pace_from = step;
        if (coarse && style_.validation) record.held_out = held_out_fields(history_.looks[next_look]);
        if (!record.training.empty() || !record.held_out.empty()) all.push_back(std::move(record));
      }
      if (looked) ++next_look;
    }
    return all;
  }

 private:
  void smooth(double loss) {
    if (style_.smoothing == 0) return;
    mean_ = mean_ ? *mean_ * style_.smoothing + loss * (1 - style_.smoothing) : loss;
  }

  double shown_metric(double value) const {
    const bool share = recipe_.metric == Metric::accuracy || recipe_.metric == Metric::f1;
    return style_.percent && share ? value * 100 : value;
  }

  std::vector<Field> training_fields(long from, long to) {
    const Step& now = history_.steps[static_cast<std::size_t>(to - 1)];
    double loss = now.loss;
    double metric = now.metric;
    double norm = now.gradient_norm;
    if (style_.averaged || style_.grain == Grain::every_epoch) {
      loss = metric = norm = 0;
      for (long i = from; i < to; ++i) {
        const Step& step = history_.steps[static_cast<std::size_t>(i)];
        const auto count = static_cast<double>(to - from);
        loss += step.loss / count;
        metric += step.metric / count;
        norm += step.gradient_norm / count;
      }
    }
    if (mean_) loss = *mean_;
    std::vector<Field> fields = {{std::string(names_.loss), decimals(loss, style_)}};
    if (style_.training_metric && style_.metric && recipe_.metric != Metric::none) {
      fields.push_back({filled(names_.metric, metric_), decimals(shown_metric(metric), style_)});
    }
    if (style_.rate) fields.push_back({std::string(names_.rate), significant(now.rate, style_)});
    if (style_.norm) fields.push_back({std::string(names_.norm), significant(norm, style_)});
    for (std::size_t i = 0; style_.layers && i < now.layer_gradients.size(); ++i) {
      fields.push_back(
          {"grad_norm/" + history_.layers[i], significant(static_cast<double>(now.layer_gradients[i]), style_)});
      fields.push_back(
          {"weight_norm/" + history_.layers[i], significant(static_cast<double>(now.layer_weights[i]), style_)});
    }
    if (style_.layers && now.layer_gradients.empty()) {
      for (const std::string& layer : history_.layers) {
        fields.push_back({"grad_norm/" + layer, unusual(kNothing, style_.format)});
        fields.push_back({"weight_norm/" + layer, unusual(kNothing, style_.format)});
      }
    }
    if (style_.time) {
      // Drawn, not taken from the clock: a seed gives the same log everywhere.
      const double seconds = 0.02 * static_cast<double>(to - from) * std::exp(0.08 * random_.normal());
      fields.push_back({"time", decimals(seconds, style_)});
    }
    return fields;
  }

  std::vector<Field> held_out_fields(const Look& look) const {
    std::vector<Field> fields = {{std::string(names_.held_loss), decimals(look.loss, style_)}};
    if (style_.metric && recipe_.metric != Metric::none) {
      fields.push_back({filled(names_.held_metric, metric_), decimals(shown_metric(look.metric), style_)});
    }
    return fields;
  }

  const Recipe& recipe_;
  const History& history_;
  const Style& style_;
  Random random_;
  Names names_;
  std::string metric_;
  std::optional<double> mean_;
};

std::string configuration(const Recipe& recipe) {
  std::string text = "{\"optimizer\": \"" + std::string(word(recipe.rule)) + "\"";
  text += ", \"lr\": " + printed("%.6g", recipe.rate) + ", \"batch_size\": " + std::to_string(recipe.batch);
  text += ", \"weight_decay\": " + printed("%.6g", recipe.weight_decay) +
          ", \"dropout\": " + printed("%.6g", recipe.dropout);
  text += ", \"scheduler\": \"" + std::string(word(recipe.schedule)) + "\"";
  text += ", \"hidden_size\": " + std::to_string(recipe.width) + ", \"num_layers\": " + std::to_string(recipe.depth);
  text += ", \"loss\": \"" + std::string(word(recipe.objective)) + "\"";
  if (recipe.objective == Objective::cross_entropy) {
    text += ", \"num_classes\": " + std::to_string(recipe.outputs) +
            ", \"label_smoothing\": " + printed("%.3g", recipe.smoothing);
  }
  if (recipe.clip > 0) text += ", \"max_grad_norm\": " + printed("%.4g", recipe.clip);
  if (recipe.schedule == Schedule::warmup_cosine) {
    text +=
        ", \"warmup_steps\": " + std::to_string(static_cast<long>(recipe.warmup * static_cast<double>(recipe.horizon)));
  }
  text +=
      ", \"train_samples\": " + std::to_string(recipe.samples) + ", \"max_steps\": " + std::to_string(recipe.horizon);
  return text + "}";
}

/// Step or epoch, whichever a record is counted by.
std::vector<Field> counters(const Record& record, const Style& style) {
  if (style.grain == Grain::every_epoch) {
    return {{"epoch", std::to_string(std::lround(record.epoch))}};
  }
  std::vector<Field> fields = {{"step", std::to_string(record.step)}};
  if (style.epoch) fields.push_back({"epoch", std::to_string(static_cast<long>(record.epoch))});
  return fields;
}

std::vector<Field> all_fields(const Record& record, const Style& style) {
  std::vector<Field> fields = counters(record, style);
  fields.insert(fields.end(), record.training.begin(), record.training.end());
  fields.insert(fields.end(), record.held_out.begin(), record.held_out.end());
  return fields;
}

std::string table(const Recipe& recipe, const std::vector<Record>& records, const Style& style) {
  std::vector<std::string> columns;
  const auto include = [&](const Field& field) {
    if (std::find(columns.begin(), columns.end(), field.name) == columns.end()) columns.push_back(field.name);
  };
  for (const Record& record : records) {
    for (const Field& field : all_fields(record, style)) include(field);
  }
  std::string text = style.configuration ? "# " + configuration(recipe) + "\n" : "";
  for (std::size_t i = 0; i < columns.size(); ++i) text += (i == 0 ? "" : ",") + columns[i];
  text += '\n';
  const auto row = [&](const std::vector<Field>& fields) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (i > 0) text += ',';
      const auto field =
          std::find_if(fields.begin(), fields.end(), [&](const Field& one) { return one.name == columns[i]; });
      if (field != fields.end()) text += field->value;
    }
    text += '\n';
  };
  for (const Record& record : records) {
    if (style.format == Format::csv) {
      row(all_fields(record, style));
      continue;
    }
    // Lightning writes what the training step logged and what the validation logged as rows of their own.
    for (const std::vector<Field>* part : {&record.training, &record.held_out}) {
      if (part->empty()) continue;
      std::vector<Field> fields = counters(record, style);
      fields.insert(fields.end(), part->begin(), part->end());
      row(fields);
    }
  }
  return text;
}

std::string objects(const Recipe& recipe, const std::vector<Record>& records, const Style& style) {
  std::string text = style.configuration ? "{\"config\": " + configuration(recipe) + "}\n" : "";
  for (const Record& record : records) {
    std::string line;
    for (const Field& field : all_fields(record, style))
      line += (line.empty() ? "{\"" : ", \"") + field.name + "\": " + field.value;
    text += line + "}\n";
  }
  return text;
}

std::string dicts(const Recipe& recipe, const std::vector<Record>& records, const Style& style) {
  std::string text = style.configuration ? configuration(recipe) + "\n" : "";
  for (const Record& record : records) {
    for (const std::vector<Field>* part : {&record.training, &record.held_out}) {
      if (part->empty()) continue;
      std::string line;
      for (const Field& field : *part) line += (line.empty() ? "{'" : ", '") + field.name + "': " + field.value;
      text += line + ", 'epoch': " + printed("%.4g", record.epoch) + "}\n";
    }
  }
  return text;
}

std::string lines(const Recipe& recipe, const std::vector<Record>& records, const Style& style) {
  std::string text = style.configuration ? "config: " + configuration(recipe) + "\n" : "";
  const bool by_epoch = style.grain == Grain::every_epoch;
  const std::string total = std::to_string(by_epoch ? recipe.evaluations : recipe.horizon);
  for (const Record& record : records) {
    const std::string count = std::to_string(by_epoch ? std::lround(record.epoch) : record.step);
    std::vector<Field> fields = record.training;
    fields.insert(fields.end(), record.held_out.begin(), record.held_out.end());
    std::string line;
    for (const Field& field : fields) {
      if (style.format == Format::keras_text) line += " - " + field.name + ": " + field.value;
      if (style.format == Format::bar_text) line += " | " + field.name + " " + field.value;
      if (style.format == Format::sentence_text) line += ", " + field.name + ": " + field.value;
    }
    const std::string unit = by_epoch ? "Epoch " : style.format == Format::bar_text ? "step " : "Step ";
    if (style.format == Format::sentence_text) {
      text += unit + count + ":" + line.substr(1) + "\n";
    } else {
      text += unit + count + "/" + total + line + "\n";
    }
  }
  return text;
}

}  // namespace

std::string_view word(Format format) {
  constexpr std::array<std::string_view, 7> kWords = {"csv",        "json-lines", "lightning-csv", "hf-dicts",
                                                      "text-keras", "text-bars",  "text-sentences"};
  return kWords[static_cast<std::size_t>(format)];
}

std::string_view word(Grain grain) {
  constexpr std::array<std::string_view, 4> kWords = {"step", "every-few", "epoch", "both"};
  return kWords[static_cast<std::size_t>(grain)];
}

std::string_view file_name(Format format) {
  switch (format) {
    case Format::csv:
      return "log.csv";
    case Format::lightning_csv:
      return "metrics.csv";
    case Format::json_lines:
      return "log.jsonl";
    default:
      return "log.txt";
  }
}

Style draw_style(const Recipe& recipe, Random& random) {
  Style style;
  constexpr std::array<double, 7> kFormats = {0.32, 0.22, 0.10, 0.08, 0.10, 0.09, 0.09};
  style.format = static_cast<Format>(random.weighted(kFormats));
  style.grain = random.one_of({Grain::every_epoch, Grain::every_epoch, Grain::every_epoch, Grain::every_few,
                               Grain::every_few, Grain::every_step, Grain::both});
  if (recipe.evaluations < 8 && style.grain == Grain::every_epoch) style.grain = Grain::every_few;
  style.every = style.grain == Grain::every_step && recipe.horizon <= 1500
                    ? 1
                    : std::max(1L, recipe.horizon / random.log_whole(25, 400));
  style.names = static_cast<std::size_t>(random.whole(0, static_cast<long>(kNames.size()) - 1));
  if (style.format == Format::dicts) style.names = 6;
  if (style.format == Format::keras_text) style.names = 0;
  style.digits = static_cast<int>(random.one_of({2L, 3L, 4L, 4L, 4L, 5L, 6L, 6L}));
  style.smoothing = random.chance(0.12) ? random.one_of({0.9, 0.95, 0.98}) : 0;
  style.averaged = random.chance(0.4);
  style.validation = random.chance(style.grain == Grain::every_epoch ? 0.92 : 0.75);
  style.metric = random.chance(0.75);
  style.training_metric = random.chance(0.6);
  style.rate = random.chance(0.6);
  style.norm = random.chance(0.4);
  style.layers = random.chance(0.2) && style.format != Format::keras_text && style.format != Format::dicts;
  style.epoch = random.chance(0.5);
  style.time = random.chance(0.15);
  style.percent = random.chance(0.2);
  style.configuration = random.chance(0.35);
  return style;
}

std::string write_log(const Recipe& recipe, const History& history, const Style& style, Random random, long& records) {
  const std::vector<Record> all = Writer(recipe, history, style, random).records();
  records = static_cast<long>(all.size());
  switch (style.format) {
    case Format::csv:
    case Format::lightning_csv:
      return table(recipe, all, style);
    case Format::json_lines:
      return objects(recipe, all, style);
    case Format::dicts:
      return dicts(recipe, all, style);
    default:
      return lines(recipe, all, style);
  }
}

}  // namespace osler::population
