#pragma once
#include <string>
#include <vector>

#include <mezzo/core/tensor.hpp>
#include <mezzo/report/precision_report.hpp>

namespace mezzo::detail {

/// Relative error |a / scale - b| / |b| of two lists of tensors, each taken as one vector: 0 if they are equal, inf if
/// only |b| is 0. Empty tensors count as zeros. A ValueError that begins with `what` if the lists differ in length or
/// in shapes.
double relative_error(const std::vector<Tensor>& a, double scale, const std::vector<Tensor>& b,
                      const std::string& what);

/// Range of values times `scale`, with the shares that `dtype` can't represent.
ValueRange range_of(const std::vector<Tensor>& values, double scale, DType dtype);

/// True if error a is worse than error b. NaN is worse than every number.
bool is_worse(double a, double b);

/// "4.13e-03", "0", "nan".
std::string error_text(double error);

}  // namespace mezzo::detail
