#pragma once
#include <cstdint>
#include <string>

#include <mezzo/core/innermost.hpp>
#include <mezzo/core/shape.hpp>

namespace mezzo::detail {

/// Limits the number of weights that layers make on this thread for its lifetime, and fills these with zeros without
/// running their initializers. For configs from files: a layer with more weights than the file has is a ValueError
/// before memory is allocated.
class LayerWeightBudget : public Innermost<LayerWeightBudget> {
 public:
  explicit LayerWeightBudget(std::int64_t elements) : left_(elements) {}

  /// Takes the elements of a weight from the budget. A ValueError that starts with `where` if they exceed it.
  void take(const Shape& shape, const std::string& where);

 private:
  std::int64_t left_;
};

}  // namespace mezzo::detail
