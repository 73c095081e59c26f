// Word lists, sorted, and the splitting of keys into words.
#include "formats/text/vocabulary.h"

#include <algorithm>
#include <array>
#include <span>
#include <unordered_map>
#include <utility>

#include "formats/numbers.h"
#include "osler/run/foreign_names.h"

namespace osler::text {
namespace {

constexpr std::size_t kMostWords = 12;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_letter(char c) {
  return (lower(c) >= 'a' && lower(c) <= 'z') || static_cast<unsigned char>(c) >= 0x80;
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

using namespace std::string_view_literals;

constexpr std::array kMetrics = {
    "acc"sv,         "accs"sv,        "accuracy"sv,   "ap"sv,         "auc"sv,       "auroc"sv, "bce"sv,    "bleu"sv,
    "bpb"sv,         "bpc"sv,         "ce"sv,         "cer"sv,        "chamfer"sv,   "cider"sv, "cost"sv,   "costs"sv,
    "dice"sv,        "elbo"sv,        "entropy"sv,    "err"sv,        "error"sv,     "f1"sv,    "fid"sv,    "gleu"sv,
    "iou"sv,         "kl"sv,          "kld"sv,        "likelihood"sv, "logloss"sv,   "loss"sv,  "losses"sv, "mae"sv,
    "map"sv,         "mape"sv,        "mcc"sv,        "meteor"sv,     "miou"sv,      "mrr"sv,   "mse"sv,    "ndcg"sv,
    "nll"sv,         "objective"sv,   "perplexity"sv, "ppl"sv,        "precision"sv, "psnr"sv,  "r2"sv,     "recall"sv,
    "return"sv,      "returns"sv,     "reward"sv,     "rewards"sv,    "rew"sv,       "rmse"sv,  "rouge"sv,  "score"sv,
    "sensitivity"sv, "specificity"sv, "ssim"sv,       "top1"sv,       "top5"sv,      "wer"sv,   "xent"sv,
};
constexpr std::array kSignals = {
    "alpha"sv, "beta"sv, "gnorm"sv, "gradnorm"sv, "grad"sv,  "gradient"sv, "lr"sv,
    "lrate"sv, "mfu"sv,  "norm"sv,  "rate"sv,     "scale"sv, "speed"sv,    "throughput"sv,
};
constexpr std::array kStories = {
    "http"sv,      "if"sv,          "let"sv,       "so"sv,       "suppose"sv,   "then"sv,       "thus"sv,
    "decreased"sv, "decreasing"sv,  "dumped"sv,    "every"sv,    "exits"sv,     "finished"sv,   "improve"sv,
    "improved"sv,  "improvement"sv, "improving"sv, "increase"sv, "increased"sv, "increasing"sv, "loaded"sv,
    "loading"sv,   "reduced"sv,     "reducing"sv,  "restored"sv, "restoring"sv, "resumed"sv,    "resuming"sv,
    "saved"sv,     "saving"sv,      "spawned"sv,   "writing"sv,
};
constexpr std::array kSettingWords = {
    "batch"sv,     "bias"sv,         "budget"sv,    "buffer"sv,      "channels"sv,  "classes"sv,  "clip"sv,
    "clipping"sv,  "accumulation"sv, "coef"sv,      "coefficient"sv, "decay"sv,     "depth"sv,    "dim"sv,
    "dropout"sv,   "eps"sv,          "epsilon"sv,   "every"sv,       "factor"sv,    "features"sv, "freq"sv,
    "frequency"sv, "gamma"sv,        "heads"sv,     "hidden"sv,      "init"sv,      "interval"sv, "kernel"sv,
    "lambda"sv,    "layers"sv,       "limit"sv,     "max"sv,         "min"sv,       "momentum"sv, "multiplier"sv,
    "num"sv,       "offset"sv,       "padding"sv,   "patience"sv,    "period"sv,    "port"sv,     "power"sv,
    "procs"sv,     "schedule"sv,     "seed"sv,      "size"sv,        "smoothing"sv, "stride"sv,   "thresh"sv,
    "threshold"sv, "timeout"sv,      "tolerance"sv, "type"sv,        "vocab"sv,     "warmup"sv,   "weight"sv,
    "weights"sv,   "window"sv,       "workers"sv,   "world"sv,
};
constexpr std::array kIgnored = {
    "eta"sv,  "gpu_id"sv,    "line"sv,  "local_rank"sv, "pid"sv,    "port"sv,
    "rank"sv, "remaining"sv, "v_num"sv, "version"sv,    "worker"sv,
};
/// Words that may stand before a counter without changing what it counts.
constexpr std::array kCounterCompany = {
    "at"sv,         "beginning"sv, "current"sv,  "data"sv,      "done"sv,    "end"sv,     "finished"sv,
    "for"sv,        "in"sv,        "iter"sv,     "iteration"sv, "logical"sv, "now"sv,     "of"sv,
    "processing"sv, "start"sv,     "starting"sv, "the"sv,       "time"sv,    "trainer"sv,
};
constexpr std::array kLeading = {
    "a"sv,  "after"sv, "an"sv, "and"sv, "at"sv,  "attempted"sv, "but"sv, "for"sv,     "had"sv, "has"sv,   "in"sv,
    "is"sv, "its"sv,   "of"sv, "on"sv,  "our"sv, "the"sv,       "to"sv,  "setting"sv, "was"sv, "where"sv, "with"sv,
};
constexpr std::array kTrailing = {
    "a"sv, "about"sv, "after"sv, "are"sv, "at"sv, "by"sv, "from"sv, "is"sv, "no"sv, "of"sv, "on"sv, "to"sv, "was"sv,
};
constexpr std::array kUnits = {
    "B"sv,    "C"sv,   "G"sv,   "GB"sv,        "GiB"sv,       "Hz"sv,    "K"sv,   "KB"sv, "KiB"sv, "M"sv,
    "MB"sv,   "MHz"sv, "MiB"sv, "T"sv,         "TB"sv,        "W"sv,     "fps"sv, "h"sv,  "hr"sv,  "it"sv,
    "k"sv,    "kB"sv,  "m"sv,   "min"sv,       "mins"sv,      "ms"sv,    "ns"sv,  "px"sv, "s"sv,   "sec"sv,
    "secs"sv, "us"sv,  "x"sv,   "\xC2\xB5s"sv, "\xCE\xBCs"sv, "epoch"sv, "th"sv,  "st"sv, "nd"sv,  "rd"sv,
};

// What the lists say of one word.
constexpr std::uint8_t kMetric = 1;
constexpr std::uint8_t kSignal = 2;
constexpr std::uint8_t kStory = 4;
constexpr std::uint8_t kSetting = 8;
constexpr std::uint8_t kBest = 16;
constexpr std::uint8_t kWeakSetting = 32;

std::uint8_t flags_of(std::string_view word) {
  static const auto table = [] {
    std::unordered_map<std::string_view, std::uint8_t> flags;
    for (const std::string_view one : kMetrics) flags[one] |= kMetric;
    for (const std::string_view one : kSignals) flags[one] |= kSignal;
    for (const std::string_view one : kStories) flags[one] |= kStory;
    for (const std::string_view one : kSettingWords) flags[one] |= kSetting;
    flags["best"] |= kBest;
    // A setting by themselves, but "batch loss" and "max accuracy" are measured.
    for (const char* one : {"batch", "max", "min"}) flags[one] = kWeakSetting;
    return flags;
  }();
  const auto found = table.find(word);
  return found == table.end() ? std::uint8_t{0} : found->second;
}

template <std::size_t N>
bool among(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

struct CounterName {
  std::string_view name;
  std::uint8_t tier;
};
/// Lower tiers count the whole run, higher ones may start again in each epoch.
constexpr std::array kStepCounters = {
    CounterName{"batch", 3},
    CounterName{"batch_idx", 3},
    CounterName{"current_steps", 2},
    CounterName{"env_steps", 2},
    CounterName{"episode", 3},
    CounterName{"episodes", 3},
    CounterName{"frame", 3},
    CounterName{"frames", 3},
    CounterName{"generation", 3},
    CounterName{"global_iter", 1},
    CounterName{"global_step", 1},
    CounterName{"global_steps", 1},
    CounterName{"globalstep", 1},
    CounterName{"it", 2},
    CounterName{"iter", 2},
    CounterName{"iter_num", 2},
    CounterName{"iteration", 2},
    CounterName{"iterations", 2},
    CounterName{"iters", 2},
    CounterName{"itr", 2},
    CounterName{"micro_step", 3},
    CounterName{"minibatch", 3},
    CounterName{"n_iter", 2},
    CounterName{"nupdates", 2},
    CounterName{"num_env_steps", 2},
    CounterName{"num_updates", 1},
    CounterName{"round", 3},
    CounterName{"step", 2},
    CounterName{"step_num", 2},
    CounterName{"steps", 2},
    CounterName{"num_timesteps", 1},
    CounterName{"timesteps_total", 1},
    CounterName{"totalenvinteracts", 1},
    CounterName{"timestep", 2},
    CounterName{"timesteps", 2},
    CounterName{"timestepssofar", 1},
    CounterName{"total_num_frames", 1},
    CounterName{"total_timesteps", 1},
    CounterName{"up", 2},
    CounterName{"update", 2},
    CounterName{"updates", 2},
    CounterName{"\xE6\xAD\xA5", 2},
    CounterName{"\xE6\xAD\xA5\xE6\x95\xB0", 2},
};

std::uint8_t step_tier(std::string_view name) {
  static const auto table = [] {
    std::unordered_map<std::string_view, std::uint8_t> tiers;
    for (const CounterName& counter : kStepCounters) tiers[counter.name] = counter.tier;
    return tiers;
  }();
  const auto found = table.find(name);
  return found == table.end() ? std::uint8_t{0} : found->second;
}

bool counts_epochs(std::string_view name) {
  return name == "epoch" || name == "ep" || name == "epoch_num" || name == "\xE8\xBD\xAE" ||
         name == "\xE8\xBD\xAE\xE6\xAC\xA1" || name == "\xE5\x9B\x9E\xE5\x90\x88" ||
         name == "\xE8\xAE\xAD\xE7\xBB\x83\xE5\x9B\x9E\xE5\x90\x88";
}

/// Chinese words that logs use for what others write in English; longer ones first.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kChinese{{
    {"\xE5\xAD\xA6\xE4\xB9\xA0\xE7\x8E\x87", "learning rate"},
    {"\xE5\x87\x86\xE7\xA1\xAE\xE7\x8E\x87", "accuracy"},
    {"\xE6\xAD\xA3\xE7\xA1\xAE\xE7\x8E\x87", "accuracy"},
    {"\xE5\x9B\xB0\xE6\x83\x91\xE5\xBA\xA6", "perplexity"},
    {"\xE8\xAE\xAD\xE7\xBB\x83", "train "},
    {"\xE9\xAA\x8C\xE8\xAF\x81", "val "},
    {"\xE6\xB5\x8B\xE8\xAF\x95", "test "},
    {"\xE6\x8D\x9F\xE5\xA4\xB1", "loss"},
    {"\xE7\xB2\xBE\xE5\xBA\xA6", "accuracy"},
}};

/// A key as lower-case words, without memory of its own.
class Words {
 public:
  explicit Words(std::string_view key) {
    key = key.substr(0, text_.size());
    std::size_t begin = 0;
    std::size_t length = 0;
    const auto close = [&] {
      if (length > begin && count_ < kMostWords) words_[count_++] = {text_.data() + begin, length - begin};
      begin = length;
    };
    for (std::size_t i = 0; i < key.size(); ++i) {
      const char c = key[i];
      const bool camel = is_upper(c) && i > 0 && !is_upper(key[i - 1]) && is_letter(key[i - 1]);
      if (camel) close();
      if (is_letter(c) || (is_digit(c) && length > begin)) {
        text_[length++] = lower(c);
      } else {
        close();
      }
    }
    close();
  }
  [[nodiscard]] std::span<const std::string_view> all() const { return {words_.data(), count_}; }

 private:
  std::array<char, 160> text_{};
  std::array<std::string_view, kMostWords> words_{};
  std::size_t count_ = 0;
};

std::string_view without_digits(std::string_view word) {
  while (word.size() > 1 && is_digit(word.back())) word.remove_suffix(1);
  return word;
}

/// The name in the form of the lists: lower case, single underscores, no closing point.
std::string normal_form(std::string_view key) {
  std::string normal;
  for (const char c : key) {
    if (c == ' ' || c == '-' || c == '_') {
      if (!normal.empty() && normal.back() != '_') normal += '_';
    } else {
      normal += lower(c);
    }
  }
  while (!normal.empty() && (normal.back() == '.' || normal.back() == '_' || normal.back() == '#')) normal.pop_back();
  return normal;
}

void find_counter(std::string_view key, KeyTraits& traits) {
  const std::string normal = normal_form(key);
  std::string_view name = normal;
  // Words in front that leave the meaning: "Train Epoch", "Beginning of Epoch", "valid_num_updates", "time/iterations".
  for (;;) {
    traits.epoch = counts_epochs(name);
    traits.step = step_tier(name);
    if (traits.epoch || traits.step != 0) return;
    const std::size_t cut = name.find_first_of("_/. ");
    if (cut == std::string_view::npos) return;
    const std::string_view first = name.substr(0, cut);
    if (split_of(first) == Split::none && !among(kCounterCompany, first) && first != "info") return;
    name.remove_prefix(cut + 1);
  }
}

/// The split that a word names or begins with ("valloss").
Split split_within(std::string_view word) {
  for (const std::string_view ending : {"loss", "acc", "accuracy"}) {
    if (word.size() > ending.size() && word.ends_with(ending)) {
      const Split split = split_of(word.substr(0, word.size() - ending.size()));
      if (split != Split::none) return split;
    }
  }
  return split_of(word);
}

bool has_phrase(std::span<const std::string_view> words, std::string_view first, std::string_view second) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == first && words[i + 1] == second) return true;
  }
  return false;
}

}  // namespace

std::string_view to_string(Split split) {
  switch (split) {
    case Split::train:
      return "train";
    case Split::val:
      return "val";
    case Split::test:
      return "test";
    case Split::dev:
      return "dev";
    case Split::eval:
      return "eval";
    case Split::none:
      break;
  }
  return "";
}

Split split_of(std::string_view word) {
  std::array<char, 12> buffer{};
  if (word.size() > buffer.size() || word.size() < 3) return Split::none;
  const char first = lower(word.front());
  if (first != 't' && first != 'v' && first != 'd' && first != 'e' && first != 'l') return Split::none;
  std::transform(word.begin(), word.end(), buffer.begin(), lower);
  const std::string_view name(buffer.data(), word.size());
  if (name == "train" || name == "learn" || name == "training" || name == "trn" || name == "trainging")
    return Split::train;
  if (name == "val" || name == "valid" || name == "validation" || name == "validate" || name == "validating" ||
      name == "vld" || name == "vali") {
    return Split::val;
  }
  if (name == "test" || name == "testing" || name == "tst") return Split::test;
  if (name == "dev") return Split::dev;
  if (name == "eval" || name == "evaluation" || name == "evaluating" || name == "evaluate") return Split::eval;
  return Split::none;
}

namespace {

KeyTraits describe_english(std::string_view key) {
  KeyTraits traits;
  if (key.empty()) return traits;
  find_counter(key, traits);
  if (traits.epoch || traits.step != 0) return traits;
  const Words words(key);
  const auto all = words.all();
  bool weak_setting = false;
  // NeMo's "reduced_train_loss" is a mean over all ranks, not the tale that something was reduced.
  const bool over_ranks = all.size() > 1 && all[0] == "reduced" && key.find(' ') == std::string_view::npos;
  for (const std::string_view word : all) {
    const Split split = split_within(word);
    if (split != Split::none && traits.split == Split::none) traits.split = split;
    std::uint8_t flags = flags_of(word);
    if (word.size() > 4 && word.ends_with("loss")) flags |= kMetric;
    if (word.size() > 3 && word.ends_with("acc")) flags |= kMetric;
    if (is_digit(word.back())) flags |= flags_of(without_digits(word)) & kMetric;
    traits.metric |= (flags & kMetric) != 0;
    traits.signal |= (flags & kSignal) != 0;
    traits.setting |= (flags & kSetting) != 0;
    weak_setting |= (flags & kWeakSetting) != 0;
    traits.story |= (flags & kStory) != 0 && !over_ranks;
    traits.best |= (flags & kBest) != 0;
    if (static_cast<unsigned char>(word.front()) >= 0x80 && translated(word) != word) traits.metric = true;
  }
  traits.setting |= weak_setting && !traits.metric;
  traits.bare_split = all.size() == 1 && traits.split != Split::none && all[0].size() == key.size();  // not "val@20"
  // "loss scale" and "learning rate" are no figures of merit; "error rate" is.
  if (has_phrase(all, "loss", "scale") || has_phrase(all, "learning", "rate") || has_phrase(all, "loss", "weight")) {
    traits.metric = false;
    traits.signal = true;
  }
  traits.ignored = among(kIgnored, normal_form(key));
  return traits;
}

}  // namespace

KeyTraits describe_key(std::string_view key) {
  const std::string english = in_english(key);
  const KeyTraits traits = describe_english(trim(english));
  // Chinese names have words of their own below.
  return english == key || traits.epoch || traits.step != 0 || traits.metric || traits.signal ? traits
                                                                                              : describe_english(key);
}

std::string_view core_of_key(std::string_view key) {
  const auto folded_among = [](const auto& list, std::string_view word) {
    return std::any_of(list.begin(), list.end(), [&](std::string_view one) {
      return one.size() == word.size() && starts_with_folded(word, one);
    });
  };
  for (;;) {
    const std::size_t space = key.find(' ');
    if (space == std::string_view::npos) break;
    const std::string_view first = key.substr(0, space);
    const bool level = first == "INFO" || first == "WARNING" || first == "DEBUG" || first == "ERROR";
    if (!level && !folded_among(kLeading, first)) break;
    key.remove_prefix(space + 1);
  }
  for (;;) {
    const std::size_t space = key.rfind(' ');
    if (space == std::string_view::npos || !folded_among(kTrailing, key.substr(space + 1))) break;
    key.remove_suffix(key.size() - space);
  }
  if (folded_among(kLeading, key) || folded_among(kTrailing, key)) return {};
  return key;
}

std::string translated(std::string_view key) {
  std::string english(key);
  bool found = false;
  for (const auto& [chinese, word] : kChinese) {
    if (const std::size_t place = english.find(chinese); place != std::string::npos) {
      english.replace(place, chinese.size(), word);
      found = true;
    }
  }
  const bool ascii =
      std::all_of(english.begin(), english.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  while (found && !english.empty() && english.back() == ' ') english.pop_back();
  return found && ascii ? english : std::string(key);
}

bool takes_index(std::string_view word) {
  static constexpr std::array kWords = {
      "agent"sv, "block"sv, "class"sv, "expert"sv, "group"sv,  "head"sv,   "label"sv, "last"sv, "layer"sv,
      "level"sv, "mean"sv,  "over"sv,  "past"sv,   "player"sv, "region"sv, "stage"sv, "task"sv, "top"sv,
  };
  if (word.size() < 3 || word.size() > 6) return false;
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view one) { return one.size() == word.size() && starts_with_folded(word, one); });
}

bool is_unit(std::string_view letters) {
  if (letters.empty() || letters.size() > 16) return false;
  if (letters.find('/') != std::string_view::npos) return true;
  return among(kUnits, letters);
}

bool is_time_unit(std::string_view letters) {
  static constexpr std::array kTimes = {"s"sv,   "ms"sv,   "us"sv,   "ns"sv, "m"sv, "min"sv,
                                        "sec"sv, "secs"sv, "mins"sv, "h"sv,  "hr"sv};
  return among(kTimes, letters);
}

bool starts_with_folded(std::string_view text, std::string_view lower_case) {
  if (text.size() < lower_case.size()) return false;
  for (std::size_t i = 0; i < lower_case.size(); ++i) {
    if (lower(text[i]) != lower_case[i]) return false;
  }
  return true;
}

}  // namespace osler::text
