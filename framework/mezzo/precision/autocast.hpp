#pragma once
#include <vector>

#include <mezzo/core/dtype.hpp>

namespace mezzo {

/// What autocast does with an operand of an op.
enum class Cast {
  promote,  ///< to the scope's compute dtype if it crosses a layer border, then to the widest of its fellows
  compute,  ///< to the scope's compute dtype if it crosses a layer border; alone
  keep      ///< nothing: indices, labels, statistics, what is already right
};

/// How an op takes its operands. The last entry of `operands` holds for all further ones.
struct CastRule {
  std::vector<Cast> operands{Cast::promote};
  bool floats_only = false;  ///< integers and bools become the scope's compute dtype: exp, log, divide, mean, ...
  bool by_first = false;     ///< where an op list doesn't name it: in its first operand's dtype, not in the widest
};

/// What autocast knows of an operand.
struct Operand {
  DType dtype = DType::float32;
  bool crosses_border = false;  ///< an input of the running layer, or a variable, that no op of it has touched yet
  bool weak = false;            ///< a C++ number: takes the dtype of its fellows
};

/// The dtype in which each operand enters an op: the only place that decides one. A pure function of the op's rule,
/// the operands and the scope's compute dtype. Integers, bools and labels are never rounded: only floats are cast, and
/// an integer becomes a float only where the op or a float scalar asks for one.
std::vector<DType> autocast(const CastRule& rule, const std::vector<Operand>& operands, DType compute);

/// How a pair of op lists has an op.
enum class Listing { unlisted, lower, float32 };

/// The same under a policy of op lists, whatever crosses a border: floats of an op on a list become `lower` or float32,
/// those of others the dtype of the first or the widest of them; float64 stays.
std::vector<DType> autocast(const CastRule& rule, std::vector<Operand> operands, Listing listing, DType lower);

}  // namespace mezzo
