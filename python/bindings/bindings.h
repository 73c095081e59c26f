// What the parts of the compiled module share: errors, and the functions that add each part to the module.
#pragma once

#include <pybind11/pybind11.h>

#include <utility>

#include "osler/base/error.h"
#include "osler/base/result.h"

namespace osler::python {

/// An error on its way to Python, where it becomes one of osler.errors.
struct Failure {
  Error error;
};

/// The value of a result; its error is thrown.
template <typename T>
T taken(Result<T> result) {
  if (!result) throw Failure{std::move(result).error()};
  return std::move(result).value();
}
inline void taken(const Result<void>& result) {
  if (!result) throw Failure{result.error()};
}

void add_runs(pybind11::module_& module);
void add_reports(pybind11::module_& module);
void add_recorder(pybind11::module_& module);
void add_watch(pybind11::module_& module);
void add_tensors(pybind11::module_& module);
void add_probes(pybind11::module_& module);
void add_comparisons(pybind11::module_& module);
void add_gpu(pybind11::module_& module);
void add_gallery(pybind11::module_& module);

}  // namespace osler::python
