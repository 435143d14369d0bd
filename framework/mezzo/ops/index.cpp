#include <mezzo/ops/index.hpp>

#include <algorithm>
#include <numeric>
#include <string>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/ops/arrangement.hpp>
#include <mezzo/ops/creation.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/indexing.hpp>
#include <mezzo/ops/labels.hpp>
#include <mezzo/ops/open_sizes.hpp>
#include <mezzo/ops/reductions.hpp>

namespace mezzo {
namespace {

constexpr const char* item_name = "get_item";

/// First index, number of elements and distance of a slice of an axis, by Python's rules.
struct Steps {
  std::int64_t start, count, step;

  Steps(const detail::Slice& range, std::int64_t size, const std::string& where)
      : start(0), count(0), step(range.step.value_or(1)) {
    if (step == 0) fail<ValueError>(where, "the step of a slice must not be 0; got 0");
    const std::int64_t lowest = step > 0 ? 0 : -1, highest = step > 0 ? size : size - 1;
    const auto place = [&](std::int64_t index) {
      return std::clamp(index < 0 ? index + size : index, lowest, highest);
    };
    start = range.start ? place(*range.start) : step > 0 ? lowest : highest;
    const std::int64_t stop = range.stop ? place(*range.stop) : step > 0 ? highest : lowest;
    const std::int64_t distance = step > 0 ? stop - start : start - stop, width = step > 0 ? step : -step;
    count = distance > 0 ? (distance - 1) / width + 1 : 0;
  }
};

bool is_whole(const detail::Slice& range) {
  return range.start.value_or(0) == 0 && !range.stop && range.step.value_or(1) == 1;
}

/// The indices with the ellipsis, or the missing end, as slices: one for each axis, and new axes.
std::vector<detail::Index> complete(const Value& x, const std::vector<detail::Index>& indices,
                                    const std::string& where) {
  const std::size_t rank = x.shape().size();
  std::size_t axes = 0, ellipses = 0, arrays = 0;
  for (const detail::Index& index : indices) {
    ellipses += index.kind() == detail::Index::Kind::rest ? 1 : 0;
    arrays += index.kind() == detail::Index::Kind::array ? 1 : 0;
    axes += index.kind() != detail::Index::Kind::rest && index.kind() != detail::Index::Kind::new_axis ? 1 : 0;
  }
  if (ellipses > 1) fail<ValueError>(where, "takes one ellipsis; got {}", ellipses);
  if (arrays > 1) {
    fail<ValueError>(where, "takes one array of indices; got {}: use take_along_axis() or scatter()", arrays);
  }
  if (axes > rank) fail<ShapeError>(where, "takes at most {} indices for shape {}; got {}", rank, x.shape(), axes);
  std::vector<detail::Index> out;
  for (const detail::Index& index : indices) {
    if (index.kind() == detail::Index::Kind::rest) {
      out.insert(out.end(), rank - axes, detail::Slice{});
    } else {
      out.push_back(index);
    }
  }
  if (ellipses == 0) out.insert(out.end(), rank - axes, detail::Slice{});
  return out;
}

std::int64_t position(std::int64_t index, std::int64_t size, std::size_t axis, const std::string& where) {
  if (index < -size || index >= size) {
    fail<ValueError>(where, "index {} is outside of axis {}, which has size {}; expected {} to {}", index, axis, size,
                     -size, size - 1);
  }
  return index < 0 ? index + size : index;
}

}  // namespace

detail::Index::Index(Value (*all)(const Value&, const ReduceOptions&)) {
  if (all != static_cast<Value (*)(const Value&, const ReduceOptions&)>(&mezzo::all)) {
    fail<ValueError>("[get_item]", "the only function that is an index is all; got another one");
  }
}

Value detail::item_of(const Value& x, const std::vector<detail::Index>& indices) {
  const std::string where = detail::current_label(item_name);
  Shape starts, sizes, shape;                          // of the box; of the result
  std::vector<std::pair<std::int64_t, Tensor>> taken;  // indices of slices whose step is not 1
  Shape flipped;
  std::optional<std::pair<std::int64_t, Value>> array;
  bool box = false;
  for (const detail::Index& index : complete(x, indices, where)) {
    if (index.kind() == detail::Index::Kind::new_axis) {
      shape.push_back(1);
      continue;
    }
    const std::size_t axis = starts.size();
    const std::int64_t size = x.shape()[axis].or_unknown();
    starts.push_back(0);
    sizes.push_back(-1);
    if (index.kind() == detail::Index::Kind::slice && is_whole(index.range())) {
      shape.push_back(size);
      continue;
    }
    if (size < 0 && axis > 0 && index.kind() != detail::Index::Kind::array && !array) {
      return with_sizes([indices](const Value& y) { return item_of(y, indices); }, x);
    }
    if (size < 0) {
      fail<ShapeError>(where, "axis {} has no known size and takes `all` only; got shape {}", axis, x.shape());
    }
    if (index.kind() == detail::Index::Kind::array) {
      const Value places = detail::as_labels(index.array());
      if (is_floating(places.dtype()) || places.dtype() == DType::boolean) {
        fail<DTypeError>(where, "an array of indices must hold integers; got {}{}", places.dtype(),
                         places.dtype() == DType::boolean ? ": use where()" : "");
      }
      array = {static_cast<std::int64_t>(axis), places};
      shape.insert(shape.end(), places.shape().begin(), places.shape().end());
    } else if (index.kind() == detail::Index::Kind::integer) {
      starts.back() = position(index.integer(), size, axis, where);
      sizes.back() = 1;
      box = true;
    } else {
      const Steps steps(index.range(), size, where);
      shape.push_back(steps.count);
      if (steps.step == 1 || steps.step == -1 || steps.count < 2) {
        starts.back() = steps.count == 0 ? 0 : steps.step < 0 ? steps.start - steps.count + 1 : steps.start;
        sizes.back() = steps.count;
        box = box || steps.count != size;
        if (steps.step < 0 && steps.count > 1) flipped.push_back(static_cast<std::int64_t>(axis));
      } else {
        const std::int64_t end = steps.start + steps.step * steps.count;
        taken.emplace_back(axis, arange_of(static_cast<double>(steps.start), static_cast<double>(end),
                                           static_cast<double>(steps.step), DType::int64));
      }
    }
  }
  if (std::count(shape.begin(), shape.end(), -1) > 1) {
    return with_sizes([indices](const Value& y) { return item_of(y, indices); }, x);
  }
  Value out = box ? slice(x, SliceOptions{starts, sizes}) : x;
  if (!flipped.empty()) {
    for (const std::int64_t axis : flipped) out = flip(out, axis);
  }
  for (const auto& [axis, places] : taken) out = take(out, places, axis);
  if (array) out = take(out, array->second, array->first);
  return shape == out.shape() ? out : reshape(out, shape);
}

Tensor detail::item_of_tensor(const Tensor& x, const std::vector<detail::Index>& indices) {
  const OutsideTrace at_once;
  return item_of(x, indices).tensor();
}

}  // namespace mezzo
