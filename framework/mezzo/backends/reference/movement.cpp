#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/common/walk.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/core/convert.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/core/visit.hpp>

namespace mezzo::reference {
namespace {

/// A kernel: output 0 = the elements of input 0 at the places of the walk, from `first` on. Element is any type of the
/// elements' size: they are moved, not computed with.
template <class Element>
std::unique_ptr<Kernel> gather(Walk walk, std::int64_t first) {
  return make_kernel([walk = std::move(walk), first](const KernelArguments& arguments) {
    parallel_for(walk.size(), grain, [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t step = walk.step(0);
      walk.pieces(begin, end, [&](std::int64_t i, std::int64_t count, std::int64_t line, std::int64_t column) {
        const Element* x = arguments.in<Element>(0) + first + walk.offset(0, line) + column * step;
        Element* to = arguments.out<Element>(0) + i;
        for (std::int64_t k = 0; k < count; ++k) to[k] = x[k * step];
      });
    });
  });
}

/// convert(x); as bool, a denormal number that arithmetic treats as 0 is false.
template <class To, class From>
To converted(From x) {
  if constexpr (std::is_same_v<To, bool> && std::is_same_v<From, double>) {
    return x != 0;
  } else if constexpr (std::is_same_v<To, bool> && !std::is_integral_v<From>) {
    return static_cast<float>(x) != 0;
  } else {
    return convert<To>(x);
  }
}

/// Converts the elements [begin, end).
using Conversion = void (*)(const void* from, void* to, std::int64_t begin, std::int64_t end);

template <class From, class To>
void convert_elements(const void* from, void* to, std::int64_t begin, std::int64_t end) {
  const auto* x = static_cast<const From*>(from);
  auto* out = static_cast<To*>(to);
  for (std::int64_t i = begin; i < end; ++i) out[i] = converted<To>(x[i]);
}

std::unique_ptr<Kernel> gather(const KernelRequest& request, const Shape& strides, std::int64_t first = 0) {
  Walk walk(request.outputs[0].shape, {strides});
  switch (dtype_size(request.outputs[0].dtype)) {
    case 1:
      return gather<std::uint8_t>(std::move(walk), first);
    case 2:
      return gather<std::uint16_t>(std::move(walk), first);
    case 4:
      return gather<std::uint32_t>(std::move(walk), first);
    default:
      return gather<std::uint64_t>(std::move(walk), first);
  }
}

/// A kernel: output 0 = the bytes of input 0; both may use the same memory.
std::unique_ptr<Kernel> copy_bytes(const KernelRequest& request) {
  const auto elements = static_cast<std::size_t>(element_count(request.inputs[0].shape));
  const auto run = [bytes = elements * dtype_size(request.inputs[0].dtype)](const KernelArguments& arguments) {
    if (arguments.outputs[0] != arguments.inputs[0]) std::memcpy(arguments.outputs[0], arguments.inputs[0], bytes);
  };
  return make_kernel(run, {true});
}

}  // namespace

std::unique_ptr<Kernel> create_transpose(const KernelRequest& request, std::string&) {
  const Shape own = detail::row_major_strides(request.inputs[0].shape);
  Shape strides;
  for (const auto axis : request.attributes.get<Shape>("permutation")) {
    strides.push_back(own[static_cast<std::size_t>(axis)]);
  }
  return gather(request, strides);
}

std::unique_ptr<Kernel> create_broadcast_to(const KernelRequest& request, std::string&) {
  return gather(request, broadcast_strides(request.inputs[0].shape, request.outputs[0].shape));
}

std::unique_ptr<Kernel> create_flip(const KernelRequest& request, std::string&) {
  const Shape& shape = request.inputs[0].shape;
  Shape strides = detail::row_major_strides(shape);
  std::int64_t first = 0;
  for (const auto axis : request.attributes.get<Shape>("axes")) {
    std::int64_t& stride = strides[static_cast<std::size_t>(axis)];
    first += stride * (shape[static_cast<std::size_t>(axis)] - 1);
    stride = -stride;
  }
  return gather(request, strides, first);
}

std::unique_ptr<Kernel> create_reshape(const KernelRequest& request, std::string&) { return copy_bytes(request); }

std::unique_ptr<Kernel> create_identity(const KernelRequest& request, std::string&) { return copy_bytes(request); }

std::unique_ptr<Kernel> create_stop_gradient(const KernelRequest& request, std::string&) { return copy_bytes(request); }

std::unique_ptr<Kernel> create_custom_gradient(const KernelRequest& request, std::string&) {
  return copy_bytes(request);
}

std::unique_ptr<Kernel> create_cast(const KernelRequest& request, std::string&) {
  const Conversion conversion = visit_stored_dtype(request.inputs[0].dtype, [&](auto from) {
    return visit_stored_dtype(request.outputs[0].dtype,
                              [](auto to) -> Conversion { return convert_elements<decltype(from), decltype(to)>; });
  });
  return make_kernel([conversion, size = element_count(request.outputs[0].shape)](const KernelArguments& arguments) {
    parallel_for(size, grain, [&](std::int64_t begin, std::int64_t end) {
      conversion(arguments.inputs[0], arguments.outputs[0], begin, end);
    });
  });
}

}  // namespace mezzo::reference
