#include <mezzo/ops/labels.hpp>

#include <algorithm>
#include <iterator>

#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

/// True for ops that move elements without changing them.
bool moves(const Op& op) {
  const Op* const all[] = {&ops::reshape, &ops::transpose,     &ops::slice,   &ops::broadcast_to,
                           &ops::flip,    &ops::stop_gradient, &ops::identity};
  return std::find(std::begin(all), std::end(all), &op) != std::end(all);
}

}  // namespace

Value detail::as_labels(const Value& x) {
  if (!x.defined() || !is_floating(x.dtype()) || !x.node() || x.node()->inputs.size() != 1) return x;
  const detail::Node& node = *x.node();
  const Value& from = node.inputs.front();
  if (&*node.op == &ops::cast) return is_floating(from.dtype()) ? x : from;
  if (!moves(*node.op)) return x;
  const Value labels = as_labels(from);
  return is_floating(labels.dtype()) ? x : insert_one(*node.op, {labels}, node.attributes);
}

}  // namespace mezzo
