#include <mezzo/backends/xsimd/avg_pool2d.hpp>

#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/pool_request.hpp>

namespace mezzo::xsimd_kernels {
namespace {

const AvgPoolFunctions& functions(Isa isa) {
  return pick(isa, sse2::avg_pool, avx2::avg_pool, avx512::avg_pool, avx512_bf16::avg_pool);
}

/// The kernel of a function that makes `rows` rows of an array, each of so much work.
template <class Function>
std::unique_ptr<Kernel> by_rows(const KernelRequest& request, const PoolShape& shape, std::int64_t rows,
                                std::int64_t work, Function function) {
  const bool count_padding = request.attributes.get<bool>("count_padding");
  return make_kernel([=](const KernelArguments& arguments) {
    parallel_for(rows, grain_of(work), [&](std::int64_t begin, std::int64_t end) {
      function(arguments.inputs[0], arguments.outputs[0], shape, count_padding, begin, end);
    });
  });
}

std::unique_ptr<Kernel> make_pool(const KernelRequest& request, Isa isa, std::string& reason) {
  const DType dtype = request.inputs[0].dtype;
  if (!is_stored(dtype)) return decline_dtype(reason, dtype);
  const Shape& x = request.inputs[0].shape;
  const PoolShape shape = pool_shape(request, x, request.outputs[0].shape);
  return by_rows(request, shape, x[0] * shape.vertical.out_size,
                 shape.horizontal.size * shape.channels * shape.vertical.stride,
                 functions(isa).pool[storage_of(dtype)]);
}

std::unique_ptr<Kernel> make_gradient(const KernelRequest& request, Isa isa, std::string& reason) {
  const DType dtype = request.inputs[0].dtype;
  if (!is_stored(dtype)) return decline_dtype(reason, dtype);
  const Shape& x = request.outputs[0].shape;
  const PoolShape shape = pool_shape(request, x, request.inputs[0].shape);
  return by_rows(request, shape, x[0] * x[1], shape.horizontal.size * shape.channels,
                 functions(isa).gradient[storage_of(dtype)]);
}

}  // namespace

Entries avg_pool_entries() { return {entry<make_pool>("avg_pool2d"), entry<make_gradient>("avg_pool2d_gradient")}; }

}  // namespace mezzo::xsimd_kernels
