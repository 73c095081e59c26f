// The compiled module osler._core: the engine as Python sees it. The package's own modules make it pleasant.
#include <pybind11/pybind11.h>

#include <exception>
#include <string>

#include "bindings/bindings.h"
#include "osler/base/version.h"
#include "osler/report/render.h"

namespace py = pybind11;

namespace {

void translate(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const osler::python::Failure& failure) {
    const osler::Error& error = failure.error;
    const py::object made = py::module_::import("osler.errors")
                                .attr("error_for")(std::string(to_string(error.code)), describe(error), error.context);
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
  }
}

}  // namespace

PYBIND11_MODULE(_core, module) {
  module.doc() = "The C++ engine of Osler.";
  py::register_exception_translator(translate);
  module.def("version", [] { return std::string(osler::version()); });
  osler::python::add_runs(module);
  osler::python::add_comparisons(module);
  osler::python::add_reports(module);
  osler::python::add_recorder(module);
  osler::python::add_tensors(module);
  osler::python::add_gpu(module);
  osler::python::add_watch(module);
  osler::python::add_probes(module);
  osler::python::add_gallery(module);
}
