#include <cstdint>
#include <cstring>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/common/walk.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/core/convert.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/core/visit.hpp>

namespace mezzo::reference {
namespace {

/// The output's elements, in order, from where the walk finds them in the input. Element is any type of their
/// size.
template <class Element>
std::unique_ptr<Kernel> gather(Walk walk) {
  return make_kernel([walk = std::move(walk)](const KernelArguments& arguments) {
    parallel_for(walk.size(), grain, [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t step = walk.step(0);
      walk.pieces(begin, end, [&](std::int64_t i, std::int64_t count, std::int64_t row, std::int64_t column) {
        const Element* x = arguments.in<Element>(0) + walk.offset(0, row) + column * step;
        Element* out = arguments.out<Element>(0) + i;
        for (std::int64_t k = 0; k < count; ++k) out[k] = x[k * step];
      });
    });
  });
}

std::unique_ptr<Kernel> gather(const KernelRequest& request, const Shape& strides) {
  Walk walk(request.outputs[0].shape, {strides});
  switch (dtype_size(request.outputs[0].dtype)) {
    case 1:
      return gather<std::uint8_t>(std::move(walk));
    case 2:
      return gather<std::uint16_t>(std::move(walk));
    case 4:
      return gather<std::uint32_t>(std::move(walk));
    default:
      return gather<std::uint64_t>(std::move(walk));
  }
}

}  // namespace

std::unique_ptr<Kernel> create_transpose(const KernelRequest& request, std::string&) {
  const Shape own = row_major_strides(request.inputs[0].shape);
  Shape strides;
  for (const auto axis : request.attributes.get<Shape>("permutation")) {
    strides.push_back(own[static_cast<std::size_t>(axis)]);
  }
  return gather(request, strides);
}

std::unique_ptr<Kernel> create_broadcast_to(const KernelRequest& request, std::string&) {
  return gather(request, broadcast_strides(request.inputs[0].shape, request.outputs[0].shape));
}

std::unique_ptr<Kernel> create_reshape(const KernelRequest& request, std::string&) {
  const auto elements = static_cast<std::size_t>(element_count(request.inputs[0].shape));
  const auto run = [bytes = elements * dtype_size(request.inputs[0].dtype)](const KernelArguments& arguments) {
    if (arguments.outputs[0] != arguments.inputs[0]) std::memcpy(arguments.outputs[0], arguments.inputs[0], bytes);
  };
  return make_kernel(run, {true});
}

std::unique_ptr<Kernel> create_identity(const KernelRequest& request, std::string& reason) {
  return create_reshape(request, reason);
}

std::unique_ptr<Kernel> create_stop_gradient(const KernelRequest& request, std::string& reason) {
  return create_reshape(request, reason);
}

std::unique_ptr<Kernel> create_cast(const KernelRequest& request, std::string&) {
  const std::int64_t size = element_count(request.outputs[0].shape);
  return visit_dtype(request.inputs[0].dtype, [&](auto from_zero) {
    return visit_dtype(request.outputs[0].dtype, [&](auto to_zero) -> std::unique_ptr<Kernel> {
      using From = decltype(from_zero);
      using To = decltype(to_zero);
      return make_kernel([size](const KernelArguments& arguments) {
        const From* x = arguments.in<From>(0);
        To* out = arguments.out<To>(0);
        parallel_for(size, grain, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) out[i] = convert<To>(x[i]);
        });
      });
    });
  });
}

}  // namespace mezzo::reference
