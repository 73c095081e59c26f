// The gallery's patients as data, so that a trainer in Python can follow the same recipes.
#include <pybind11/stl.h>

#include "bindings/bindings.h"
#include "osler/gallery/patient.h"

namespace py = pybind11;

namespace osler::python {
namespace {

py::list all_patients() {
  py::list all;
  for (const auto& [stem, patient] : gallery::patients()) {
    py::dict told;
    told["id"] = patient.id;
    told["title"] = patient.title;
    told["recipe"] = gallery::settings(patient.recipe);
    told["finding"] = patient.finding;
    told["also"] = patient.also;
    told["probe"] = patient.probe;
    all.append(told);
  }
  return all;
}

}  // namespace

void add_gallery(py::module_& module) {
  module.def("patients", all_patients);
}

}  // namespace osler::python
