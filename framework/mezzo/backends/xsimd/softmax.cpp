#include <mezzo/backends/xsimd/softmax.hpp>

#include <mezzo/backends/xsimd/entries.hpp>

namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

bool takes_rows(const KernelRequest& request, std::string& reason) {
  const Spec& x = request.inputs[0];
  const auto last = static_cast<Index>(x.shape.size()) - 1, axis = request.attributes.get<Index>("axis");
  if (!is_stored(x.dtype)) decline_dtype(reason, x.dtype);
  if (axis != last) decline(reason, "takes the last axis, {}; got axis {}", last, axis);
  return reason.empty();
}

/// A kernel that calls body(arguments, offset in bytes, rows, columns) for ranges of rows.
template <class Body>
auto make_rows_kernel(const KernelRequest& request, const Body& body) {
  const Spec& x = request.inputs[0];
  const Index columns = x.shape.back(), rows = columns == 0 ? 0 : element_count(x.shape) / columns;
  const auto run = [body, columns, rows, size = size_of(x.dtype)](const KernelArguments& arguments) {
    parallel_for(rows, grain_of(columns),
                 [&](Index begin, Index end) { body(arguments, begin * columns * size, end - begin, columns); });
  };
  return make_kernel(run, like_output(request));
}

/// A kernel of one operand; `table` is its member of SoftmaxFunctions.
template <PerStorage<SoftmaxFunctions::Softmax> SoftmaxFunctions::*table>
std::unique_ptr<Kernel> make_of_rows(const KernelRequest& request, Isa isa, std::string& reason) {
  if (!takes_rows(request, reason)) return nullptr;
  const auto function = (kernels(isa).softmax.*table)[request.inputs[0].dtype];
  return make_rows_kernel(request, [function](const KernelArguments& arguments, Index at, Index rows, Index columns) {
    function(arguments.in<char>(0) + at, arguments.out<char>(0) + at, rows, columns);
  });
}

std::unique_ptr<Kernel> make_softmax_gradient(const KernelRequest& request, Isa isa, std::string& reason) {
  if (!takes_rows(request, reason)) return nullptr;
  const auto function = kernels(isa).softmax.gradient[request.inputs[0].dtype];
  return make_rows_kernel(request, [function](const KernelArguments& arguments, Index at, Index rows, Index columns) {
    function(arguments.in<char>(0) + at, arguments.in<char>(1) + at, arguments.out<char>(0) + at, rows, columns);
  });
}

}  // namespace

Entries softmax_entries() {
  return {entry<make_of_rows<&SoftmaxFunctions::softmax>>("softmax"),
          entry<make_of_rows<&SoftmaxFunctions::log_softmax>>("log_softmax"),
          entry<make_of_rows<&SoftmaxFunctions::sparsemax>>("sparsemax"),
          entry<make_softmax_gradient>("softmax_gradient")};
}

}  // namespace mezzo::xsimd_kernels
