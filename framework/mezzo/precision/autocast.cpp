#include <mezzo/precision/autocast.hpp>

#include <algorithm>

namespace mezzo {
namespace {

Cast cast_of(const detail::CastRule& rule, std::size_t i) {
  return rule.operands[std::min(i, rule.operands.size() - 1)];
}

}  // namespace

std::vector<DType> autocast(const detail::CastRule& rule, const std::vector<detail::Operand>& operands, DType compute) {
  std::vector<DType> out(operands.size());
  bool float_scalar = false, int_scalar = false;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i].weak || cast_of(rule, i) != Cast::promote) continue;
    (is_floating(operands[i].dtype) ? float_scalar : int_scalar) = true;
  }
  bool any = false;
  DType widest = DType::boolean;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    out[i] = operands[i].dtype;
    const Cast how = cast_of(rule, i);
    if (how == Cast::keep || operands[i].weak) continue;
    const bool to_compute =
        is_floating(out[i]) ? operands[i].crosses_border : rule.floats_only || (float_scalar && how == Cast::promote);
    if (to_compute) out[i] = compute;
    if (how != Cast::promote) continue;
    widest = any ? promote(widest, out[i]) : out[i];
    any = true;
  }
  if (any && widest == DType::boolean && int_scalar) widest = DType::int64;  // mask * 2
  if (!any) {                                                                // only C++ numbers
    for (const detail::Operand& operand : operands) widest = promote(widest, operand.dtype);
    if (rule.floats_only || is_floating(widest)) widest = compute;
  }
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (cast_of(rule, i) == Cast::promote) out[i] = widest;
  }
  return out;
}

std::vector<DType> autocast(const detail::CastRule& rule, std::vector<detail::Operand> operands,
                            detail::Listing listing, DType lower) {
  const auto castable = [&](std::size_t i) {
    return cast_of(rule, i) != Cast::keep && !operands[i].weak && is_floating(operands[i].dtype);
  };
  std::size_t first = 0;
  while (first < operands.size() && !castable(first)) ++first;
  DType target = listing == detail::Listing::lower ? lower : DType::float32;
  if (listing == detail::Listing::unlisted && first < operands.size()) target = operands[first].dtype;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    operands[i].crosses_border = false;
    const bool to_target = listing == detail::Listing::unlisted ? rule.by_first : operands[i].dtype != DType::float64;
    if (castable(i) && to_target) operands[i].dtype = target;
  }
  return autocast(rule, operands, target);
}

}  // namespace mezzo
