#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/core/innermost.hpp>
#include <mezzo/graph/op.hpp>

namespace mezzo::detail {

/// Limits of shapes in configs: products of two sizes can't overflow.
constexpr std::int64_t max_config_axis = std::int64_t{1} << 31;    ///< largest size of an axis
constexpr std::int64_t max_config_sample = std::int64_t{1} << 40;  ///< elements of one sample

/// False if a size is above max_config_axis or the known sizes have more elements than max_config_sample.
bool fits_config(const Shape& shape);

/// Limits the nodes of functional graphs that are made on this thread for its lifetime, and the sizes of their outputs,
/// for configs from files.
class NodeBudget : public Innermost<NodeBudget> {
 public:
  explicit NodeBudget(std::int64_t nodes) : given_(nodes), left_(nodes) {}

  /// Takes a node with these outputs from the innermost budget of this thread, if there is one. A ValueError that
  /// starts with `where` if none is left, a ShapeError if an output doesn't fit.
  static void take(const std::vector<Spec>& outputs, const std::string& where);

 private:
  std::int64_t given_, left_;
};

}  // namespace mezzo::detail
