// The words for figures of merit, and their names.
#include "run/role_measure.h"

namespace osler {
namespace {

struct MeasureWord {
  std::string_view word;
  Measure measure;
};

// The first word of the list that a name has decides: special ones come before general ones.
constexpr std::array kMeasureWords = {
    MeasureWord{"auc", Measure::auc},
    MeasureWord{"auroc", Measure::auc},
    MeasureWord{"rocauc", Measure::auc},
    MeasureWord{"f1", Measure::f1},
    MeasureWord{"map", Measure::average_precision},
    MeasureWord{"map50", Measure::average_precision},
    MeasureWord{"map95", Measure::average_precision},
    MeasureWord{"ap", Measure::average_precision},
    MeasureWord{"ap50", Measure::average_precision},
    MeasureWord{"ap75", Measure::average_precision},
    MeasureWord{"aupr", Measure::average_precision},
    MeasureWord{"auprc", Measure::average_precision},
    MeasureWord{"iou", Measure::iou},
    MeasureWord{"miou", Measure::iou},
    MeasureWord{"jaccard", Measure::iou},
    MeasureWord{"dice", Measure::dice},
    MeasureWord{"dsc", Measure::dice},
    MeasureWord{"mcc", Measure::mcc},
    MeasureWord{"kappa", Measure::mcc},
    MeasureWord{"qwk", Measure::mcc},
    MeasureWord{"r2", Measure::r2},
    MeasureWord{"pearson", Measure::correlation},
    MeasureWord{"pearsonr", Measure::correlation},
    MeasureWord{"spearman", Measure::correlation},
    MeasureWord{"spearmanr", Measure::correlation},
    MeasureWord{"ccc", Measure::correlation},
    MeasureWord{"plcc", Measure::correlation},
    MeasureWord{"srcc", Measure::correlation},
    MeasureWord{"bleu", Measure::bleu},
    MeasureWord{"sacrebleu", Measure::bleu},
    MeasureWord{"rouge", Measure::rouge},
    MeasureWord{"rouge1", Measure::rouge},
    MeasureWord{"rouge2", Measure::rouge},
    MeasureWord{"rougel", Measure::rouge},
    MeasureWord{"exact", Measure::exact_match},
    MeasureWord{"em", Measure::exact_match},
    MeasureWord{"wer", Measure::word_error_rate},
    MeasureWord{"cer", Measure::word_error_rate},
    MeasureWord{"ter", Measure::word_error_rate},
    MeasureWord{"eer", Measure::error_rate},
    MeasureWord{"success", Measure::success_rate},
    MeasureWord{"winrate", Measure::success_rate},
    MeasureWord{"hit", Measure::hit_rate},
    MeasureWord{"hits", Measure::hit_rate},
    MeasureWord{"ndcg", Measure::ranking},
    MeasureWord{"mrr", Measure::ranking},
    MeasureWord{"psnr", Measure::psnr},
    MeasureWord{"ssim", Measure::ssim},
    MeasureWord{"sdr", Measure::psnr},
    MeasureWord{"sisdr", Measure::psnr},
    MeasureWord{"fid", Measure::fid},
    MeasureWord{"kid", Measure::fid},
    MeasureWord{"balanced", Measure::balanced_accuracy},
    MeasureWord{"bacc", Measure::balanced_accuracy},
    MeasureWord{"top5", Measure::top_accuracy},
    MeasureWord{"acc5", Measure::top_accuracy},
    MeasureWord{"precision", Measure::precision},
    MeasureWord{"prec", Measure::precision},
    MeasureWord{"recall", Measure::recall},
    MeasureWord{"sensitivity", Measure::recall},
    MeasureWord{"specificity", Measure::recall},
    MeasureWord{"ppl", Measure::perplexity},
    MeasureWord{"perplexity", Measure::perplexity},
    MeasureWord{"bpb", Measure::bits},
    MeasureWord{"bpc", Measure::bits},
    MeasureWord{"bce", Measure::binary_cross_entropy},
    MeasureWord{"nll", Measure::cross_entropy},
    MeasureWord{"ce", Measure::cross_entropy},
    MeasureWord{"xent", Measure::cross_entropy},
    MeasureWord{"crossentropy", Measure::cross_entropy},
    MeasureWord{"logloss", Measure::cross_entropy},
    MeasureWord{"mlogloss", Measure::cross_entropy},
    MeasureWord{"hinge", Measure::hinge},
    MeasureWord{"rmse", Measure::root_squared_error},
    MeasureWord{"rmsle", Measure::root_squared_error},
    MeasureWord{"mse", Measure::squared_error},
    MeasureWord{"l2", Measure::squared_error},
    MeasureWord{"mape", Measure::relative_error},
    MeasureWord{"mae", Measure::absolute_error},
    MeasureWord{"l1", Measure::absolute_error},
    MeasureWord{"merror", Measure::error_rate},
    MeasureWord{"accuracy", Measure::accuracy},
    MeasureWord{"accuracies", Measure::accuracy},
    MeasureWord{"acc", Measure::accuracy},
    MeasureWord{"accs", Measure::accuracy},
    MeasureWord{"acc1", Measure::accuracy},
    MeasureWord{"top1", Measure::accuracy},
    MeasureWord{"accu", Measure::accuracy},
    MeasureWord{"score", Measure::score},
    MeasureWord{"cider", Measure::score},
    MeasureWord{"meteor", Measure::score},
    MeasureWord{"chrf", Measure::score},
    MeasureWord{"uar", Measure::balanced_accuracy},
    MeasureWord{"mota", Measure::score},
    MeasureWord{"idf1", Measure::score},
    MeasureWord{"hota", Measure::score},
    MeasureWord{"fitness", Measure::score},
};

struct MeasureName {
  Measure measure;
  std::string_view name;
};

constexpr std::array kMeasureNames = {
    MeasureName{Measure::unknown, "unknown"},
    MeasureName{Measure::cross_entropy, "cross-entropy"},
    MeasureName{Measure::binary_cross_entropy, "binary-cross-entropy"},
    MeasureName{Measure::log_likelihood, "log-likelihood"},
    MeasureName{Measure::bits, "bits"},
    MeasureName{Measure::perplexity, "perplexity"},
    MeasureName{Measure::squared_error, "squared-error"},
    MeasureName{Measure::root_squared_error, "root-squared-error"},
    MeasureName{Measure::absolute_error, "absolute-error"},
    MeasureName{Measure::relative_error, "relative-error"},
    MeasureName{Measure::hinge, "hinge"},
    MeasureName{Measure::accuracy, "accuracy"},
    MeasureName{Measure::top_accuracy, "top-accuracy"},
    MeasureName{Measure::error_rate, "error-rate"},
    MeasureName{Measure::balanced_accuracy, "balanced-accuracy"},
    MeasureName{Measure::auc, "auc"},
    MeasureName{Measure::average_precision, "average-precision"},
    MeasureName{Measure::precision, "precision"},
    MeasureName{Measure::recall, "recall"},
    MeasureName{Measure::f1, "f1"},
    MeasureName{Measure::iou, "iou"},
    MeasureName{Measure::dice, "dice"},
    MeasureName{Measure::mcc, "mcc"},
    MeasureName{Measure::r2, "r2"},
    MeasureName{Measure::correlation, "correlation"},
    MeasureName{Measure::bleu, "bleu"},
    MeasureName{Measure::rouge, "rouge"},
    MeasureName{Measure::exact_match, "exact-match"},
    MeasureName{Measure::word_error_rate, "word-error-rate"},
    MeasureName{Measure::success_rate, "success-rate"},
    MeasureName{Measure::hit_rate, "hit-rate"},
    MeasureName{Measure::ranking, "ranking"},
    MeasureName{Measure::psnr, "psnr"},
    MeasureName{Measure::ssim, "ssim"},
    MeasureName{Measure::fid, "fid"},
    MeasureName{Measure::score, "score"},
};

}  // namespace

Measure measure_of(const NameWords& w) {
  if (w.adjacent("cross", "entropy")) return w.any("binary") ? Measure::binary_cross_entropy : Measure::cross_entropy;
  if (w.adjacent("bits", "per")) return Measure::bits;
  if (w.adjacent("squared", "error")) return Measure::squared_error;
  if (w.adjacent("absolute", "error")) return Measure::absolute_error;
  if (w.adjacent("error", "rate")) return w.any("word") ? Measure::word_error_rate : Measure::error_rate;
  if (w.any("5") && (w.any("top") || w.any("acc") || w.any("accuracy"))) return Measure::top_accuracy;
  // "metrics/mAP50-95(B)" has more than one word of the list; the list's order decides.
  for (const auto& [word, measure] : kMeasureWords) {
    if (w.any(word)) return measure;
  }
  return Measure::unknown;
}

std::string_view to_string(Measure measure) {
  for (const auto& [known, name] : kMeasureNames) {
    if (known == measure) return name;
  }
  return "unknown";
}

}  // namespace osler
