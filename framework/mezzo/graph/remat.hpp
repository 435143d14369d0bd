#pragma once
#include <cstdint>
#include <memory>
#include <vector>

namespace mezzo {

namespace detail {
/// Rule by which the calls of a layer are computed again in the backward pass.
struct RematRule {
  enum class Mode {
    none,        ///< never
    full,        ///< always
    larger_than  ///< if the outputs for one sample have more than `threshold` elements
  };
  Mode mode = Mode::none;
  std::int64_t threshold = 0;
};

/// One call of a layer with a RematRule. Its nodes share this object.
struct RematCall {
  bool again = false;  ///< true: the backward pass computes the nodes again; known at the end of the call
};
using RematCalls = std::vector<std::shared_ptr<const RematCall>>;
}  // namespace detail

}  // namespace mezzo
