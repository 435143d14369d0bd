#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include <mezzo/core/api.hpp>
#include <mezzo/graph/trace.hpp>

namespace mezzo::detail {

/// The attribute "body" of a scan node: the graph of one iteration. Its inputs are the carries, the elements of the
/// sequences, and values from outside; its outputs are the new carries and the elements of the outputs.
struct ScanBody final : AttributeFunction {
  Graph graph;
};

/// Attributes of a scan node.
struct MEZZO_API ScanLayout {
  explicit ScanLayout(const Attributes& attributes);

  std::shared_ptr<const ScanBody> body;
  std::size_t carries = 0, sequences = 0, outputs = 0;
  std::int64_t length = 0;
  bool reverse = false;
  bool saves = false;  ///< true: further outputs hold the carries before each iteration, for the gradient
};

}  // namespace mezzo::detail
