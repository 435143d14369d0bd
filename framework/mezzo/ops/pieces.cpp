#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/arrangement.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/numpy.hpp>

namespace mezzo {
namespace {

Values split_along(const char* name, const Value& x, std::size_t axis, std::int64_t sections, const Shape* indices) {
  const std::size_t along = axis == 1 && x.shape().size() == 1 ? 0 : axis;
  if (x.shape().size() < std::max<std::size_t>(along + 1, axis == 1 ? 1 : axis == 0 ? 2 : 3)) {
    fail<ShapeError>(detail::current_label(name), "x must have an axis {} and at least {} axes; got shape {}", along,
                     axis == 1   ? 1
                     : axis == 0 ? 2
                                 : 3,
                     x.shape());
  }
  if (indices != nullptr) return array_split(x, *indices, static_cast<std::int64_t>(along));
  const std::int64_t size = x.shape()[along].or_unknown();
  if (sections < 1 || size % sections != 0) {
    fail<ShapeError>(detail::current_label(name), "axis {} must have a multiple of {} elements; got shape {}", along,
                     sections, x.shape());
  }
  return array_split(x, sections, static_cast<std::int64_t>(along));
}

}  // namespace

Values hsplit(const Value& x, std::int64_t sections) { return split_along("hsplit", x, 1, sections, nullptr); }
Values hsplit(const Value& x, const Shape& indices) { return split_along("hsplit", x, 1, 0, &indices); }
Values vsplit(const Value& x, std::int64_t sections) { return split_along("vsplit", x, 0, sections, nullptr); }
Values vsplit(const Value& x, const Shape& indices) { return split_along("vsplit", x, 0, 0, &indices); }
Values dsplit(const Value& x, std::int64_t sections) { return split_along("dsplit", x, 2, sections, nullptr); }
Values dsplit(const Value& x, const Shape& indices) { return split_along("dsplit", x, 2, 0, &indices); }

}  // namespace mezzo
