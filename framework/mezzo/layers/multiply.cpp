#include <mezzo/layers/multiply.hpp>

#include <mezzo/layers/merge.hpp>

namespace mezzo {

Values Multiply::call_many(const Values& xs) { return {detail::merge(label(), xs, multiply)}; }

}  // namespace mezzo
