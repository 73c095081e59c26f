// Splits told by the company: what a bare "Val", or an accuracy of no split, means beside the losses of the log.
#pragma once

#include <map>
#include <vector>

#include "osler/run/role.h"

namespace osler {

/// "Loss: 0.8, Train: 0.91, Val: 0.79, Test: 0.80": beside a loss that has its own name, a share that stands under the
/// bare name of a split and does not come down is no loss, but how often the answers are right.
void settle_bare_splits(std::map<Role, std::vector<Cast>>& casts);

/// "train_loss, val_loss, accuracy": where the training loss names its split, an accuracy that names none, beside no
/// other of the validation's, is measured on validation data.
void settle_unsplit_accuracies(std::map<Role, std::vector<Cast>>& casts);

}  // namespace osler
