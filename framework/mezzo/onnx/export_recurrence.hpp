#pragma once
#include <string>

#include <mezzo/onnx/export_node.hpp>

namespace mezzo::detail {

/// A recurrence node and the names of its operands, in the accumulation dtype.
struct RecurrenceExport {
  const ExportedNode& x;
  std::string kind{}, activation{}, recurrent_activation{};
  DType dtype = DType::float32;
  std::int64_t gates = 1, units = 1;
  std::string inputs{}, input_kernel{}, input_bias{};  ///< of the operator; of a Scan, `inputs` are the projected ones
  std::string recurrent_kernel{}, bias{}, mask{};      ///< "": none
  ExportNames initial{};                               ///< states before the first step
};

/// Writes the recurrence as a Scan: with a mask, or with activations that ONNX's recurrent operators lack.
ExportNames recurrence_as_scan(const RecurrenceExport& at);

}  // namespace mezzo::detail
