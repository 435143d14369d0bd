#include <mezzo/core/number_list.hpp>

#include <algorithm>
#include <limits>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/tensor.hpp>

namespace mezzo {

detail::NumberList::NumberList(const detail::NumberRow* rows, std::size_t count) {
  append(std::vector<detail::NumberList>(rows, rows + count).data(), count);
}

void detail::NumberList::append(const detail::NumberList* entries, std::size_t count) {
  shape_ = {static_cast<std::int64_t>(count)};
  if (count == 0) return;
  kind_ = entries[0].kind_;
  shape_.insert(shape_.end(), entries[0].shape_.begin(), entries[0].shape_.end());
  for (std::size_t i = 0; i < count; ++i) {
    const detail::NumberList& entry = entries[i];
    if (entry.shape_ != entries[0].shape_) {
      fail<ShapeError>("[Tensor]", "lists in braces must have equal lengths; got shape {} at position 0 and {} at {}",
                       entries[0].shape_, entry.shape_, i);
    }
    kind_ = kind_ == entry.kind_ ? kind_ : std::max({kind_, entry.kind_, Kind::integer});
    numbers_.insert(numbers_.end(), entry.numbers_.begin(), entry.numbers_.end());
    integers_.insert(integers_.end(), entry.integers_.begin(), entry.integers_.end());
  }
}

DType detail::NumberList::dtype() const {
  if (kind_ == Kind::boolean) return DType::boolean;
  if (kind_ == Kind::floating) return DType::float32;
  const bool small = std::all_of(integers_.begin(), integers_.end(), [](std::int64_t n) {
    return n >= std::numeric_limits<std::int32_t>::min() && n <= std::numeric_limits<std::int32_t>::max();
  });
  return small ? DType::int32 : DType::int64;
}

Tensor array(const detail::NumberList& numbers, std::optional<DType> dtype) {
  const DType own = numbers.dtype();
  const Tensor all =
      is_floating(own) ? Tensor(numbers.shape(), numbers.numbers()) : Tensor(numbers.shape(), numbers.integers());
  return all.cast(dtype.value_or(own));
}

// The rows become one further NumberList.
Tensor::Tensor(std::initializer_list<detail::NumberRow> rows)
    : Tensor(array(detail::NumberList(rows.begin(), rows.size()))) {}

}  // namespace mezzo
