#include <mezzo/layers/reshaping/permute.hpp>

#include <algorithm>
#include <numeric>

#include <mezzo/core/fail.hpp>
#include <mezzo/nn/checks.hpp>

namespace mezzo {

Permute::Permute(const PermuteOptions& options) : Layer("Permute", options), permutation_{0} {
  const Shape& dims = options.dims;
  Shape expected(dims.size());
  std::iota(expected.begin(), expected.end(), 1);
  if (dims.empty() || !std::is_permutation(dims.begin(), dims.end(), expected.begin())) {
    fail<ValueError>(label(), "dims must hold each of 1, 2, ..., n once; got ({})", fmt::join(dims, ", "));
  }
  permutation_.insert(permutation_.end(), dims.begin(), dims.end());
}

Value Permute::call(const Value& x) {
  detail::require_rank(label(), x.shape(), permutation_.size(), "(batch and one axis per entry of dims)");
  return transpose(x, permutation_);
}

}  // namespace mezzo
