// The vocabulary of ATen, sorted by what Osler does with it.
#include "monitor/operations.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace osler::monitor {
namespace {

using namespace std::string_view_literals;

template <std::size_t N>
bool has(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

constexpr std::array kWeighted = {"linear"sv,
                                  "addmm"sv,
                                  "mm"sv,
                                  "bmm"sv,
                                  "matmul"sv,
                                  "baddbmm"sv,
                                  "addmv"sv,
                                  "mv"sv,
                                  "einsum"sv,
                                  "bilinear"sv,
                                  "conv1d"sv,
                                  "conv2d"sv,
                                  "conv3d"sv,
                                  "conv_transpose1d"sv,
                                  "conv_transpose2d"sv,
                                  "conv_transpose3d"sv,
                                  "convolution"sv,
                                  "conv_tbc"sv};
constexpr std::array kNormalisation = {"batch_norm"sv,        "layer_norm"sv,        "group_norm"sv,
                                       "instance_norm"sv,     "native_batch_norm"sv, "native_layer_norm"sv,
                                       "native_group_norm"sv, "rms_norm"sv,          "local_response_norm"sv};
constexpr std::array kRecurrent = {"lstm"sv,      "gru"sv,      "rnn_tanh"sv,      "rnn_relu"sv,
                                   "lstm_cell"sv, "gru_cell"sv, "rnn_tanh_cell"sv, "rnn_relu_cell"sv};
constexpr std::array kEmbedding = {"embedding"sv, "embedding_bag"sv};
constexpr std::array kSoftmax = {"softmax"sv, "log_softmax"sv, "safe_softmax"sv};
constexpr std::array kJoining = {"add"sv, "sub"sv, "cat"sv, "mul"sv};
constexpr std::array kUninitialised = {
    "empty"sv,  "empty_like"sv, "empty_strided"sv, "new_empty"sv,     "new_empty_strided"sv,
    "resize"sv, "resize_as"sv,  "set"sv,           "empty_permuted"sv};
constexpr std::array kLooks = {"t"sv,
                               "transpose"sv,
                               "as_strided"sv,
                               "expand"sv,
                               "expand_as"sv,
                               "view"sv,
                               "view_as"sv,
                               "unsafe_view"sv,
                               "reshape_alias"sv,
                               "permute"sv,
                               "select"sv,
                               "slice"sv,
                               "squeeze"sv,
                               "unsqueeze"sv,
                               "detach"sv,
                               "alias"sv,
                               "unbind"sv,
                               "split"sv,
                               "split_with_sizes"sv,
                               "unsafe_split"sv,
                               "unsafe_split_with_sizes"sv,
                               "unsafe_chunk"sv,
                               "chunk"sv,
                               "narrow"sv,
                               "resolve_conj"sv,
                               "resolve_neg"sv,
                               "unfold"sv,
                               "diagonal"sv,
                               "real"sv,
                               "size"sv,
                               "stride"sv,
                               "is_nonzero"sv,
                               "item"sv,
                               "local_scalar_dense"sv,
                               "cudnn_is_acceptable"sv,
                               "result_type"sv,
                               "unflatten"sv,
                               "lift_fresh"sv,
                               "lift"sv,
                               "T"sv,
                               "mT"sv,
                               "is_same_size"sv};
constexpr std::array kOverwrites = {
    "aten::copy_"sv,      "aten::fill_"sv,      "aten::zero_"sv,         "aten::normal_"sv,     "aten::uniform_"sv,
    "aten::bernoulli_"sv, "aten::random_"sv,    "aten::exponential_"sv,  "aten::log_normal_"sv, "aten::set_"sv,
    "aten::resize_"sv,    "aten::resize_as_"sv, "aten::_foreach_zero_"sv};

constexpr double kSeen = 0.99;  // the share of its range beyond which an activation is saturated (chosen)
constexpr std::array<std::pair<std::string_view, ActivationShape>, 20> kActivations = {{
    {"relu", {0, 0, true}},
    {"relu6", {0, 6 * kSeen, true}},
    {"hardtanh", {-kSeen, kSeen, false}},
    {"clamp_min", {0, 0, true}},
    {"leaky_relu", {0, 0, false}},
    {"elu", {0, 0, false}},
    {"selu", {0, 0, false}},
    {"celu", {0, 0, false}},
    {"gelu", {0, 0, false}},
    {"silu", {0, 0, false}},
    {"mish", {0, 0, false}},
    {"softplus", {0, 0, false}},
    {"hardswish", {0, 0, true}},
    {"prelu", {0, 0, false}},
    {"rrelu", {0, 0, false}},
    {"sigmoid", {1 - kSeen, kSeen, false}},
    {"hardsigmoid", {1 - kSeen, kSeen, false}},
    {"tanh", {-kSeen, kSeen, false}},
    {"threshold", {0, 0, true}},
    {"glu", {0, 0, false}},
}};

}  // namespace

std::string plain_name(std::string_view operation) {
  if (const auto colons = operation.rfind("::"); colons != std::string_view::npos) operation.remove_prefix(colons + 2);
  while (!operation.empty() && operation.front() == '_') operation.remove_prefix(1);
  while (!operation.empty() && operation.back() == '_') operation.remove_suffix(1);
  return std::string(operation);
}

std::string plain_node_name(std::string_view node) {
  if (const auto colons = node.rfind("::"); colons != std::string_view::npos) node.remove_prefix(colons + 2);
  if (const auto backward = node.find("Backward"); backward != std::string_view::npos) node = node.substr(0, backward);
  std::string plain;
  for (std::size_t i = 0; i < node.size(); ++i) {
    const auto c = static_cast<unsigned char>(node[i]);
    const bool after_lower = i > 0 && std::islower(static_cast<unsigned char>(node[i - 1])) != 0;
    if (std::isupper(c) != 0 && after_lower) plain.push_back('_');
    plain.push_back(static_cast<char>(std::tolower(c)));
  }
  return plain;
}

Part part_of(std::string_view plain) {
  if (has(kWeighted, plain)) return Part::weighted;
  if (has(kNormalisation, plain)) return Part::normalisation;
  if (has(kRecurrent, plain)) return Part::recurrent;
  if (has(kEmbedding, plain)) return Part::embedding;
  if (has(kSoftmax, plain)) return Part::softmax;
  if (has(kJoining, plain)) return Part::joining;
  return activation_shape(plain) ? Part::activation : Part::other;
}

std::optional<ActivationShape> activation_shape(std::string_view plain) {
  for (const auto& [name, shape] : kActivations) {
    if (name == plain) return shape;
  }
  return std::nullopt;
}

bool in_place(std::string_view operation) {
  return operation.ends_with('_');
}

bool overwrites(std::string_view operation) {
  return has(kOverwrites, operation);
}

bool uninitialised(std::string_view plain) {
  return has(kUninitialised, plain);
}

bool only_looks(std::string_view plain) {
  return has(kLooks, plain);
}

}  // namespace osler::monitor
