#pragma once
#include <functional>
#include <vector>

#include <mezzo/core/tensor.hpp>
#include <mezzo/graph/attributes.hpp>

namespace mezzo {

/// The attribute `function` of a host node.
struct HostFunction final : detail::AttributeFunction {
  std::function<Tensor(const std::vector<Tensor>& xs)> function;
};

}  // namespace mezzo
