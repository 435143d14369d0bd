#pragma once
#include <mezzo/onnx/import_call.hpp>

namespace mezzo::detail {

/// Convolution by the attributes of Conv. `x` and `kernel` (F, C, spatial axes...) are in the file's order of axes; the
/// result has the channels last.
Value onnx_convolution(OnnxCall& call, const Value& x, const Value& kernel);

}  // namespace mezzo::detail
