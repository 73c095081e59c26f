// Reading tensors through their Python attributes.
#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>

#include "bindings/tensors.h"

namespace osler::python {
namespace {

namespace py = pybind11;

/// What the names of types and layouts say, asked once for each object: they live as long as their framework.
enum class Word : std::uint8_t { f32, f64, f16, bf16, strided, other };

Word word_of(py::handle object) {
  static std::unordered_map<PyObject*, Word> known;
  const auto found = known.find(object.ptr());
  if (found != known.end()) return found->second;
  static const std::map<std::string, Word, std::less<>> names = {{"torch.float32", Word::f32},
                                                                 {"torch.float64", Word::f64},
                                                                 {"torch.float16", Word::f16},
                                                                 {"torch.bfloat16", Word::bf16},
                                                                 {"torch.strided", Word::strided}};
  const auto name = names.find(py::cast<std::string>(py::str(object)));
  const Word word = name == names.end() ? Word::other : name->second;
  object.inc_ref();  // the address must not come to mean something else
  known.emplace(object.ptr(), word);
  return word;
}

std::optional<stats::DType> dtype_of(Word word) {
  switch (word) {
    case Word::f32:
      return stats::DType::f32;
    case Word::f64:
      return stats::DType::f64;
    case Word::f16:
      return stats::DType::f16;
    case Word::bf16:
      return stats::DType::bf16;
    case Word::strided:
    case Word::other:
      break;
  }
  return std::nullopt;
}

/// The names of what is asked of every tensor, made once: a step asks for them thousands of times.
struct Names {
  PyObject* dtype = PyUnicode_InternFromString("dtype");
  PyObject* layout = PyUnicode_InternFromString("layout");
  PyObject* is_cpu = PyUnicode_InternFromString("is_cpu");
  PyObject* is_cuda = PyUnicode_InternFromString("is_cuda");
  PyObject* shape = PyUnicode_InternFromString("shape");
  PyObject* stride = PyUnicode_InternFromString("stride");
  PyObject* data_ptr = PyUnicode_InternFromString("data_ptr");
};

const Names& names() {
  static const Names made;
  return made;
}

py::object owned(PyObject* answer) {
  if (answer == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(answer);
}

py::object attribute(py::handle object, PyObject* name) {
  return owned(PyObject_GetAttr(object.ptr(), name));
}

py::object called(py::handle object, PyObject* name) {
  return owned(PyObject_CallMethodNoArgs(object.ptr(), name));
}

struct Layout {
  std::array<std::int64_t, stats::TensorView::kMaxRank> numbers{};
  std::size_t rank = 0;

  [[nodiscard]] std::span<const std::int64_t> span() const { return {numbers.data(), rank}; }
};

std::optional<Layout> layout_of(const py::object& numbers) {
  Layout layout;
  const auto tuple = py::reinterpret_borrow<py::tuple>(numbers);
  layout.rank = tuple.size();
  if (layout.rank > layout.numbers.size()) return std::nullopt;
  for (std::size_t i = 0; i < layout.rank; ++i) layout.numbers[i] = PyLong_AsLongLong(tuple[i].ptr());
  if (PyErr_Occurred() != nullptr) throw py::error_already_set();
  return layout;
}

/// Whether the elements fill their memory, each once, in whatever order of the dimensions.
bool dense(const Layout& sizes, const Layout& strides) {
  std::array<std::size_t, stats::TensorView::kMaxRank> order{};
  std::iota(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(sizes.rank), std::size_t{0});
  std::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(sizes.rank),
            [&](std::size_t a, std::size_t b) { return strides.numbers[a] < strides.numbers[b]; });
  std::int64_t expected = 1;
  for (std::size_t k = 0; k < sizes.rank; ++k) {
    const std::size_t i = order[k];
    if (sizes.numbers[i] == 0) return true;
    if (sizes.numbers[i] == 1) continue;
    if (strides.numbers[i] != expected) return false;
    expected *= sizes.numbers[i];
  }
  return true;
}

bool truth(py::handle object, PyObject* name) {
  return attribute(object, name).ptr() == Py_True;
}

/// Whether tensors of this type are a process's share of a larger one (DTensor), asked once for each type.
bool sharded(py::handle tensor) {
  static std::unordered_map<PyTypeObject*, bool> known;
  PyTypeObject* const type = Py_TYPE(tensor.ptr());
  const auto found = known.find(type);
  if (found != known.end()) return found->second;
  Py_INCREF(type);  // the address must not come to mean something else
  return known.emplace(type, py::hasattr(tensor, "to_local")).first->second;
}

}  // namespace

std::optional<stats::TensorView> TensorReader::view(py::handle tensor) {
  if (tensor.is_none()) return std::nullopt;
  const auto dtype = dtype_of(word_of(attribute(tensor, names().dtype)));
  if (!dtype) return std::nullopt;
  auto owner = py::reinterpret_borrow<py::object>(tensor);
  if (sharded(owner)) owner = owner.attr("detach")().attr("to_local")();
  if (word_of(attribute(owner, names().layout)) != Word::strided) {
    if (!py::cast<bool>(owner.attr("is_sparse"))) return std::nullopt;
    owner = owner.attr("detach")().attr("coalesce")().attr("values")();  // the numbers that it holds
    ++copies_;
  }
  stats::Device device;
  if (gpu_ && truth(owner, names().is_cuda) && py::cast<int>(owner.attr("device").attr("index")) == *gpu_) {
    device = {stats::Device::Kind::cuda, *gpu_};
  } else if (!truth(owner, names().is_cpu)) {
    if (py::cast<bool>(owner.attr("is_meta"))) return std::nullopt;  // a shape without numbers
    owner = owner.attr("detach")().attr("cpu")();
    ++copies_;
  }
  auto sizes = layout_of(attribute(owner, names().shape));
  auto strides = layout_of(called(owner, names().stride));
  if (!sizes || !strides) return std::nullopt;
  if (!dense(*sizes, *strides)) {
    owner = owner.attr("detach")().attr("contiguous")();
    ++copies_;
    strides = layout_of(called(owner, names().stride));
  }
  const auto address = py::cast<std::uintptr_t>(called(owner, names().data_ptr));
  const auto view = stats::TensorView::strided(reinterpret_cast<const void*>(address), *dtype, sizes->span(),
                                               strides->span(), device);
  if (!view) return std::nullopt;
  alive_.push_back(std::move(owner));
  return *view;
}

}  // namespace osler::python
