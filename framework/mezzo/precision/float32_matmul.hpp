#pragma once
#include <string>

#include <mezzo/core/api.hpp>

namespace mezzo {

/// Precision of float32 matrix products of this process, with torch's names. It takes effect with the next step; the
/// Trainer's option float32_matmul_precision takes precedence. Convolutions and operands of other dtypes are not
/// affected.
///
/// | name | products | relative error of a product |
/// |---|---|---|
/// | "highest", the default | float32 | 2^-24 |
/// | "high" | three products of bfloat16, where that is faster: on CPUs with AMX | 2^-16 |
/// | "medium" | one product of bfloat16, where that is faster: on CPUs with fast bfloat16 | 2^-8 |
///
/// Sums are in float32. Elsewhere, and for products too small to gain, products stay in float32;
/// `model.explain({.declined = true})` shows the reason. Throws a NameError for another name.
MEZZO_API void set_float32_matmul_precision(const std::string& precision);
MEZZO_API std::string float32_matmul_precision();

namespace detail {

/// Values of float32_matmul_precision().
enum class Float32Matmul { highest, high, medium };

/// The value of a name. Throws a NameError that lists the valid names if there is none.
MEZZO_API Float32Matmul float32_matmul_of(const std::string& name);

/// float32_matmul_precision().
MEZZO_API Float32Matmul process_float32_matmul();

}  // namespace detail
}  // namespace mezzo
