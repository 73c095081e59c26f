// A small character transformer.
#pragma once

#include <torch/torch.h>

#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace examples {

inline constexpr std::int64_t kVocabulary = 128;
inline constexpr std::int64_t kContext = 32;
inline constexpr std::int64_t kWidth = 64;

struct Block : torch::nn::Module {
  torch::nn::LayerNorm ln1{register_module("ln1", torch::nn::LayerNorm(torch::nn::LayerNormOptions({kWidth})))};
  torch::nn::Linear qkv{register_module("qkv", torch::nn::Linear(kWidth, 3 * kWidth))};
  torch::nn::Linear proj{register_module("proj", torch::nn::Linear(kWidth, kWidth))};
  torch::nn::LayerNorm ln2{register_module("ln2", torch::nn::LayerNorm(torch::nn::LayerNormOptions({kWidth})))};
  torch::nn::Linear up{register_module("up", torch::nn::Linear(kWidth, 4 * kWidth))};
  torch::nn::Linear down{register_module("down", torch::nn::Linear(4 * kWidth, kWidth))};

  at::Tensor attention(const at::Tensor& x) {
    constexpr std::int64_t kHeads = 4;
    const std::int64_t batch = x.size(0);
    const std::int64_t length = x.size(1);
    const auto parts = qkv(x).view({batch, length, 3, kHeads, kWidth / kHeads}).permute({2, 0, 3, 1, 4}).unbind(0);
    at::Tensor scores = at::matmul(parts[0], parts[1].transpose(-2, -1)) / std::sqrt(kWidth / kHeads);
    const at::Tensor future = at::ones({length, length}, at::kBool).triu(1);
    scores = scores.masked_fill(future, -std::numeric_limits<float>::infinity());
    const at::Tensor mixed = at::matmul(at::softmax(scores, -1), parts[2]);
    return proj(mixed.transpose(1, 2).reshape({batch, length, kWidth}));
  }
  at::Tensor forward(at::Tensor x) {
    x = x + attention(ln1(x));
    return x + down(at::gelu(up(ln2(x))));
  }
};

struct Gpt : torch::nn::Module {
  torch::nn::Embedding tokens{register_module("tokens", torch::nn::Embedding(kVocabulary, kWidth))};
  torch::nn::Embedding places{register_module("places", torch::nn::Embedding(kContext, kWidth))};
  std::shared_ptr<Block> block1{register_module("block1", std::make_shared<Block>())};
  std::shared_ptr<Block> block2{register_module("block2", std::make_shared<Block>())};
  torch::nn::LayerNorm last{register_module("last", torch::nn::LayerNorm(torch::nn::LayerNormOptions({kWidth})))};
  torch::nn::Linear head{register_module("head", torch::nn::Linear(kWidth, kVocabulary))};

  at::Tensor forward(const at::Tensor& text) {
    const at::Tensor x = tokens(text) + places(at::arange(text.size(1)));
    return head(last(block2->forward(block1->forward(x))));
  }
};

/// Pieces of a text and the same pieces one character on.
inline std::pair<at::Tensor, at::Tensor> pieces(std::int64_t samples) {
  static constexpr std::string_view kText =
      "The doctor listens before he speaks. He looks at the curve, he asks since when it rises, and what was changed "
      "that day. He knows ten illnesses that begin with a fever, and for each of them one sign that the others do not "
      "have. So he looks for the sign. When he has found it he names the illness, says what speaks for it and what "
      "against, and writes down what to take, how much of it, and when to come again. ";
  static const at::Tensor all = [] {
    at::Tensor numbers = at::empty({static_cast<std::int64_t>(kText.size())}, at::kLong);
    for (std::size_t i = 0; i < kText.size(); ++i) numbers[static_cast<std::int64_t>(i)] = static_cast<int>(kText[i]);
    return numbers;
  }();
  const at::Tensor starts = at::randint(0, all.size(0) - kContext - 1, {samples, 1}, at::kLong);
  const at::Tensor places = starts + at::arange(kContext).unsqueeze(0);
  return {all.take(places), all.take(places + 1)};
}

/// The mean cross entropy over all characters.
inline at::Tensor next_character_loss(const at::Tensor& logits, const at::Tensor& targets) {
  return at::cross_entropy_loss(logits.view({-1, kVocabulary}), targets.view({-1}));
}

}  // namespace examples
