#include <mezzo/layers/add.hpp>

namespace mezzo {

Values Add::call_many(const Values& xs) {
  if (xs.size() < 2) throw ValueError(label() + " takes at least two inputs; got " + std::to_string(xs.size()));
  Value total = xs[0];
  for (std::size_t i = 1; i < xs.size(); ++i) total = total + xs[i];
  return {total};
}

}  // namespace mezzo
