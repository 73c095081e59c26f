// What a tensor holds, and the names and explanations that the tracing of operations asks for.
#include "bindings/tensors.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "bindings/bindings.h"
#include "monitor/name_book.h"
#include "monitor/nonfinite_cause.h"
#include "monitor/nonfinite_flow.h"
#include "monitor/operations.h"
#include "osler/stats/engine.h"

namespace osler::python {
namespace {

namespace py = pybind11;

py::dict facts_of(py::handle tensor) {
  TensorReader reader;
  const auto view = reader.view(tensor);
  py::dict facts;
  if (!view) return facts;
  stats::TensorStats stats;
  {
    const py::gil_scoped_release unlocked;
    const auto engine = stats::make_cpu_engine(0);
    stats::Batch batch;
    const std::size_t asked = batch.summarize(*view);
    if (engine->submit(batch)) engine->wait(batch);
    stats = batch.summary(asked);
  }
  facts["count"] = stats.count;
  facts["nan"] = stats.nan_count;
  facts["inf"] = stats.inf_count;
  facts["first"] = std::min(stats.first_nan, stats.first_inf);
  facts["min"] = stats.finite_count() > 0 ? stats.min : 0.0;
  facts["max"] = stats.finite_count() > 0 ? stats.max : 0.0;
  facts["mean"] = stats.mean;
  facts["std"] = stats.std_dev();
  facts["norm"] = stats.l2();
  return facts;
}

py::tuple judged(const std::string& plain, const std::string& node, bool half, bool infinite,
                 std::optional<double> first, std::optional<double> second, double largest, bool infinite_inputs) {
  const auto judgement = monitor::judge({plain, node, half, infinite, first, second, largest, infinite_inputs});
  return py::make_tuple(std::string(monitor::to_string(judgement.cause)), judgement.detail);
}

/// `carried` is "nothing", "asked-for" or "fault"; tells "carried-on", "asked-for" or "accused".
std::string ruled(const std::string& plain, const std::string& carried, bool nan_carried, bool nan_made,
                  bool scalars_finite) {
  monitor::FlowClues clues;
  clues.plain = plain;
  clues.carried = carried == "fault"       ? monitor::Carried::fault
                  : carried == "asked-for" ? monitor::Carried::asked_for
                                           : monitor::Carried::nothing;
  clues.nan_carried = nan_carried;
  clues.nan_made = nan_made;
  clues.scalars_finite = scalars_finite;
  switch (monitor::ruling(clues)) {
    case monitor::FlowRuling::carried_on:
      return "carried-on";
    case monitor::FlowRuling::asked_for:
      return "asked-for";
    case monitor::FlowRuling::accused:
      break;
  }
  return "accused";
}

std::string part_name(const std::string& plain) {
  switch (monitor::part_of(plain)) {
    case monitor::Part::weighted:
      return "weighted";
    case monitor::Part::normalisation:
      return "normalisation";
    case monitor::Part::recurrent:
      return "recurrent";
    case monitor::Part::embedding:
      return "embedding";
    case monitor::Part::activation:
      return "activation";
    case monitor::Part::softmax:
      return "softmax";
    case monitor::Part::joining:
      return "joining";
    case monitor::Part::other:
      break;
  }
  return "other";
}

using Keys = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

std::string result_name(const monitor::NameBook& book, const std::string& plain, const Keys& inputs) {
  std::vector<monitor::TensorKey> keys;
  keys.reserve(inputs.size());
  for (const auto& [tensor, storage] : inputs) keys.push_back({tensor, storage});
  return book.result(plain, keys);
}

}  // namespace

void add_tensors(py::module_& module) {
  py::class_<monitor::NameBook>(module, "NameBook")
      .def(py::init<>())
      .def("declare", &monitor::NameBook::declare)
      .def("result", &result_name)
      .def("name", &monitor::NameBook::name)
      .def("of",
           [](const monitor::NameBook& book, std::uint64_t tensor, std::uint64_t storage) {
             return book.of({tensor, storage});
           })
      .def("parameter",
           [](const monitor::NameBook& book, std::uint64_t storage) { return std::string(book.parameter(storage)); })
      .def("forget", &monitor::NameBook::forget);
  module.def("tensor_facts", &facts_of);
  module.def("judge", &judged, py::arg(), py::arg(), py::arg(), py::arg(), py::arg(), py::arg(), py::arg(),
             py::arg("infinite_inputs") = false);
  module.def("ruling", &ruled);
  module.def("looks_like_mask",
             [](const std::string& plain, bool nan, bool above, bool numbers, double highest, double lowest) {
               return monitor::looks_like_mask(plain, {nan, above, numbers, highest, lowest});
             });
  module.def("ignores_first", [](const std::string& plain, const std::vector<double>& scalars) {
    return monitor::ignores_first(plain, scalars);
  });
  module.def("overwrites", [](const std::string& operation) { return monitor::overwrites(operation); });
  module.def("plain_name", [](const std::string& operation) { return monitor::plain_name(operation); });
  module.def("plain_node_name", [](const std::string& node) { return monitor::plain_node_name(node); });
  module.def("part_of", &part_name);
  module.def("only_looks", [](const std::string& plain) { return monitor::only_looks(plain); });
  module.def("uninitialised", [](const std::string& plain) { return monitor::uninitialised(plain); });
}

}  // namespace osler::python
