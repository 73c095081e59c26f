// NameBook: how the model itself would call a tensor, "conv2 -> bn2 -> relu".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

namespace osler::monitor {

/// A tensor as a framework tells it from others.
struct TensorKey {
  std::uint64_t tensor = 0;   ///< the object itself
  std::uint64_t storage = 0;  ///< its memory, which views share with what they look at; 0 when it has none
};

/// Names of layers from the parameters and buffers of a model, and of what they compute from the operations that pass.
class NameBook {
 public:
  /// A parameter or buffer: "fc1.weight". Of several in the same memory the first counts.
  void declare(const std::string& name, std::uint64_t storage);

  /// The parameter or buffer that a tensor is or looks at; empty when it is none.
  [[nodiscard]] std::string_view parameter(std::uint64_t storage) const;
  /// The layer a parameter belongs to: "fc1" for "fc1.weight"; empty when the tensor is no parameter.
  [[nodiscard]] std::string_view layer(std::uint64_t storage) const;

  /// How the result of an operation (by its plain name) is called, from its inputs: the layer of a weight starts a
  /// name, what follows it is joined by " -> "; of several inputs the one that was computed last counts, so a sum is
  /// called after the branch and not after the stream it joins. Empty when nothing about the inputs is known.
  [[nodiscard]] std::string result(std::string_view plain, std::span<const TensorKey> inputs) const;
  /// Tells the name of a tensor that an operation gave out; an empty name forgets it.
  void name(std::uint64_t tensor, const std::string& name);
  /// Forgets the names of all tensors but parameters.
  void forget() { given_.clear(); }
  /// The name a tensor was given, or the layer whose weight it is; empty when it is not known.
  [[nodiscard]] std::string of(const TensorKey& key) const;

 private:
  struct Owned {
    std::string parameter;
    std::string layer;
  };
  std::unordered_map<std::uint64_t, Owned> by_storage_;
  struct Given {
    std::string name;
    std::uint64_t order = 0;
  };
  // Freed addresses come again, but every tensor that an operation gives out is named anew or forgotten.
  std::unordered_map<std::uint64_t, Given> given_;
  std::uint64_t order_ = 0;
};

}  // namespace osler::monitor
