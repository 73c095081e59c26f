// What the watches of one thread know of each other.
#include "monitor/company.h"

#include <unordered_set>

namespace osler::monitor {
namespace {

constexpr int kTurnsToKnow = 5;

struct Thread {
  std::uint64_t watches = 0;
  std::uint64_t steps = 0;   // of all of them
  std::uint64_t newest = 0;  // who took the newest one
  double trained = 0;
  std::unordered_set<std::uint64_t> players;
};
thread_local Thread here;

}  // namespace

Company::Company() : id_(++here.watches), trained_(here.trained) {}

void Company::used() {
  if (!first_use_) first_use_ = here.steps;
  last_use_ = here.steps;
}

void Company::left(double seconds) {
  // Used before somebody else's step and after it.
  if (first_use_ && *first_use_ < last_use_ && ++turns_ >= kTurnsToKnow) here.players.insert({id_, here.newest});
  first_use_.reset();
  ++here.steps;
  here.newest = id_;
  here.trained += seconds;
  trained_ = here.trained;
}

double Company::others_trained() const {
  return here.trained - trained_;
}

bool Company::in_turns() const {
  return here.players.contains(id_);
}

}  // namespace osler::monitor
