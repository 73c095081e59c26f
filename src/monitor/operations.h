// What the names of ATen operations tell: which are layers, activations, views.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace osler::monitor {

/// What an operation is to the health of a network.
enum class Part { weighted, normalisation, recurrent, embedding, activation, softmax, joining, other };

/// How an activation's outputs saturate, and whether its units can die.
struct ActivationShape {
  double low = 0;  ///< outputs down here or below are saturated; both 0 when there is no such end
  double high = 0;
  bool rectifies = false;  ///< exactly zero on one side: a unit may be dead
};

/// "aten::_log_softmax" and "aten::relu_" without prefix and underscores: "log_softmax", "relu".
[[nodiscard]] std::string plain_name(std::string_view operation);
/// "ReluBackward0" and "torch::autograd::AddmmBackward0" as "relu" and "addmm".
[[nodiscard]] std::string plain_node_name(std::string_view node);

/// The part that an operation (by its plain name) plays.
[[nodiscard]] Part part_of(std::string_view plain);
/// The shape of an activation; nothing for other operations.
[[nodiscard]] std::optional<ActivationShape> activation_shape(std::string_view plain);

/// It changes its first argument in place.
[[nodiscard]] bool in_place(std::string_view operation);
/// It overwrites its first argument without reading it, as copy_ and normal_ do.
[[nodiscard]] bool overwrites(std::string_view operation);
/// It hands out memory that nobody has written yet.
[[nodiscard]] bool uninitialised(std::string_view plain);
/// It looks at memory that is there already, or only at sizes.
[[nodiscard]] bool only_looks(std::string_view plain);

}  // namespace osler::monitor
