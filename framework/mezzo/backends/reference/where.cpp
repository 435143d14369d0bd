#include <cstdint>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/common/walk.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/core/parallel.hpp>

namespace mezzo::reference {
namespace {

/// Calls body(element): a function of the place along the line. It reads its operand once if the operand is stretched.
template <class Element, class Body>
void with_operand(const Element* x, std::int64_t step, const Body& body) {
  if (step == 0) {
    body([element = *x](std::int64_t) { return element; });
  } else {
    body([x](std::int64_t k) { return x[k]; });
  }
}

/// Element is any type of the operands' size: elements are moved, not computed with.
template <class Element>
std::unique_ptr<Kernel> select(Walk walk, std::vector<bool> overwrites) {
  const auto run = [walk = std::move(walk)](const KernelArguments& arguments) {
    parallel_for(walk.size(), grain, [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t steps[] = {walk.step(0), walk.step(1), walk.step(2)};
      walk.pieces(begin, end, [&](std::int64_t i, std::int64_t count, std::int64_t line, std::int64_t column) {
        const auto* condition = arguments.in<bool>(0) + walk.offset(0, line) + column * steps[0];
        const auto* a = arguments.in<Element>(1) + walk.offset(1, line) + column * steps[1];
        const auto* b = arguments.in<Element>(2) + walk.offset(2, line) + column * steps[2];
        Element* out = arguments.out<Element>(0) + i;
        const auto select_from = [&](const auto& yes, const auto& no) {
          for (std::int64_t k = 0; k < count; ++k) out[k] = condition[k * steps[0]] ? yes(k) : no(k);
        };
        with_operand(a, steps[1], [&](const auto& yes) {
          with_operand(b, steps[2], [&](const auto& no) { select_from(yes, no); });
        });
      });
    });
  };
  return make_kernel(run, std::move(overwrites));
}

}  // namespace

std::unique_ptr<Kernel> create_where(const KernelRequest& request, std::string&) {
  const Shape& shape = request.outputs[0].shape;
  std::vector<Shape> strides;
  for (const Spec& input : request.inputs) strides.push_back(broadcast_strides(input.shape, shape));
  Walk walk(shape, strides);
  switch (dtype_size(request.outputs[0].dtype)) {
    case 1:
      return select<std::uint8_t>(std::move(walk), like_output(request));
    case 2:
      return select<std::uint16_t>(std::move(walk), like_output(request));
    case 4:
      return select<std::uint32_t>(std::move(walk), like_output(request));
    default:
      return select<std::uint64_t>(std::move(walk), like_output(request));
  }
}

}  // namespace mezzo::reference
