#include <mezzo/backends/xsimd/elementwise.hpp>

#include <mezzo/backends/common/walk.hpp>
#include <mezzo/backends/xsimd/entries.hpp>

namespace mezzo::xsimd_kernels {
namespace {

const ElementwiseFunctions& functions(Isa isa) {
  return pick(isa, sse2::elementwise, avx2::elementwise, avx512::elementwise, avx512_bf16::elementwise);
}

using Unaries = PerStorage<ElementwiseFunctions::Unary> ElementwiseFunctions::*;
using Binaries = PerStorage<ElementwiseFunctions::Binary> ElementwiseFunctions::*;

template <Unaries member>
std::unique_ptr<Kernel> make_unary(const KernelRequest& request, Isa isa, std::string& reason) {
  const DType dtype = request.inputs[0].dtype;
  if (!is_stored(dtype)) return decline_dtype(reason, dtype);
  const auto run = [function = (functions(isa).*member)[storage_of(dtype)], size = size_of(dtype),
                    count = element_count(request.outputs[0].shape)](const KernelArguments& arguments) {
    parallel_elements(count, [&](std::int64_t begin, std::int64_t end) {
      function(arguments.in<char>(0) + begin * size, arguments.out<char>(0) + begin * size, end - begin);
    });
  };
  return make_kernel(run, like_output(request));
}

/// One long row is split by columns, many rows by rows.
template <class Function>
void run_binary(const Function& function, const BinaryShape& shape, std::int64_t size,
                const KernelArguments& arguments) {
  const auto call = [&](std::int64_t a, std::int64_t b, std::int64_t out, std::int64_t rows, std::int64_t columns) {
    BinaryShape piece = shape;
    piece.rows = rows;
    piece.columns = columns;
    function(arguments.in<char>(0) + a * size, arguments.in<char>(1) + b * size, arguments.out<char>(0) + out * size,
             piece);
  };
  if (shape.rows == 1) {
    parallel_elements(shape.columns, [&](std::int64_t begin, std::int64_t end) {
      call(begin * shape.a_step, begin * shape.b_step, begin, 1, end - begin);
    });
  } else {
    parallel_for(shape.rows, grain_of(shape.columns), [&](std::int64_t begin, std::int64_t end) {
      call(begin * shape.a_row, begin * shape.b_row, begin * shape.columns, end - begin, shape.columns);
    });
  }
}

template <Binaries member>
std::unique_ptr<Kernel> make_binary(const KernelRequest& request, Isa isa, std::string& reason) {
  const DType dtype = request.inputs[0].dtype;
  if (!is_stored(dtype)) return decline_dtype(reason, dtype);
  const Shape& shape = request.outputs[0].shape;
  const Walk walk(
      shape, {broadcast_strides(request.inputs[0].shape, shape), broadcast_strides(request.inputs[1].shape, shape)});
  if (walk.axes() > 2) return decline(reason, "broadcasts over more than two blocks of axes");
  const BinaryShape merged{walk.rows(),       walk.row_size(), walk.offset(0, 1),
                           walk.offset(1, 1), walk.step(0),    walk.step(1)};
  const auto run = [function = (functions(isa).*member)[storage_of(dtype)], size = size_of(dtype),
                    merged](const KernelArguments& arguments) { run_binary(function, merged, size, arguments); };
  return make_kernel(run, like_output(request));
}

std::unique_ptr<Kernel> make_gelu(const KernelRequest& request, Isa isa, std::string& reason) {
  using Functions = ElementwiseFunctions;
  const bool approximate = request.attributes.get<bool>("approximate");
  return (approximate ? make_unary<&Functions::approximate_gelu> : make_unary<&Functions::gelu>)(request, isa, reason);
}

std::unique_ptr<Kernel> make_gelu_gradient(const KernelRequest& request, Isa isa, std::string& reason) {
  using Functions = ElementwiseFunctions;
  const bool approximate = request.attributes.get<bool>("approximate");
  const Make make =
      approximate ? make_binary<&Functions::approximate_gelu_gradient> : make_binary<&Functions::gelu_gradient>;
  return make(request, isa, reason);
}

}  // namespace

Entries elementwise_entries() {
  using Functions = ElementwiseFunctions;
  return {
      entry<make_binary<&Functions::add>>("add"),
      entry<make_binary<&Functions::subtract>>("subtract"),
      entry<make_binary<&Functions::multiply>>("multiply"),
      entry<make_binary<&Functions::divide>>("divide"),
      entry<make_binary<&Functions::relu_gradient>>("relu_gradient"),
      entry<make_binary<&Functions::tanh_gradient>>("tanh_gradient"),
      entry<make_binary<&Functions::sigmoid_gradient>>("sigmoid_gradient"),
      entry<make_gelu_gradient>("gelu_gradient"),
      entry<make_unary<&Functions::relu>>("relu"),
      entry<make_unary<&Functions::exp>>("exp"),
      entry<make_unary<&Functions::log>>("log"),
      entry<make_unary<&Functions::negative>>("negative"),
      entry<make_unary<&Functions::abs>>("abs"),
      entry<make_unary<&Functions::sign>>("sign"),
      entry<make_unary<&Functions::tanh>>("tanh"),
      entry<make_unary<&Functions::sigmoid>>("sigmoid"),
      entry<make_gelu>("gelu"),
  };
}

}  // namespace mezzo::xsimd_kernels
