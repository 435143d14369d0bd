#pragma once
#include <string>
#include <vector>

#include <mezzo/nn/metric.hpp>

namespace mezzo::detail {

/// Numbers of a state variable, for results that are computed in C++ after the steps; `size` zeros before the first
/// update. A ValueError that starts with `[name]` inside a step.
std::vector<double> host_numbers(const std::string& name, const Variable& variable, std::size_t size = 1);

/// a / b, or 0 if b is 0.
inline double ratio(double a, double b) { return b == 0 ? 0 : a / b; }

}  // namespace mezzo::detail
