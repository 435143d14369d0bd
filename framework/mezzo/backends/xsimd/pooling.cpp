#include <mezzo/backends/xsimd/pooling.hpp>

#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/pool_request.hpp>

namespace mezzo::xsimd_kernels {
namespace {

const MaxPoolFunctions& functions(Isa isa) {
  return pick(isa, sse2::max_pool, avx2::max_pool, avx512::max_pool, avx512_bf16::max_pool);
}

std::unique_ptr<Kernel> make_pool(const KernelRequest& request, Isa isa, std::string& reason) {
  const Shape& x = request.inputs[0].shape;
  const DType dtype = request.inputs[0].dtype;
  if (!is_stored(dtype)) return decline_dtype(reason, dtype);
  if (request.outputs[1].dtype != DType::uint8) return decline(reason, "the window has more than 256 places");
  const PoolShape shape = pool_shape(request, x, request.outputs[0].shape);
  const std::int64_t rows = x[0] * shape.vertical.out_size;
  const std::int64_t work = shape.horizontal.size * shape.channels * shape.vertical.stride;
  return make_kernel([=, pool = functions(isa).pool[storage_of(dtype)]](const KernelArguments& arguments) {
    parallel_for(rows, grain_of(work), [&](std::int64_t begin, std::int64_t end) {
      pool(arguments.inputs[0], arguments.outputs[0], arguments.out<std::uint8_t>(1), shape, begin, end);
    });
  });
}

std::unique_ptr<Kernel> make_gradient(const KernelRequest& request, Isa isa, std::string& reason) {
  const Shape& x = request.outputs[0].shape;
  const DType dtype = request.inputs[0].dtype;
  if (!is_stored(dtype)) return decline_dtype(reason, dtype);
  if (request.inputs[1].dtype != DType::uint8) return decline(reason, "the window has more than 256 places");
  const PoolShape shape = pool_shape(request, x, request.inputs[0].shape);
  const std::int64_t rows = x[0] * x[1];
  const std::int64_t work = shape.horizontal.size * shape.channels;
  return make_kernel([=, gradient = functions(isa).gradient[storage_of(dtype)]](const KernelArguments& arguments) {
    parallel_for(rows, grain_of(work), [&](std::int64_t begin, std::int64_t end) {
      gradient(arguments.inputs[0], arguments.in<std::uint8_t>(1), arguments.outputs[0], shape, begin, end);
    });
  });
}

}  // namespace

Entries max_pool_entries() { return {entry<make_pool>("max_pool2d"), entry<make_gradient>("max_pool2d_gradient")}; }

}  // namespace mezzo::xsimd_kernels
