// Examiner: one of any number of workers that examine the runs of a store when they have changed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "osler/base/result.h"
#include "osler/diagnosis/diagnose.h"
#include "osler/diagnosis/report.h"
#include "osler/store/address.h"
#include "osler/store/store.h"

namespace osler {

/// How a worker works.
struct ExamineOptions {
  std::string worker;            ///< its name, which no other worker may have
  bool all_projects = false;     ///< not only that of the address
  int lease_seconds = 60;        ///< after so long without a sign, others take its runs over
  std::size_t runs_at_once = 8;  ///< that it takes in one go
  DiagnosisOptions diagnosis = {};
  std::stop_token stop;  ///< ends a round between two runs
};

/// What a worker has found out about a run.
struct ExaminedRun {
  RunCard card;
  Report report;
  std::vector<Observation> fresh;  ///< findings that were not there when it was examined before
};

/// Examines runs and stores their reports with their history. One thread at a time.
///
/// A run is taken by a lease: a row that says until when. Where two workers take one in the same moment both may
/// examine it: then one's report takes the place of the other's, which is the same.
class Examiner {
 public:
  Examiner(const StoreAddress& address, const StoreAccess& access, ExamineOptions options);
  ~Examiner();
  Examiner(const Examiner&) = delete;
  Examiner& operator=(const Examiner&) = delete;

  /// Takes some of the runs that changed since they were last examined, and examines them. `hear` is told of each.
  /// Returns how many there were; 0 when there is nothing to do now.
  [[nodiscard]] Result<std::size_t> round(const std::function<void(const ExaminedRun&)>& hear);

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace osler
