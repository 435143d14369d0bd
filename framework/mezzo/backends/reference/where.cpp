#include <cstdint>

#include <mezzo/backends/common/walk.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/backends/reference/rows.hpp>

namespace mezzo::reference {
namespace {

/// Calls body(operand): the operand's elements along a line, or its one element if that is stretched along the line.
template <class T, class Body>
void with_operand(const T* x, std::int64_t count, std::int64_t step, const Body& body) {
  if (step == 0) {
    body(xt::xscalar<T>(*x));
  } else {
    body(row(x, count));
  }
}

/// Element is any type of the operands' size: elements are moved, not computed with.
template <class Element>
std::unique_ptr<Kernel> select(Walk walk, std::vector<bool> overwrites) {
  const auto run = [walk = std::move(walk)](const KernelArguments& arguments) {
    parallel_for(walk.size(), grain, [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t steps[] = {walk.step(0), walk.step(1), walk.step(2)};
      walk.pieces(begin, end, [&](std::int64_t i, std::int64_t count, std::int64_t line, std::int64_t column) {
        const auto* from_condition = arguments.in<bool>(0) + walk.offset(0, line) + column * steps[0];
        const auto* from_a = arguments.in<Element>(1) + walk.offset(1, line) + column * steps[1];
        const auto* from_b = arguments.in<Element>(2) + walk.offset(2, line) + column * steps[2];
        auto out = row(arguments.out<Element>(0) + i, count);
        with_operand(from_condition, count, steps[0], [&](const auto& condition) {
          with_operand(from_a, count, steps[1], [&](const auto& a) {
            with_operand(from_b, count, steps[2],
                         [&](const auto& b) { xt::noalias(out) = xt::where(condition, a, b); });
          });
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
