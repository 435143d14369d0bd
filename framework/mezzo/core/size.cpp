#include <mezzo/core/size.hpp>

#include <mezzo/core/fail.hpp>
#include <ostream>

namespace mezzo {

void detail::fail_unknown_size(std::int64_t axis) {
  const std::string name = axis < 0 ? "an axis" : fmt::format("axis {}", axis);
  fail<ShapeError>("[Size]",
                   "the size of {} must be known here; got ?, which only the run knows: compute with shape(x), the "
                   "sizes as Values",
                   name);
}

std::ostream& operator<<(std::ostream& out, const Size& size) {
  return size.known() ? out << size.number_ : out << '?';
}

}  // namespace mezzo
