// LayerKind: which layers are alike by nature, so that one is judged against its own kind.
#pragma once

#include <string>
#include <string_view>

namespace osler {

/// What a parameter is, as its name tells. Gradients of different kinds differ by orders of magnitude in good health.
enum class LayerKind {
  weight,      ///< a matrix or a convolution
  embedding,   ///< a table of which each batch touches only some rows
  adapter_in,  ///< LoRA's A, whose gradient is zero while B is
  adapter_out,
  bias,           ///< may have no gradient by arithmetic: before a normalisation, or of attention's keys
  normalisation,  ///< scale or shift of a normalisation
  scalar,         ///< a temperature, a gate, a class token: few numbers that stand alone
};
[[nodiscard]] std::string_view to_string(LayerKind kind);
[[nodiscard]] LayerKind kind_of_layer(std::string_view layer);

/// Few numbers, of another size than weights: biases, normalisations and scalars.
[[nodiscard]] bool is_small(LayerKind kind);

/// The network that a layer belongs to where several are trained side by side ("actor", "critic", "generator"), as its
/// name tells; empty when it tells nothing.
[[nodiscard]] std::string network_of_layer(std::string_view layer);

}  // namespace osler
