#include <mezzo/layers/add.hpp>

#include <mezzo/layers/merge.hpp>

namespace mezzo {

Values Add::call_many(const Values& xs) { return {detail::merge(label(), xs, add)}; }

}  // namespace mezzo
