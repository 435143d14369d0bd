#pragma once
#include <mezzo/core/dtype.hpp>

namespace mezzo {

/// bfloat16 or float16: the dtypes that are stored, and computed with wider.
inline bool is_half(DType dtype) { return dtype == DType::bfloat16 || dtype == DType::float16; }

}  // namespace mezzo
