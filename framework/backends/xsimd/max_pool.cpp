#include <mezzo/backends/xsimd/max_pool.hpp>

#include <mezzo/backends/xsimd/entries.hpp>

namespace mezzo::xsimd_kernels {
namespace {

const MaxPoolFunctions& functions(Isa isa) {
  return pick(isa, sse2::max_pool, avx2::max_pool, avx512::max_pool, avx512_bf16::max_pool);
}

PoolShape shape_of(const KernelRequest& request, const Shape& x, const Shape& y) {
  const auto& window = request.attributes.get<Shape>("window");
  const auto& strides = request.attributes.get<Shape>("strides");
  const auto& padding = request.attributes.get<Shape>("padding");
  return {{x[1], y[1], window[0], strides[0], padding[0]}, {x[2], y[2], window[1], strides[1], padding[2]}, x[3]};
}

std::unique_ptr<Kernel> make_pool(const KernelRequest& request, Isa isa, std::string& reason) {
  const Shape& x = request.inputs[0].shape;
  const DType dtype = request.inputs[0].dtype;
  if (!is_stored(dtype)) return decline_dtype(reason, dtype);
  if (request.outputs[1].dtype != DType::uint8) return decline(reason, "the window has more than 256 places");
  const PoolShape shape = shape_of(request, x, request.outputs[0].shape);
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
  const PoolShape shape = shape_of(request, x, request.inputs[0].shape);
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
