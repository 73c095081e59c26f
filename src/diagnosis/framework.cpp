// The lines of code by the name of what is changed. "@" stands for the new value.
#include "diagnosis/framework.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

namespace osler {
namespace {

constexpr std::size_t kFrameworks = 5;
constexpr std::array<const char*, kFrameworks> kNames = {"PyTorch", "Lightning", "Transformers", "Keras", "LibTorch"};

/// What a change must be changed to for the line to be true.
enum class To { any, number, word };

/// The lines for one change, in the order of Framework; an empty one where the framework has none of its own.
struct Lines {
  std::string_view change;
  To to = To::any;
  std::string_view word;  ///< for To::word
  std::array<std::string_view, kFrameworks> code;
};

constexpr Lines kLines[] = {
    {"lr",
     To::number,
     "",
     {{R"(for group in optimizer.param_groups: group["lr"] = @)",
       "optimizer = torch.optim.AdamW(self.parameters(), lr=@)  # in configure_optimizers",
       "TrainingArguments(learning_rate=@)", "model.optimizer.learning_rate = @",
       "for (auto& group : optimizer.param_groups()) group.options().set_lr(@);"}}},
    {"clip_norm",
     To::number,
     "",
     {{"torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=@)",
       R"(Trainer(gradient_clip_val=@, gradient_clip_algorithm="norm"))", "TrainingArguments(max_grad_norm=@)",
       "optimizer = keras.optimizers.AdamW(global_clipnorm=@)",
       "torch::nn::utils::clip_grad_norm_(model->parameters(), @);"}}},
    {"warmup_steps",
     To::number,
     "",
     {{"scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.01, total_iters=@)", "",
       "TrainingArguments(warmup_steps=@)",
       "keras.optimizers.schedules.CosineDecay(0.0, decay_steps, warmup_target=lr, warmup_steps=@)", ""}}},
    {"batch_size",
     To::number,
     "",
     {{"DataLoader(dataset, batch_size=@, shuffle=True)", "", "TrainingArguments(per_device_train_batch_size=@)",
       "model.fit(inputs, labels, batch_size=@)", ""}}},
    {"weight_decay",
     To::number,
     "",
     {{"optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=@)", "",
       "TrainingArguments(weight_decay=@)", "optimizer = keras.optimizers.AdamW(weight_decay=@)", ""}}},
    {"sam",
     To::number,
     "",
     {{"sam = osler.torch.Sam(optimizer, radius=@)", "", "", "", "osler::torch::Sam sam(optimizer, @);"}}},
    {"dropout",
     To::number,
     "",
     {{"torch.nn.Dropout(p=@)", "", "", "keras.layers.Dropout(@)", "torch::nn::Dropout(@)"}}},
    {"label_smoothing",
     To::number,
     "",
     {{"torch.nn.CrossEntropyLoss(label_smoothing=@)", "", "TrainingArguments(label_smoothing_factor=@)",
       "keras.losses.CategoricalCrossentropy(label_smoothing=@)", ""}}},
    {"loss_scale", To::number, "", {{"scaler = torch.amp.GradScaler(init_scale=@)", "", "", "", ""}}},
    {"precision",
     To::word,
     "fp32",
     {{R"(torch.autocast("cuda", enabled=False))", R"(Trainer(precision="32-true"))",
       "TrainingArguments(fp16=False, bf16=False)", R"(keras.mixed_precision.set_global_policy("float32"))", ""}}},
    {"precision",
     To::word,
     "bf16",
     {{R"(torch.autocast("cuda", dtype=torch.bfloat16))", R"(Trainer(precision="bf16-mixed"))",
       "TrainingArguments(bf16=True)", R"(keras.mixed_precision.set_global_policy("mixed_bfloat16"))", ""}}},
    {"activation",
     To::word,
     "relu",
     {{"torch.nn.ReLU()", "", "", R"(keras.layers.Dense(units, activation="relu"))", "torch::nn::ReLU()"}}},
    {"activation",
     To::word,
     "leaky-relu",
     {{"torch.nn.LeakyReLU()", "", "", R"(keras.layers.Dense(units, activation="leaky_relu"))",
       "torch::nn::LeakyReLU()"}}},
    {"activation",
     To::word,
     "gelu",
     {{"torch.nn.GELU()", "", "", R"(keras.layers.Dense(units, activation="gelu"))", "torch::nn::GELU()"}}},
    {"activation",
     To::word,
     "silu",
     {{"torch.nn.SiLU()", "", "", R"(keras.layers.Dense(units, activation="silu"))", "torch::nn::SiLU()"}}},
    {"init",
     To::word,
     "he",
     {{R"(torch.nn.init.kaiming_normal_(layer.weight, nonlinearity="relu"))", "", "",
       R"(keras.layers.Dense(units, kernel_initializer="he_normal"))",
       "torch::nn::init::kaiming_normal_(layer->weight);"}}},
    {"bias",
     To::number,
     "",
     {{"torch.nn.init.constant_(layer.bias, @)", "", "",
       "keras.layers.Dense(units, bias_initializer=keras.initializers.Constant(@))", ""}}},
    {"normalization",
     To::word,
     "layer",
     {{"torch.nn.LayerNorm(features)", "", "", "keras.layers.LayerNormalization()",
       "torch::nn::LayerNorm(torch::nn::LayerNormOptions({features}))"}}},
    {"residual", To::any, "", {{"x = x + block(x)", "", "", "", "x = x + block->forward(x);"}}},
    {"guarded_math",
     To::any,
     "",
     {{"torch.log(x.clamp_min(1e-8))", "", "", "keras.ops.log(keras.ops.maximum(x, 1e-8))",
       "torch::log(x.clamp_min(1e-8))"}}},
    {"zero_grad", To::any, "", {{"optimizer.zero_grad()", "", "", "", "optimizer.zero_grad();"}}},
    {"trainable",
     To::any,
     "",
     {{"for parameter in model.parameters(): parameter.requires_grad_(True)", "", "", "model.trainable = True",
       "for (auto& parameter : model->parameters()) parameter.set_requires_grad(true);"}}},
    {"train_mode", To::any, "", {{"model.train()", "", "", "", "model->train();"}}},
    {"eval_mode", To::any, "", {{"model.eval()", "", "", "", "model->eval();"}}},
    {"no_grad", To::any, "", {{"with torch.no_grad():", "", "", "", "torch::NoGradGuard no_grad;"}}},
    {"skip_nonfinite",
     To::any,
     "",
     {{"if torch.isfinite(loss): loss.backward(); optimizer.step()", "", "", "",
       "if (torch::isfinite(loss).item<bool>()) { loss.backward(); optimizer.step(); }"}}},
    {"shuffle",
     To::any,
     "",
     {{"DataLoader(dataset, batch_size=batch_size, shuffle=True)", "", "", "model.fit(inputs, labels, shuffle=True)",
       ""}}},
    {"input_normalization",
     To::any,
     "",
     {{"inputs = (inputs - mean) / std  # both measured on the training data", "", "",
       "layer = keras.layers.Normalization(); layer.adapt(inputs)", ""}}},
    {"balanced_sampling",
     To::any,
     "",
     {{"sampler = torch.utils.data.WeightedRandomSampler(weights, num_samples=len(weights))", "", "",
       "model.fit(inputs, labels, class_weight=class_weight)", ""}}},
    {"all_optimized",
     To::any,
     "",
     {{"optimizer = torch.optim.AdamW(model.parameters(), lr=lr)  # made after the whole model", "", "", "", ""}}},
    {"resume_schedule",
     To::any,
     "",
     {{R"(scheduler.load_state_dict(checkpoint["scheduler"]))", R"(trainer.fit(model, ckpt_path="last"))",
       "trainer.train(resume_from_checkpoint=True)", "", ""}}},
};

bool is_number(std::string_view text) {
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failure == std::errc{} && end == text.data() + text.size() && std::isfinite(value);
}

bool fits(const Lines& lines, const Remedy::Change& change) {
  if (lines.change != change.name) return false;
  if (lines.to == To::number) return is_number(change.to);
  if (lines.to == To::word) return lines.word == change.to;
  return change.to != "off" && change.to != "false";  // what is to be left out has no line
}

std::string filled(std::string_view line, const std::string& value) {
  std::string text(line);
  if (const std::size_t place = text.find('@'); place != std::string::npos) text.replace(place, 1, value);
  return text;
}

}  // namespace

Framework framework_of(const Run& run) {
  const auto has = [&](std::string_view name) {
    return run.configuration().contains(name) || run.find(name) != nullptr;
  };
  const auto has_any = [&](std::initializer_list<std::string_view> names) {
    return std::any_of(names.begin(), names.end(), has);
  };
  if (run.format.starts_with("lightning")) return Framework::lightning;
  if (run.format.starts_with("hf-") || has_any({"train/global_step", "transformers_version"})) {
    return Framework::transformers;
  }
  if (has_any({"epoch_loss", "evaluation_loss_vs_iterations", "epoch_learning_rate"})) return Framework::keras;
  const auto optimizer = run.configuration().find("optimizer");
  if (optimizer != run.configuration().end() && optimizer->second.starts_with("torch::optim"))
    return Framework::libtorch;
  return Framework::pytorch;
}

std::optional<Remedy::Code> code_of(const Remedy::Change& change, Framework framework) {
  const auto* const lines =
      std::find_if(std::begin(kLines), std::end(kLines), [&](const Lines& one) { return fits(one, change); });
  if (lines == std::end(kLines)) return std::nullopt;
  const auto own = static_cast<std::size_t>(framework);
  if (!lines->code[own].empty()) return Remedy::Code{kNames[own], filled(lines->code[own], change.to)};
  // Lightning and Transformers are PyTorch underneath; Keras and LibTorch are not.
  if (framework == Framework::keras || framework == Framework::libtorch) return std::nullopt;
  return Remedy::Code{kNames[0], filled(lines->code[0], change.to)};
}

}  // namespace osler
