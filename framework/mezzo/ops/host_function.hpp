#pragma once
#include <functional>
#include <vector>

#include <mezzo/core/tensor.hpp>
#include <mezzo/graph/attributes.hpp>
#include <mezzo/ops/host.hpp>

namespace mezzo {

/// The attribute `function` of a host node.
struct HostFunction final : detail::AttributeFunction {
  std::function<Tensor(const std::vector<Tensor>& xs)> function;
};

namespace detail {
/// host() with further attributes, which describe the function to exporters.
Value described_host(std::function<Tensor(const std::vector<Tensor>& xs)> function, const Values& xs,
                     const HostOptions& options, const Attributes& description);
}  // namespace detail

}  // namespace mezzo
