#include <mezzo/core/shape_view.hpp>

#include <ostream>

namespace mezzo {

std::ostream& operator<<(std::ostream& out, const ShapeView& shape) { return out << to_string(*shape.shape_); }

}  // namespace mezzo
