#include <mezzo/backends/xsimd/pooling.hpp>

#include <mezzo/backends/xsimd/entries.hpp>

namespace mezzo::xsimd_kernels {
namespace {

/// The windows of a request that pools x to y.
PoolShape pool_shape(const KernelRequest& request, const Shape& x, const Shape& y) {
  const auto& window = request.attributes.get<Shape>("window");
  const auto& strides = request.attributes.get<Shape>("strides");
  const auto& padding = request.attributes.get<Shape>("padding");
  return {
      .vertical = {.size = x[1], .out_size = y[1], .window = window[0], .stride = strides[0], .padding = padding[0]},
      .horizontal = {.size = x[2], .out_size = y[2], .window = window[1], .stride = strides[1], .padding = padding[2]},
      .channels = x[3]};
}

/// Rows of an output, and the work of one of them in elements.
struct WindowRows {
  PoolShape shape;
  std::int64_t count, work;
};

WindowRows rows_of_y(const KernelRequest& request, const Shape& x, const Shape& y) {
  const PoolShape shape = pool_shape(request, x, y);
  return {shape, x[0] * shape.vertical.out_size, shape.horizontal.size * shape.channels * shape.vertical.stride};
}

WindowRows rows_of_dx(const KernelRequest& request, const Shape& dx, const Shape& g) {
  const PoolShape shape = pool_shape(request, dx, g);
  return {shape, dx[0] * dx[1], shape.horizontal.size * shape.channels};
}

/// Declines windows whose places don't fit in uint8.
std::unique_ptr<Kernel> decline_window(const KernelRequest& request, std::string& reason) {
  return decline(reason, "takes windows of at most 256 places; got {}", request.attributes.get<Shape>("window"));
}

std::unique_ptr<Kernel> make_max_pool2d(const KernelRequest& request, Isa isa, std::string& reason) {
  const DType dtype = request.inputs[0].dtype, places = request.outputs[1].dtype;
  if (!is_stored(dtype)) return decline_dtype(reason, dtype);
  if (places != DType::uint8) return decline_window(request, reason);
  const WindowRows rows = rows_of_y(request, request.inputs[0].shape, request.outputs[0].shape);
  return make_kernel([rows, pool = kernels(isa).max_pool2d.pool[dtype]](const KernelArguments& arguments) {
    parallel_for(rows.count, grain_of(rows.work), [&](std::int64_t begin, std::int64_t end) {
      pool(arguments.inputs[0], arguments.outputs[0], arguments.out<std::uint8_t>(1), rows.shape, begin, end);
    });
  });
}

std::unique_ptr<Kernel> make_max_pool2d_gradient(const KernelRequest& request, Isa isa, std::string& reason) {
  const DType dtype = request.inputs[0].dtype, places = request.inputs[1].dtype;
  if (!is_stored(dtype)) return decline_dtype(reason, dtype);
  if (places != DType::uint8) return decline_window(request, reason);
  const WindowRows rows = rows_of_dx(request, request.outputs[0].shape, request.inputs[0].shape);
  return make_kernel([rows, gradient = kernels(isa).max_pool2d.gradient[dtype]](const KernelArguments& arguments) {
    parallel_for(rows.count, grain_of(rows.work), [&](std::int64_t begin, std::int64_t end) {
      gradient(arguments.inputs[0], arguments.in<std::uint8_t>(1), arguments.outputs[0], rows.shape, begin, end);
    });
  });
}

/// The kernel of avg_pool2d or its gradient.
std::unique_ptr<Kernel> average(const KernelRequest& request, const WindowRows& rows, AvgPool2dFunctions::Pool pool) {
  const bool count_padding = request.attributes.get<bool>("count_padding");
  return make_kernel([=](const KernelArguments& arguments) {
    parallel_for(rows.count, grain_of(rows.work), [&](std::int64_t begin, std::int64_t end) {
      pool(arguments.inputs[0], arguments.outputs[0], rows.shape, count_padding, begin, end);
    });
  });
}

std::unique_ptr<Kernel> make_avg_pool2d(const KernelRequest& request, Isa isa, std::string& reason) {
  const Spec &x = request.inputs[0], &y = request.outputs[0];
  if (!is_stored(x.dtype)) return decline_dtype(reason, x.dtype);
  return average(request, rows_of_y(request, x.shape, y.shape), kernels(isa).avg_pool2d.pool[x.dtype]);
}

std::unique_ptr<Kernel> make_avg_pool2d_gradient(const KernelRequest& request, Isa isa, std::string& reason) {
  const Spec &g = request.inputs[0], &dx = request.outputs[0];
  if (!is_stored(g.dtype)) return decline_dtype(reason, g.dtype);
  return average(request, rows_of_dx(request, dx.shape, g.shape), kernels(isa).avg_pool2d.gradient[g.dtype]);
}

}  // namespace

Entries pooling_entries() {
  return {entry<make_max_pool2d>("max_pool2d"), entry<make_max_pool2d_gradient>("max_pool2d_gradient"),
          entry<make_avg_pool2d>("avg_pool2d"), entry<make_avg_pool2d_gradient>("avg_pool2d_gradient")};
}

}  // namespace mezzo::xsimd_kernels
