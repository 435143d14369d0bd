#pragma once
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/dtype.hpp>

namespace mezzo {

/// Treatment of an operand by autocast.
enum class Cast {
  promote,  ///< casts to the compute dtype if it crosses a layer border, then to the widest of all such operands
  compute,  ///< casts to the compute dtype if it crosses a layer border; independent of the other operands
  keep      ///< not cast: indices, labels, statistics
};

namespace detail {
/// Treatment of an op's operands by autocast. The last entry of `operands` applies to all further ones.
struct CastRule {
  std::vector<Cast> operands{Cast::promote};  ///< one entry for each operand
  bool floats_only = false;  ///< casts integers and bools to the compute dtype: exp, log, divide, mean, ...
  bool by_first = false;     ///< unlisted in op lists: computes in the dtype of operand 0, not in the widest
};

/// Properties of an operand that autocast uses.
struct Operand {
  DType dtype = DType::float32;
  bool crosses_border = false;  ///< an input of the running layer or a variable, not a result of the layer's ops
  bool weak = false;            ///< a C++ number: takes the dtype of the other operands
};
}  // namespace detail

/// Dtype in which each operand enters an op; all casts are decided here. A pure function of the op's rule, the operands
/// and the scope's compute dtype. Only floats are cast to another precision. An integer becomes a float only if the op
/// needs floats or an operand is a floating C++ number.
MEZZO_API std::vector<DType> autocast(const detail::CastRule& rule, const std::vector<detail::Operand>& operands,
                                      DType compute);

namespace detail {
/// Entry of an op in op lists.
enum class Listing { unlisted, lower, float32 };
}  // namespace detail

/// The same under op lists. Layer borders are ignored. Floating operands of a listed op are cast to `lower` or float32.
/// Floating operands of an unlisted op are cast to the dtype of the first or the widest of them (`rule.by_first`).
/// float64 operands of listed ops are not cast.
MEZZO_API std::vector<DType> autocast(const detail::CastRule& rule, std::vector<detail::Operand> operands,
                                      detail::Listing listing, DType lower);

}  // namespace mezzo
