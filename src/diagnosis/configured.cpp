// Finding settings under the names that programs give them.
#include "diagnosis/configured.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <string>

#include "run/reach.h"

namespace osler {
namespace {

char plain(char c) {
  return c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

/// Whether `key` is `name`, or a path that ends in it.
bool names(std::string_view key, std::string_view name) {
  if (key.size() < name.size()) return false;
  const std::size_t start = key.size() - name.size();
  if (!std::equal(name.begin(), name.end(), key.begin() + static_cast<std::ptrdiff_t>(start),
                  [](char a, char b) { return a == plain(b); })) {
    return false;
  }
  return start == 0 || std::string_view("/.:").find(key[start - 1]) != std::string_view::npos;
}

std::string lower(std::string_view text) {
  std::string small(text);
  std::transform(small.begin(), small.end(), small.begin(),
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  return small;
}

}  // namespace

std::optional<std::string_view> configured_text(const Patient& patient, std::initializer_list<std::string_view> list) {
  for (const std::string_view name : list) {
    for (const auto& [key, value] : patient.run().configuration()) {
      if (names(key, name)) return value;
    }
  }
  return std::nullopt;
}

std::optional<double> configured_number(const Patient& patient, std::initializer_list<std::string_view> list) {
  const auto text = configured_text(patient, list);
  if (!text) return std::nullopt;
  double value = 0;
  const auto [end, problem] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (problem != std::errc{} || end != text->data() + text->size() || !std::isfinite(value)) return std::nullopt;
  return within_reach(value);
}

std::optional<bool> configured_flag(const Patient& patient, std::initializer_list<std::string_view> list) {
  const auto text = configured_text(patient, list);
  if (!text) return std::nullopt;
  const std::string value = lower(*text);
  if (value == "true" || value == "yes" || value == "on" || value == "1") return true;
  if (value == "false" || value == "no" || value == "off" || value == "0" || value == "none" || value == "null") {
    return false;
  }
  return std::nullopt;
}

std::optional<double> batch_size(const Patient& patient) {
  return configured_number(
      patient, {"global_batch_size", "train_batch_size", "batch_size", "batch", "per_device_train_batch_size",
                "per_gpu_train_batch_size", "micro_batch_size", "batchsize", "bs", "samples_per_gpu"});
}

std::optional<double> weight_decay(const Patient& patient) {
  return configured_number(patient, {"weight_decay", "wd", "l2", "l2_reg", "reg_lambda"});
}

std::optional<double> dropout(const Patient& patient) {
  return configured_number(patient, {"dropout", "dropout_rate", "drop_rate", "dropout_p", "hidden_dropout_prob",
                                     "resid_pdrop", "p_dropout"});
}

std::optional<double> label_smoothing(const Patient& patient) {
  return configured_number(patient, {"label_smoothing", "label_smoothing_factor", "smoothing", "label_smooth"});
}

std::optional<double> clip_limit(const Patient& patient) {
  if (const Series* logged = patient.roles().first(Role::clip_threshold)) {
    const auto total = logged->summary().total();
    if (total && total->count > 0) return total->last;
  }
  const auto names_of_limit = {
      std::string_view("max_grad_norm"), std::string_view("clip_grad_norm"), std::string_view("gradient_clip_val"),
      std::string_view("grad_clip"),     std::string_view("clip_norm"),      std::string_view("gradient_clipping"),
      std::string_view("clip_grad"),     std::string_view("clipnorm"),       std::string_view("grad_norm_clip"),
      std::string_view("clip_gradient"), std::string_view("max_norm"),       std::string_view("clip")};
  if (const auto limit = configured_number(patient, names_of_limit)) return std::max(*limit, 0.0);
  if (configured_flag(patient, names_of_limit) == false) return 0;
  return std::nullopt;
}

Precision precision(const Patient& patient) {
  if (!patient.roles().in(Role::loss_scale).empty()) return Precision::half;
  if (configured_flag(patient, {"bf16"}) == true) return Precision::bfloat;
  if (configured_flag(patient, {"fp16", "half", "use_fp16", "amp_fp16"}) == true) return Precision::half;
  if (const auto text =
          configured_text(patient, {"mixed_precision", "precision", "dtype", "torch_dtype", "amp_dtype"})) {
    const std::string value = lower(*text);
    if (value.find("bf") != std::string::npos) return Precision::bfloat;
    if (value.find("16") != std::string::npos || value == "half") return Precision::half;
    if (value.find("32") != std::string::npos || value.find("64") != std::string::npos || value == "no" ||
        value == "float" || value == "full") {
      return Precision::full;
    }
  }
  const bool says_no = configured_flag(patient, {"fp16", "use_fp16"}) == false &&
                       configured_flag(patient, {"amp", "use_amp", "bf16"}).value_or(false) == false;
  return says_no ? Precision::full : Precision::unknown;
}

std::optional<int> configured_classes(const Patient& patient) {
  const auto told = configured_number(patient, {"num_classes", "n_classes", "nb_classes", "num_labels", "vocab_size",
                                                "padded_vocab_size", "nc", "classes"});
  constexpr double kMost = 1e7;
  if (told && *told >= 2 && *told < kMost) return static_cast<int>(*told);
  // A binary loss guesses between two, whatever is not said of classes.
  const auto loss = configured_text(patient, {"loss", "criterion", "loss_fn", "loss_function", "objective"});
  constexpr std::array kBinary = {"binary", "Binary", "bce", "BCE"};
  const bool binary = loss && std::any_of(kBinary.begin(), kBinary.end(),
                                          [&](const char* name) { return loss->find(name) != std::string_view::npos; });
  return binary ? std::optional(2) : std::nullopt;
}

}  // namespace osler
