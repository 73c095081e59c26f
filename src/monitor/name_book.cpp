// Following names from weights through operations.
#include "monitor/name_book.h"

#include "monitor/operations.h"

namespace osler::monitor {
namespace {

constexpr std::string_view kArrow = " -> ";
constexpr std::size_t kLongestName = 120;

std::string joined(std::string name, std::string_view part) {
  if (name.empty()) return std::string(part);
  // x + x + x: one "add" says it.
  if (name.ends_with(part) && name.size() > part.size() && name[name.size() - part.size() - 1] == ' ') return name;
  if (name.size() + part.size() > kLongestName) {
    const auto last = name.rfind(kArrow);
    name = "... -> " + name.substr(last == std::string::npos ? 0 : last + kArrow.size());
  }
  return name + std::string(kArrow) + std::string(part);
}

}  // namespace

void NameBook::declare(const std::string& name, std::uint64_t storage) {
  if (storage == 0) return;
  const auto dot = name.rfind('.');
  by_storage_.try_emplace(storage, Owned{name, dot == std::string::npos ? name : name.substr(0, dot)});
}

std::string_view NameBook::parameter(std::uint64_t storage) const {
  const auto found = by_storage_.find(storage);
  return found == by_storage_.end() ? std::string_view{} : std::string_view(found->second.parameter);
}

std::string_view NameBook::layer(std::uint64_t storage) const {
  const auto found = by_storage_.find(storage);
  return found == by_storage_.end() ? std::string_view{} : std::string_view(found->second.layer);
}

std::string NameBook::of(const TensorKey& key) const {
  const auto found = given_.find(key.tensor);
  return found == given_.end() ? std::string(layer(key.storage)) : found->second.name;
}

std::string NameBook::result(std::string_view plain, std::span<const TensorKey> inputs) const {
  std::string weight;
  std::string before;
  std::uint64_t newest = 0;
  for (const TensorKey& input : inputs) {
    if (weight.empty()) weight = layer(input.storage);
    const auto given = given_.find(input.tensor);
    if (given == given_.end() || given->second.order < newest || !layer(input.storage).empty()) continue;
    newest = given->second.order;
    before = given->second.name;
  }
  switch (part_of(plain)) {
    case Part::weighted:
    case Part::recurrent:
    case Part::embedding:
      return weight.empty() ? before : weight;
    case Part::normalisation:
      return joined(before, weight.empty() ? plain : std::string_view(weight));
    case Part::activation:
    case Part::softmax:
      return before.empty() ? weight : joined(before, plain);
    case Part::joining:
      return before.empty() ? weight : before;
    case Part::other:
      break;
  }
  return before.empty() ? weight : before;
}

void NameBook::name(std::uint64_t tensor, const std::string& name) {
  if (name.empty()) {
    given_.erase(tensor);
  } else {
    given_.insert_or_assign(tensor, Given{name, ++order_});
  }
}

}  // namespace osler::monitor
