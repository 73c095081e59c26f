// What the configuration of a run says of the training.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>

#include "diagnosis/patient.h"

namespace osler {

/// The configuration entry whose key ends in one of `list`: "optimizer/Weight-Decay" is "weight_decay". The first name
/// that is there wins.
[[nodiscard]] std::optional<std::string_view> configured_text(const Patient& patient,
                                                              std::initializer_list<std::string_view> list);
[[nodiscard]] std::optional<double> configured_number(const Patient& patient,
                                                      std::initializer_list<std::string_view> list);
/// An entry that says yes or no; "none" and "null" are a no.
[[nodiscard]] std::optional<bool> configured_flag(const Patient& patient, std::initializer_list<std::string_view> list);

[[nodiscard]] std::optional<double> batch_size(const Patient& patient);
[[nodiscard]] std::optional<double> weight_decay(const Patient& patient);
[[nodiscard]] std::optional<double> dropout(const Patient& patient);
[[nodiscard]] std::optional<double> label_smoothing(const Patient& patient);
/// The global norm at which gradients are clipped, from the log or the configuration; 0 when clipping is off.
[[nodiscard]] std::optional<double> clip_limit(const Patient& patient);

/// The number format that training computes in.
enum class Precision { unknown, full, bfloat, half };
[[nodiscard]] Precision precision(const Patient& patient);
/// The number of classes that the configuration names.
[[nodiscard]] std::optional<int> configured_classes(const Patient& patient);

}  // namespace osler
