// The vocabulary that training logs use, sorted into what each word says about a series.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace osler::words {

using namespace std::string_view_literals;

template <std::size_t N>
constexpr bool has(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Which data the number was measured on.
inline constexpr std::array kTrain = {"train"sv, "training"sv, "trn"sv, "tr"sv, "learn"sv, "fit"sv};
inline constexpr std::array kValidation = {"val"sv, "valid"sv,   "validation"sv, "validate"sv, "validating"sv,
                                           "va"sv,  "vl"sv,      "vld"sv,        "eval"sv,     "evaluation"sv,
                                           "dev"sv, "heldout"sv, "holdout"sv,    "cv"sv,       "vali"sv};
inline constexpr std::array kTest = {"test"sv, "testing"sv, "te"sv, "tst"sv};

// What is measured. Strong loss words always mean a loss; weak ones do when nothing better is there.
inline constexpr std::array kLoss = {
    "loss"sv,  "losses"sv,  "nll"sv,      "xent"sv,      "cost"sv,      "crossentropy"sv, "ce"sv,    "bce"sv,
    "nelbo"sv, "logloss"sv, "mlogloss"sv, "objective"sv, "criterion"sv, "deviance"sv,     "hinge"sv, "chamfer"sv};
// Objectives that are maximised, unless the name says minus or loss.
inline constexpr std::array kMaximised = {"elbo"sv, "iwae"sv, "ll"sv, "loglik"sv, "loglikelihood"sv, "mll"sv};
inline constexpr std::array kNegative = {"neg"sv, "negative"sv, "minus"sv, "n"sv};
inline constexpr std::array kWeakLoss = {"mse"sv, "rmse"sv, "mae"sv,    "ppl"sv, "perplexity"sv, "error"sv, "err"sv,
                                         "bpc"sv, "bpb"sv,  "merror"sv, "l1"sv,  "l2"sv,         "rmsle"sv, "mape"sv};
inline constexpr std::array kAccuracy = {"acc"sv,  "accuracy"sv, "accuracies"sv, "top1"sv, "top5"sv,
                                         "acc1"sv, "acc5"sv,     "accu"sv,       "accs"sv, "categorical_accuracy"sv};
inline constexpr std::array kHigherMetric = {
    "f1"sv,        "auc"sv,     "auroc"sv,   "rocauc"sv, "map"sv,       "map50"sv,       "map95"sv,
    "ap"sv,        "ap50"sv,    "ap75"sv,    "bleu"sv,   "sacrebleu"sv, "rouge"sv,       "rouge1"sv,
    "rouge2"sv,    "rougel"sv,  "iou"sv,     "miou"sv,   "jaccard"sv,   "dice"sv,        "dsc"sv,
    "precision"sv, "recall"sv,  "psnr"sv,    "ssim"sv,   "r2"sv,        "mcc"sv,         "kappa"sv,
    "score"sv,     "chrf"sv,    "meteor"sv,  "cider"sv,  "ndcg"sv,      "mrr"sv,         "hits"sv,
    "hit"sv,       "success"sv, "winrate"sv, "f"sv,      "pearson"sv,   "pearsonr"sv,    "spearman"sv,
    "spearmanr"sv, "aupr"sv,    "auprc"sv,   "exact"sv,  "em"sv,        "specificity"sv, "sensitivity"sv,
    "fitness"sv,   "prec"sv,    "sdr"sv,     "sisdr"sv,  "ccc"sv,       "plcc"sv,        "srcc"sv,
    "qwk"sv,       "uar"sv,     "mota"sv,    "idf1"sv,   "hota"sv};
inline constexpr std::array kLowerMetric = {"wer"sv, "cer"sv, "fid"sv, "eer"sv, "lpips"sv, "ter"sv, "kid"sv};
inline constexpr std::array kReward = {"reward"sv,  "rewards"sv,   "rew"sv,   "return"sv,
                                       "returns"sv, "eprewmean"sv, "epret"sv, "fitness"sv};
inline constexpr std::array kThroughput = {"throughput"sv, "fps"sv, "wps"sv, "ups"sv, "tps"sv, "qps"sv, "ips"sv};
inline constexpr std::array kDuration = {"time"sv,    "ms"sv, "sec"sv,      "secs"sv,
                                         "seconds"sv, "dt"sv, "duration"sv, "latency"sv};

// Losses of parts that play against or beside each other: their level says little by itself.
inline constexpr std::array kGenerator = {"gen"sv, "generator"sv, "g"sv};
inline constexpr std::array kDiscriminator = {"dis"sv, "disc"sv, "discriminator"sv, "d"sv, "discrim"sv};
inline constexpr std::array kActor = {"actor"sv, "act"sv, "policy"sv, "pg"sv, "pi"sv, "surrogate"sv};
inline constexpr std::array kCritic = {"critic"sv, "cri"sv, "vfn"sv, "critics"sv, "value"sv, "vf"sv, "v"sv,
                                       "qf"sv,     "qf1"sv, "qf2"sv, "q"sv,       "q1"sv,    "q2"sv, "td"sv};
inline constexpr std::array kAdversarial = {"gen"sv,   "generator"sv,   "dis"sv,    "disc"sv,   "discriminator"sv,
                                            "gan"sv,   "actor"sv,       "critic"sv, "policy"sv, "value"sv,
                                            "adv"sv,   "adversarial"sv, "pg"sv,     "vf"sv,     "qf"sv,
                                            "qf1"sv,   "qf2"sv,         "q"sv,      "td"sv,     "entropy"sv,
                                            "g"sv,     "d"sv,           "kl"sv,     "ppo"sv,    "grpo"sv,
                                            "alpha"sv, "surrogate"sv};
// Generated answers of a language model.
inline constexpr std::array kCompletion = {"completion"sv, "completions"sv, "response"sv, "responses"sv,
                                           "generation"sv};

// Words that describe how a number was collected and leave its meaning alone.
inline constexpr std::array kCollection = {
    "step"sv,    "epoch"sv,    "epochs"sv,      "batch"sv,     "total"sv,   "mean"sv, "avg"sv,
    "average"sv, "iter"sv,     "iteration"sv,   "the"sv,       "model"sv,   "lm"sv,   "per"sv,
    "metrics"sv, "metric"sv,   "scalars"sv,     "global"sv,    "overall"sv, "all"sv,  "word"sv,
    "token"sv,   "sample"sv,   "cross"sv,       "entropy"sv,   "log"sv,     "x"sv,    "main"sv,
    "sum"sv,     "final"sv,    "set"sv,         "data"sv,      "0"sv,       "1"sv,    "s"sv,
    "current"sv, "b"sv,        "env"sv,         "rollout"sv,   "charts"sv,  "ep"sv,   "of"sv,
    "episode"sv, "episodic"sv, "environment"sv, "extrinsic"sv, "runners"sv, "ret"sv,  "cumulative"sv};
// Words that belong to the name of a figure: "mean squared error", "success rate".
inline constexpr std::array kManner = {"squared"sv, "absolute"sv,    "percentage"sv, "rate"sv,   "categorical"sv,
                                       "sparse"sv,  "coefficient"sv, "perplexity"sv, "binary"sv, "likelihood"sv};
inline constexpr std::array kSmoothed = {"smooth"sv, "smoothed"sv, "ema"sv,    "running"sv,
                                         "avg"sv,    "average"sv,  "moving"sv, "median"sv};
// A series of these is derived from another one and must not be diagnosed by itself.
inline constexpr std::array kDerived = {
    "best"sv,      "std"sv,    "stdev"sv, "var"sv,    "variance"sv,    "min"sv,      "max"sv,
    "count"sv,     "weight"sv, "num"sv,   "coef"sv,   "coeff"sv,       "ratio"sv,    "lambda"sv,
    "frac"sv,      "delta"sv,  "diff"sv,  "gap"sv,    "improvement"sv, "patience"sv, "target"sv,
    "threshold"sv, "stddev"sv, "bytes"sv, "length"sv, "eta"sv};

// Families under which tools file per-layer tensors.
inline constexpr std::array kGradientFamily = {"gradients"sv, "grads"sv,    "grad"sv,
                                               "gradient"sv,  "gradnorm"sv, "gradnorms"sv};
inline constexpr std::array kWeightFamily = {"weights"sv, "weight"sv,     "params"sv,   "parameters"sv,
                                             "param"sv,   "weightnorm"sv, "paramnorm"sv};
inline constexpr std::array kUpdateFamily = {"updates"sv, "update"sv, "updateratio"sv};
inline constexpr std::array kActivationFamily = {"activations"sv, "activation"sv, "acts"sv, "act"sv};

// Folders that trainers put before the family, and that say "norm" behind it.
inline constexpr std::array kLayerShelf = {"train"sv, "training"sv, "trainer"sv, "metrics"sv, "optim"sv,
                                           "debug"sv, "stats"sv,    "lnorm"sv,   "norm"sv,    "norms"sv};
inline constexpr std::array kNormFolder = {"norm"sv, "norms"sv, "lnorm"sv, "l"sv};

}  // namespace osler::words
