#include <mezzo/compiler/pass_attributes.hpp>

#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {

detail::Implementation detail::without_attribute(Implementation implementation, const Op& op, const char* attribute) {
  if (implementation.op != &op) return implementation;
  implementation.create = [create = std::move(implementation.create), attribute](
                              const KernelRequest& request, std::string& reason) -> std::unique_ptr<Kernel> {
    if (!request.attributes.has(attribute)) return create(request, reason);
    reason = fmt::format("doesn't know the attribute \"{}\"", attribute);
    return nullptr;
  };
  return implementation;
}

detail::Implementation detail::without_pass_attributes(Implementation implementation) {
  return without_attribute(without_attribute(std::move(implementation), ops::matmul, rounds_right), ops::batch_norm,
                           again);
}

}  // namespace mezzo
