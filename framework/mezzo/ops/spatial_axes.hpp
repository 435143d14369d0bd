#pragma once
#include <string>
#include <utility>

#include <mezzo/graph/value.hpp>
#include <mezzo/ops/ints.hpp>

// Geometry of functions of 1 to 3 spatial axes. `where` starts the errors.
namespace mezzo::detail {

/// Number of spatial axes of x. Throws a ShapeError unless there are 1, 2 or 3 of known sizes of at least 1, and
/// channels.
std::size_t spatial_axes(const std::string& where, const Value& x);

/// The option as one number for each of `axes` axes. Throws a ValueError for another count or a number below `least`.
Shape one_for_each(const std::string& where, const std::string& name, const Ints& numbers, std::size_t axes,
                   std::int64_t least = 1);

/// Throws a ValueError unless each output_padding is less than the stride.
void require_output_padding(const std::string& where, const Shape& added, const Shape& strides);

/// True for padding "same". Throws a NameError unless it is "same" or "valid".
bool is_same(const std::string& where, const std::string& padding);

/// Elements before and after an axis for padding "same": ceil(size / stride) windows that reach over `reach` elements;
/// an odd element goes to the end.
std::pair<std::int64_t, std::int64_t> same_padding(std::int64_t size, std::int64_t reach, std::int64_t stride);

/// Windows that slide over the spatial axes.
struct Windows {
  Shape padding;  ///< {before, after} of each axis, one after another
  Shape counts;   ///< positions along each axis
};

/// Windows of `sizes` elements over x. Throws a ShapeError for windows that are larger than x with its padding; `name`,
/// in the text, is the name of the sizes.
Windows windows_over(const std::string& where, const char* name, const Value& x, const Shape& sizes,
                     const Shape& strides, const Shape& dilation, bool same);

/// Largest size times the largest dilation: an upper bound of the elements that windows of these sizes reach over.
std::int64_t reach_of(const Shape& sizes, const Ints& dilation = 1);

/// Product of a size that may be unknown, -1, and a known one.
inline std::int64_t times(std::int64_t batch, std::int64_t size) { return batch < 0 ? -1 : batch * size; }

}  // namespace mezzo::detail
