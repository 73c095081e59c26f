// Which monitors of a thread watch networks that a loss has used.
#pragma once

#include <ATen/ATen.h>

#include <memory>
#include <vector>

#include "monitor/company.h"

namespace osler::torch {

/// A monitor of these parameters, known to the others of this thread for as long as it is held.
[[nodiscard]] std::shared_ptr<monitor::Company> join_company(const std::vector<at::Tensor>& parameters);

/// The parameters of a loss were found in its graph: tells their monitors, but for this one.
void tell_used(const std::vector<const void*>& parameters, const monitor::Company& but);

/// Whether the newest step of this thread had another loss; one that several monitors are shown is of a training of
/// several networks together, which does not make them play.
[[nodiscard]] bool begins_anew(const at::Tensor& loss);

}  // namespace osler::torch
