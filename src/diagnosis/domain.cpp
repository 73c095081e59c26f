// What speaks for each domain, the most telling first.
#include "diagnosis/domain.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <utility>

namespace osler {
namespace {

bool configured(const Run& run, std::string_view key, std::string_view value) {
  return std::any_of(run.configuration().begin(), run.configuration().end(),
                     [&](const auto& setting) { return setting.first == key && setting.second == value; });
}

constexpr std::array<std::pair<Domain, std::string_view>, 13> kNames = {{
    {Domain::unknown, "unknown"},
    {Domain::classification, "classification"},
    {Domain::regression, "regression"},
    {Domain::language_model, "language-model"},
    {Domain::preference_tuning, "preference-tuning"},
    {Domain::reward_tuning, "reward-tuning"},
    {Domain::reinforcement, "reinforcement"},
    {Domain::adversarial, "adversarial"},
    {Domain::detection, "detection"},
    {Domain::segmentation, "segmentation"},
    {Domain::sequence, "sequence"},
    {Domain::contrastive, "contrastive"},
    {Domain::autoencoder, "autoencoder"},
}};

using Words = std::initializer_list<std::string_view>;

std::string lower(std::string_view text) {
  std::string small(text);
  std::transform(small.begin(), small.end(), small.begin(),
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  return small;
}

/// A run as its names: what a reader would look for words in.
class Names {
 public:
  Names(const Run& run, const RoleMap& roles) : roles_(roles) {
    for (const Series& series : run.all_series()) series_.push_back(lower(series.name()));
    for (const auto& [key, value] : run.configuration()) settings_.push_back(lower(key) + " = " + lower(value));
  }

  /// The first series with one of these roles, or nothing.
  [[nodiscard]] std::optional<std::string> role(std::initializer_list<Role> roles) const {
    for (const Role role : roles) {
      if (const Series* series = roles_.first(role)) return series->name();
    }
    return std::nullopt;
  }
  /// The first loss, accuracy or metric that is one of these figures.
  [[nodiscard]] std::optional<std::string> measure(std::initializer_list<Measure> measures) const {
    for (const auto& [role, casts] : roles_.all()) {
      for (const Cast& cast : casts) {
        if (std::find(measures.begin(), measures.end(), cast.guess.measure) != measures.end())
          return cast.series->name();
      }
    }
    return std::nullopt;
  }
  /// Loss, gradient norm and rate by the names of Hugging Face's trainer, or what it prints at the end, and no
  /// accuracy.
  [[nodiscard]] bool is_bare_trainer() const {
    const auto has = [&](std::string_view name) {
      return std::find(series_.begin(), series_.end(), name) != series_.end();
    };
    const bool logged = has("loss") && has("grad_norm") && has("learning_rate");
    const bool ended = has("train_samples_per_second") && roles_.first(Role::train_loss);
    return (logged || ended) && !roles_.first(Role::validation_accuracy) && !roles_.first(Role::train_accuracy);
  }
  [[nodiscard]] std::optional<std::string> exactly(std::string_view name) const {
    if (std::find(series_.begin(), series_.end(), name) == series_.end()) return std::nullopt;
    return std::string(name);
  }
  /// The columns of LLaMA-Factory's trainer_log.jsonl.
  [[nodiscard]] bool is_llama_factory() const {
    return exactly("percentage") && exactly("loss") && (exactly("lr") || exactly("learning_rate"));
  }
  [[nodiscard]] std::optional<std::string> series(Words words) const { return with(series_, words); }
  [[nodiscard]] std::optional<std::string> setting(Words words) const { return with(settings_, words); }

 private:
  static std::optional<std::string> with(const std::vector<std::string>& names, Words words) {
    for (const std::string_view word : words) {
      for (const std::string& name : names) {
        if (name.find(word) != std::string::npos) return name;
      }
    }
    return std::nullopt;
  }

  const RoleMap& roles_;
  std::vector<std::string> series_;
  std::vector<std::string> settings_;
};

RecognisedDomain guess(Domain domain, double confidence, const std::string& why) {
  constexpr std::size_t kLongest = 60;
  return {domain, confidence, why.size() > kLongest ? why.substr(0, kLongest) + "..." : why};
}

/// Series that only a language model has.
std::optional<RecognisedDomain> tokens_told(const Names& names) {
  if (auto why = names.role({Role::tokens_seen})) return guess(Domain::language_model, 0.95, *why);
  if (auto why = names.measure({Measure::perplexity, Measure::bits})) {
    return guess(Domain::language_model, 0.95, *why);
  }
  if (auto why = names.series({"token_acc", "num_tokens", "lm loss", "lm_loss", "tok/s", "tokens/s", "tokens_per",
                               "tok_per", "core_metric", "bpb", "mfu"})) {
    return guess(Domain::language_model, 0.9, *why);
  }
  if (auto why = names.exactly("loss train")) return guess(Domain::language_model, 0.7, *why);   // LitGPT
  if (auto why = names.exactly("logits_loss")) return guess(Domain::language_model, 0.8, *why);  // MiniMind
  return std::nullopt;
}

/// A language model, and how sure that is.
std::optional<RecognisedDomain> language_model(const Names& names) {
  if (auto found = tokens_told(names)) return found;
  if (auto why = names.setting({"gpt", "llama", "qwen", "mistral", "gemma", "phi-", "vocab_size", "block_size",
                                "n_embd", "max_seq_len", "seq_length", "lora_", "context_length", "tokenizer"})) {
    return guess(Domain::language_model, 0.85, *why);
  }
  return std::nullopt;
}

/// Chances of a random action that fall from a high start: an agent that explores. The epsilon of a private training
/// rises.
std::optional<std::string> explores(const RoleMap& roles) {
  constexpr double kMuch = 0.3;
  const Series* exploration = roles.first(Role::exploration_rate);
  const auto total = exploration == nullptr ? std::nullopt : exploration->summary().total();
  if (!total || total->count < 2 || total->first < kMuch || total->first > 1 || total->last >= total->first)
    return std::nullopt;
  return exploration->name();
}

/// A loss that begins where guessing among the signs or words of a usual vocabulary costs it, and falls from there. Who
/// sorts things into as many classes logs an accuracy beside it.
std::optional<std::string> guesses_among_tokens(const RoleMap& roles) {
  constexpr double kFewest = 3.8;  // ln 45, of letters and signs
  constexpr double kMost = 12.2;   // ln 200,000
  constexpr double kFallen = 0.9;  // share of it that is left in the end; sorting that does not get anywhere keeps more
  for (const Role role : {Role::train_loss, Role::validation_loss}) {
    const Series* series = roles.first(role);
    const auto total = series == nullptr ? std::nullopt : series->summary().total();
    if (!total || total->count == 0 || total->min < 0) continue;
    const double first = series->summary().buckets().front().first;
    if (first >= kFewest && first <= kMost && total->last < kFallen * first) {
      return series->name() + " begins at the loss of guessing among tokens";
    }
  }
  return std::nullopt;
}

/// A word in the name of the run, or of the folders just above it, that only language models are called by.
std::optional<std::string> called_language_model(std::string_view path) {
  const std::string name = lower(path);
  constexpr int kParts = 3;  // of the path: those further up name a user or a disk
  std::size_t from = name.size();
  for (int i = 0; i < kParts && from != std::string::npos; ++i) {
    from = from == 0 ? std::string::npos : name.rfind('/', from - 1);
  }
  const std::string_view near = std::string_view(name).substr(from == std::string::npos ? 0 : from);
  for (const std::string_view word :
       {"gpt", "llama", "llm", "shakespeare", "wikitext", "tinystories", "openwebtext", "char_rnn", "char-rnn",
        "charrnn", "language_model", "language-model", "babylm"}) {
    if (near.find(word) != std::string_view::npos) return std::string(word) + " in its name";
  }
  return std::nullopt;
}

std::optional<RecognisedDomain> agent(const Names& names, const RoleMap& roles) {
  if (auto why = names.role({Role::reward_margin, Role::preference_reward})) {
    return guess(Domain::preference_tuning, 0.97, *why);
  }
  if (auto why = names.series({"dpo_loss", "loss/dpo", "orpo_loss", "simpo_loss", "kto_loss"})) {
    return guess(Domain::preference_tuning, 0.9, *why);
  }
  const auto reward = names.role({Role::reward, Role::evaluation_reward});
  const auto text =
      names.role({Role::completion_length, Role::truncated_share, Role::reference_kl, Role::no_variance_share});
  if (text && (reward || names.role({Role::reward_deviation}))) return guess(Domain::reward_tuning, 0.97, *text);
  // What only answers in text are paid for.
  const auto answers = names.series({"format_reward", "reward_format", "formatreward", "token_entropy", "answer_reward",
                                     "correctness_reward", "xmlcount", "json"});
  if (reward && answers) return guess(Domain::reward_tuning, 0.85, *answers);
  if (reward && language_model(names)) return guess(Domain::reward_tuning, 0.8, language_model(names)->why);
  if (reward) return guess(Domain::reinforcement, 0.95, *reward);
  if (auto why = names.role({Role::episode_length, Role::explained_variance, Role::q_value, Role::policy_entropy})) {
    return guess(Domain::reinforcement, 0.9, *why);
  }
  if (auto why = explores(roles)) return guess(Domain::reinforcement, 0.85, *why);
  if (auto why = names.role({Role::policy_loss})) return guess(Domain::reinforcement, 0.75, *why);
  return std::nullopt;
}

/// It tunes nothing but language models, and counts as accurate what prefers the answer that people chose.
RecognisedDomain of_llama_factory(const RoleMap& roles) {
  const bool prefers =
      roles.first(Role::train_accuracy) != nullptr || roles.first(Role::validation_accuracy) != nullptr;
  return prefers ? guess(Domain::preference_tuning, 0.75, "the columns of LLaMA-Factory, with an accuracy")
                 : guess(Domain::language_model, 0.85, "the columns of LLaMA-Factory");
}

std::optional<RecognisedDomain> by_name(const Names& names) {
  if (auto why = names.series(
          {"box_loss", "bbox", "obj_loss", "dfl_loss", "rpn", "map50", "giou", "iou_loss", "loss_iou", "hm_loss"})) {
    return guess(Domain::detection, 0.95, *why);
  }
  if (auto why = names.series({"miou", "mask_loss", "loss_mask", "seg_loss", "loss_seg"})) {
    return guess(Domain::segmentation, 0.85, *why);
  }
  if (auto why = names.series({"infonce", "info_nce", "nt_xent", "ntxent", "contrastive", "simclr", "moco", "clip_loss",
                               "triplet", "barlow", "vicreg"})) {
    return guess(Domain::contrastive, 0.9, *why);
  }
  if (auto why = names.series({"recon", "elbo"})) return guess(Domain::autoencoder, 0.85, *why);
  return std::nullopt;
}

}  // namespace

std::string_view to_string(Domain domain) {
  for (const auto& [known, name] : kNames) {
    if (known == domain) return name;
  }
  return "unknown";
}

std::optional<Domain> domain_from(std::string_view name) {
  for (const auto& [domain, known] : kNames) {
    if (known == name) return domain;
  }
  return std::nullopt;
}

bool trained_in_turns(const Run& run) {
  return configured(run, "osler.networks", "trained in turns");
}

bool losses_take_turns(const Run& run) {
  return configured(run, "osler.losses", "in turns");
}

RecognisedDomain recognise_domain(const Run& run, const RoleMap& roles) {
  const Names names(run, roles);
  if (auto found = agent(names, roles)) return *found;
  if (names.role({Role::generator_loss})) {
    if (const auto critic = names.role({Role::discriminator_loss})) return guess(Domain::adversarial, 0.95, *critic);
  }
  if (trained_in_turns(run))
    return guess(Domain::adversarial, 0.9, "networks are trained in turns on each other's answers");
  if (auto found = by_name(names)) return *found;
  if (auto why = names.role({Role::latent_kl})) return guess(Domain::autoencoder, 0.9, *why);
  if (auto why = names.measure({Measure::average_precision})) return guess(Domain::detection, 0.8, *why);
  if (auto why = names.measure({Measure::iou, Measure::dice})) return guess(Domain::segmentation, 0.85, *why);
  if (auto why = names.measure({Measure::bleu, Measure::rouge, Measure::word_error_rate})) {
    return guess(Domain::sequence, 0.9, *why);
  }
  if (auto why = names.setting({"forsequenceclassification", "fortokenclassification", "forimageclassification"})) {
    return guess(Domain::classification, 0.9, *why);
  }
  if (names.is_llama_factory()) return of_llama_factory(roles);
  if (auto found = tokens_told(names)) return *found;
  // A tokenizer among the settings belongs to whoever reads text: these figures, only to one who sorts it.
  if (auto why = names.measure({Measure::f1, Measure::mcc, Measure::auc})) {
    return guess(Domain::classification, 0.8, *why);
  }
  if (auto found = language_model(names)) return *found;
  if (auto why = names.role({Role::validation_accuracy, Role::train_accuracy})) {
    return guess(Domain::classification, 0.85, *why);
  }
  if (auto why = names.measure({Measure::auc, Measure::f1, Measure::mcc, Measure::cross_entropy,
                                Measure::binary_cross_entropy, Measure::precision, Measure::recall})) {
    return guess(Domain::classification, 0.75, *why);
  }
  if (auto why = names.measure({Measure::r2, Measure::squared_error, Measure::root_squared_error,
                                Measure::absolute_error, Measure::relative_error, Measure::correlation})) {
    return guess(Domain::regression, 0.8, *why);
  }
  if (auto why = guesses_among_tokens(roles)) return guess(Domain::language_model, 0.7, *why);
  if (auto why = called_language_model(run.name); why && roles.first(Role::train_loss)) {
    return guess(Domain::language_model, 0.6, *why);
  }
  // With nothing but a loss, what people train with this trainer is mostly language models.
  if (run.format == "hf-trainer-state" || names.is_bare_trainer()) {
    return guess(Domain::language_model, 0.6, "the columns of Hugging Face's trainer, and no figure of merit");
  }
  return {};
}

}  // namespace osler
