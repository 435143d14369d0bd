#pragma once
#include <cstddef>
#include <limits>
#include <optional>

#include <mezzo/backends/common/kernel.hpp>

// The end of a matmul or conv2d, behind its sums: a bias, a residual and a ReLU, in this order.
namespace mezzo {

/// True if input 2 is a bias. A residual is the last input, also without a bias.
inline bool has_bias(const KernelRequest& request) {
  return request.inputs.size() - (request.attributes.get_or("residual", false) ? 1 : 0) > 2;
}

/// The number of the input that is added before the ReLU; none without a residual.
inline std::optional<std::size_t> residual_of(const KernelRequest& request) {
  if (!request.attributes.get_or("residual", false)) return {};
  return request.inputs.size() - 1;
}

/// Least and largest output, that of the ReLU; infinite without one.
struct Limits {
  float least = -std::numeric_limits<float>::infinity(), most = std::numeric_limits<float>::infinity();
};

inline Limits limits_of(const KernelRequest& request) {
  Limits limits;
  if (!has_relu(request)) return limits;
  limits.least = 0;
  if (request.attributes.has("max_value")) {
    limits.most = static_cast<float>(request.attributes.get<double>("max_value"));
  }
  return limits;
}

/// True if the request has a residual or a ReLU with an upper limit, as fuse_inference_epilogues() makes them.
inline bool has_wide_epilogue(const KernelRequest& request) {
  return request.attributes.get_or("residual", false) || (has_relu(request) && request.attributes.has("max_value"));
}

}  // namespace mezzo
