#pragma once

#include <boost/test/unit_test.hpp>

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include <mezzo/core/compute_scope.hpp>
#include <mezzo/core/error.hpp>
#include <mezzo/core/tuning.hpp>

#include "support/conformance.hpp"

// Checks of one row of the table of ops for subnormal numbers: zeros while flush_denormals() is on, else numbers.
namespace mezzo_tests {

class FlushScope {
 public:
  explicit FlushScope(bool flush) { mezzo::set_flush_denormals(flush); }
  ~FlushScope() { mezzo::set_flush_denormals(before_); }
  FlushScope(const FlushScope&) = delete;
  FlushScope& operator=(const FlushScope&) = delete;

 private:
  bool before_ = mezzo::flush_denormals();
};

inline double least_normal(mezzo::DType dtype) {
  return dtype == mezzo::DType::float64 ? DBL_MIN : dtype == mezzo::DType::float16 ? 0x1p-14 : FLT_MIN;
}

// The row's operands where every other element, or all, are subnormal or zero; with `zeros` zeros of their signs are in
// place of subnormal numbers.
inline TensorList with_subnormals(const OpRow& row, mezzo::DType dtype, bool all, bool zeros) {
  TensorList out = arguments_in(row, dtype);
  const double tiny = least_normal(dtype) / 8;
  std::int64_t k = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (row.arguments[i].role.is_fixed() || out[i].dtype() != dtype) continue;
    const std::vector<double> kinds{tiny, -tiny, 0.0, 3 * tiny, -2 * tiny};
    mezzo::Tensor wide = out[i].cast(mezzo::DType::float64);
    for (std::int64_t at = 0; at < wide.size(); ++at, ++k) {
      if (!all && k % 2 == 0) continue;
      const double value = kinds[static_cast<std::size_t>(k / 2 + k) % kinds.size()];
      wide.mutable_data<double>()[at] = zeros ? std::copysign(0.0, value) : value;
    }
    out[i] = wide.cast(dtype);
  }
  return out;
}

// The results of a kernel as a plan would run it, or the text of its error.
struct Outcome {
  TensorList results;
  std::string error;
};

inline Outcome outcome_of(mezzo::Kernel& kernel, const mezzo::KernelRequest& request, const TensorList& operands) {
  const mezzo::detail::ComputeScope computing;
  try {
    return {run_kernel(kernel, request, operands), ""};
  } catch (const mezzo::Error& error) {
    return {{}, error.what()};
  }
}

// Equal numbers, where subnormal ones count as zeros.
inline void check_equal_if_flushed(const mezzo::Tensor& a, const mezzo::Tensor& b) {
  const double least = is_floating(a.dtype()) ? least_normal(a.dtype()) : 0;
  const std::vector<double> x = a.to_doubles(), y = b.to_doubles();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool zeros = std::abs(x[i]) < least && std::abs(y[i]) < least;
    if (zeros || x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))) continue;
    BOOST_ERROR("element " << i << " is " << x[i] << " with subnormal operands, " << y[i] << " with zeros");
    return;
  }
}

// Calls body(kernel, request, node, graph) for each implementation that takes the row.
template <class Body>
void for_each_kernel(const OpRow& row, mezzo::DType dtype, Body body) {
  const mezzo::Graph graph = trace_step(row.call, arguments_in(row, dtype), row.training);
  const mezzo::detail::NodePtr node = find_node(graph, row.op);
  const mezzo::KernelRequest request = request_of(node);
  for (const mezzo::detail::Implementation& implementation : mezzo::kernel_table()) {
    if (implementation.op->name != row.op) continue;
    std::string reason;
    const auto kernel = implementation.create(request, reason);
    if (!kernel) continue;
    BOOST_TEST_CONTEXT(implementation.name << " " << kernel->detail()) body(*kernel, request, *node, graph);
  }
}

inline void check_flushed_subnormals(const OpRow& row, mezzo::DType dtype) {
  const FlushScope flushing(true);
  for_each_kernel(row, dtype, [&](mezzo::Kernel& kernel, const auto& request, const auto& node, const auto& graph) {
    for (const bool all : {false, true}) {
      const auto run = [&](bool zeros) {
        return outcome_of(kernel, request, operands_of(node, graph, with_subnormals(row, dtype, all, zeros)));
      };
      const Outcome subnormal = run(false), zero = run(true);
      BOOST_TEST(subnormal.error == zero.error);
      for (std::size_t i = 0; i < std::min(subnormal.results.size(), zero.results.size()); ++i) {
        BOOST_TEST_CONTEXT("output " << i) check_equal_if_flushed(subnormal.results[i], zero.results[i]);
      }
    }
  });
}

inline void check_kept_subnormals(const OpRow& row, mezzo::DType dtype) {
  const FlushScope keeping(false);
  for_each_kernel(row, dtype, [&](mezzo::Kernel& kernel, const auto& request, const auto& node, const auto& graph) {
    const TensorList arguments = with_subnormals(row, dtype, false, false);
    const Outcome outcome = outcome_of(kernel, request, operands_of(node, graph, arguments));
    if (!outcome.error.empty()) return;
    const TensorList exact = exact_results(row, arguments);
    for (std::size_t i = 0; i < outcome.results.size(); ++i) {
      BOOST_TEST_CONTEXT("output " << i) check_close(row, outcome.results[i], exact[i], dtype);
    }
  });
}

}  // namespace mezzo_tests
