// StoreShelf: the runs of a fleet's store, as their examiners left them.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "osler/store/store.h"
#include "server/shelf.h"

namespace osler::server {

/// Lists the runs of a project from the pages that examiners made, and asks the store for the rest. Holds a card of
/// each run and no run. When the store is away, the list stays as it was.
class StoreShelf final : public Shelf {
 public:
  StoreShelf(StoreAddress address, StoreAccess access, DiagnosisOptions diagnosis);

  void search(const std::stop_token& stop) override;
  void examine_changed(const std::stop_token& stop) override;  ///< does nothing: osler examine does it
  void wake() override;
  [[nodiscard]] Text runs_json() const override;
  [[nodiscard]] std::string table_json() const override;
  [[nodiscard]] std::vector<dashboard::Card> cards() const override;
  [[nodiscard]] Changes changes_since(std::uint64_t since, std::chrono::milliseconds patience) const override;
  [[nodiscard]] std::uint64_t revision() const override;
  [[nodiscard]] const DiagnosisOptions& diagnosis() const override { return diagnosis_; }
  [[nodiscard]] Result<void> with_run(std::string_view id,
                                      const std::function<void(const Run&, const Report&)>& look) override;
  [[nodiscard]] Result<void> with_runs(std::string_view a, std::string_view b,
                                       const std::function<void(const Run&, const Run&)>& look) override;
  [[nodiscard]] bool grows(std::string_view id) override;
  [[nodiscard]] Result<Text> answer(std::string_view id, Answer which) override;
  [[nodiscard]] Result<SeriesWindow> window(std::string_view id, const SeriesChoice& series,
                                            const WindowRequest& request) override;

 private:
  struct Shown {
    RunCard run;
    StoredCard examined;  ///< as it was read; empty before it was examined
    dashboard::Card card;
  };

  [[nodiscard]] Result<std::map<StoredRunId, StoredCard>> new_cards(Store& store) const;
  [[nodiscard]] Result<RunCard> find(std::string_view id) const;
  [[nodiscard]] Result<Run> read(std::string_view id) const;
  [[nodiscard]] Store store() const { return {address_, access_}; }

  StoreAddress address_;
  StoreAccess access_;
  DiagnosisOptions diagnosis_;
  std::string state_;  // of the store at the last search

  mutable std::mutex mutex_;  // of what follows
  mutable std::condition_variable changed_;
  std::map<std::string, Shown, std::less<>> shown_;
  std::uint64_t revision_ = 1;
  std::uint64_t anew_revision_ = 0;
  bool searched_ = false;
  bool awake_ = false;
};

}  // namespace osler::server
