// The series under "osler/": what a monitor inside a training writes and the diagnosis reads, each name said once.
// Run files keep these names, so they are a public contract: add, never rename.
#pragma once

#include <string>
#include <string_view>

namespace osler::series_name {

// What monitor.batch saw of a batch.
inline constexpr std::string_view kBatchNonfiniteShare = "osler/batch/nonfinite-share";
inline constexpr std::string_view kBatchMagnitude = "osler/batch/magnitude";
inline constexpr std::string_view kBatchCenter = "osler/batch/center";
inline constexpr std::string_view kBatchDeviation = "osler/batch/deviation";
inline constexpr std::string_view kBatchIdenticalSamples = "osler/batch/identical-samples";
inline constexpr std::string_view kBatchRepeated = "osler/batch/repeated";
inline constexpr std::string_view kBatchRepeatedAfter = "osler/batch/repeated-after";
inline constexpr std::string_view kBatchInvalidLabelsShare = "osler/batch/invalid-labels-share";
inline constexpr std::string_view kBatchConstantLabel = "osler/batch/constant-label";
inline constexpr std::string_view kBatchLargestClassShare = "osler/batch/largest-class-share";
inline constexpr std::string_view kBatchClassShareSoFar = "osler/batch/class-share-so-far";
inline constexpr std::string_view kBatchClasses = "osler/batch/classes";
inline constexpr std::string_view kBatchSize = "osler/batch/size";

// What monitor.validation_batch saw of a batch.
inline constexpr std::string_view kValidationNonfiniteShare = "osler/validation-batch/nonfinite-share";
inline constexpr std::string_view kValidationInvalidLabelsShare = "osler/validation-batch/invalid-labels-share";

// Checks: 0 when all is well, unless the finding that reads one says otherwise.
inline constexpr std::string_view kCheckEvalModeInTraining = "osler/check/eval-mode-in-training";
inline constexpr std::string_view kCheckGradientsCarried = "osler/check/gradients-carried";
inline constexpr std::string_view kCheckGradientsCleared = "osler/check/gradients-cleared";
inline constexpr std::string_view kCheckOutputsSquashedTwice = "osler/check/outputs-squashed-twice";
inline constexpr std::string_view kCheckParametersNotOptimized = "osler/check/parameters-not-optimized";
inline constexpr std::string_view kCheckSchedulerNotCheckpointed = "osler/check/scheduler-not-checkpointed";
inline constexpr std::string_view kCheckSoftmaxOverSamples = "osler/check/softmax-over-samples";
inline constexpr std::string_view kCheckSplitOverlap = "osler/check/split-overlap";
inline constexpr std::string_view kCheckTargetsBroadcast = "osler/check/targets-broadcast";
inline constexpr std::string_view kCheckTrainModeInValidation = "osler/check/train-mode-in-validation";
inline constexpr std::string_view kCheckValidationAugmented = "osler/check/validation-augmented";
inline constexpr std::string_view kCheckValidationBuildsGraph = "osler/check/validation-builds-graph";

// One step of training.
inline constexpr std::string_view kClipFactor = "osler/clip-factor";
inline constexpr std::string_view kGradientNoiseScale = "osler/gradient-noise-scale";
inline constexpr std::string_view kLogitsMax = "osler/logits/max";
inline constexpr std::string_view kMemoryResident = "osler/memory/resident";
inline constexpr std::string_view kRollBack = "osler/roll-back";
inline constexpr std::string_view kTimeData = "osler/time/data";
inline constexpr std::string_view kTimeForward = "osler/time/forward";
inline constexpr std::string_view kTimeBackward = "osler/time/backward";
inline constexpr std::string_view kTimeOptimizer = "osler/time/optimizer";

// The ranks of a data-parallel training beside each other.
inline constexpr std::string_view kRanksGradientDifference = "osler/ranks/gradient-difference";
inline constexpr std::string_view kRanksSlowest = "osler/ranks/slowest";
inline constexpr std::string_view kRanksSlowestRatio = "osler/ranks/slowest-ratio";
inline constexpr std::string_view kRanksWeightDifference = "osler/ranks/weight-difference";

// Beginnings of names, each completed by the name of a parameter, or the id of a check or a cause.
inline constexpr std::string_view kCheckOf = "osler/check/";
inline constexpr std::string_view kInitRowsOf = "osler/init/rows/";
inline constexpr std::string_view kInitScaleOf = "osler/init/scale/";
inline constexpr std::string_view kOriginOf = "osler/origin/";
inline constexpr std::string_view kParameterFrozenOf = "osler/check/parameters-frozen/";
inline constexpr std::string_view kParameterNotOptimizedOf = "osler/check/parameters-not-optimized/";
inline constexpr std::string_view kParameterTableOf = "osler/check/parameters-in-table/";  // of embeddings

/// A beginning and what completes it.
[[nodiscard]] inline std::string completed(std::string_view beginning, std::string_view rest) {
  return std::string(beginning).append(rest);
}

}  // namespace osler::series_name
