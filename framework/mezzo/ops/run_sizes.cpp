#include <mezzo/ops/run_sizes.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/shape.hpp>

namespace mezzo {
namespace {

std::int64_t number_of(const Value& size, const std::string& where) {
  if (is_floating(size.dtype()) || size.dtype() == DType::boolean) {
    fail<DTypeError>(where, "a size must be an integer; got {}", size.dtype());
  }
  if (size.symbolic()) {
    fail<ValueError>(where,
                     "a size must be a number or come from shape(x); got a result of {}, which is computed only when "
                     "the step runs",
                     size.node()->op->name);
  }
  const Tensor number = size.tensor();
  if (number.size() != 1) fail<ShapeError>(where, "a size must be one number; got shape {}", number.shape());
  const Tensor wide = number.cast(DType::int64);
  return wide.data<std::int64_t>()[0];
}

}  // namespace

Values shape(const Value& x) {
  Values out;
  const ShapeView sizes = x.shape();
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    if (sizes[axis].known()) {
      out.emplace_back(sizes[axis]);
    } else {
      out.push_back(
          detail::defer([axis](const Values& xs) -> Values { return {shape(xs[0])[axis]}; }, {x}, {{{}, DType::int64}})
              .front());
    }
  }
  return out;
}

Shape detail::numbers_of(const Values& sizes, const std::string& where) {
  Shape out;
  for (const Value& size : sizes) out.push_back(number_of(size, where));
  return out;
}

Shape detail::known_part(const Values& sizes, const std::string& where) {
  const bool traced = Trace::current() != nullptr;
  Shape out;
  for (const Value& size : sizes) out.push_back(size.symbolic() && !traced ? -1 : number_of(size, where));
  return out;
}

Value detail::broadcast_beside(const Value& x, const Shape& shape, const Value& other) {
  if (x.shape() == shape) return x;
  const auto open = [rank = shape.size()](const Value& value, std::size_t axis) {
    const std::size_t missing = rank - value.shape().size();
    return axis >= missing && !value.shape()[axis - missing].known();
  };
  Values sizes;
  bool of_other = false;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const Value& owner = open(x, axis) || !open(other, axis) ? x : other;
    if (shape[axis] >= 0 || !open(owner, axis)) {
      sizes.emplace_back(shape[axis]);
      continue;
    }
    of_other = of_other || &owner == &other;
    sizes.push_back(mezzo::shape(owner)[axis + owner.shape().size() - shape.size()]);
  }
  return of_other ? broadcast_to(x, sizes) : broadcast_to(x, shape);
}

Value detail::with_run_sizes(const std::string& where, const Values& inputs, const Values& sizes, Spec result,
                             std::function<Value(const Values& inputs, const Shape& sizes)> compute) {
  const auto run = [where, count = inputs.size(), compute = std::move(compute)](const Values& given) -> Values {
    const auto first_size = given.begin() + static_cast<std::ptrdiff_t>(count);
    return {compute(Values(given.begin(), first_size), numbers_of(Values(first_size, given.end()), where))};
  };
  Values given = inputs;
  given.insert(given.end(), sizes.begin(), sizes.end());
  const bool open = Trace::current() == nullptr &&
                    std::any_of(sizes.begin(), sizes.end(), [](const Value& size) { return size.symbolic(); });
  return open ? detail::defer(run, given, {std::move(result)}).front() : run(given).front();
}

}  // namespace mezzo
