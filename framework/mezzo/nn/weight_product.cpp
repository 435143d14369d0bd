#include <mezzo/nn/weight_product.hpp>

#include <mezzo/ops/ops.hpp>

namespace mezzo {

Value detail::weight_product(const Value& x, const Variable& kernel) {
  if (kernel.shape().size() == 2) return matmul_of_kernel(x, kernel);
  const std::int64_t in = x.shape().back();
  return matmul_of_kernel(x, reshape(kernel, {in, element_count(kernel.shape()) / in}));
}

}  // namespace mezzo
