#pragma once
#include <string>
#include <vector>

#include <mezzo/core/tensor.hpp>
#include <mezzo/report/precision_report.hpp>

namespace mezzo::detail {

/// |a / scale - b| / |b| of two lists of tensors as two vectors: 0 if they are the same, inf if only |b| is 0. Empty
/// tensors of `a` or `b` are zeros. A ValueError that names `what` if there are not as many, or of other shapes.
double relative_error(const std::vector<Tensor>& a, double scale, const std::vector<Tensor>& b,
                      const std::string& what);

/// Of values times `scale`, and what becomes of them in `dtype`.
ValueRange range_of(const std::vector<Tensor>& values, double scale, DType dtype);

/// Whether an error is worse: NaN than all numbers.
bool is_worse(double a, double b);

/// "4.13e-03", "0", "nan".
std::string error_text(double error);

}  // namespace mezzo::detail
