#include <mezzo/ops/listed.hpp>

#include <optional>
#include <utility>

#include <mezzo/graph/cast_scope.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/graph/scope.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

/// An op that casts its operand by op lists, for as_listed().
Op name_in_lists() {
  Op op;
  op.cast.floats_only = true;
  op.cast.by_first = true;
  op.runs = &ops::identity;
  op.infer = detail::infer_same;
  return op;
}

/// The same op under another name.
Op renamed(Op op, const Op& runs) {
  op.runs = &runs;
  return op;
}

}  // namespace

Op detail::define_conv1d() { return renamed(define_conv2d(), ops::conv2d); }
Op detail::define_conv3d() { return renamed(define_conv2d(), ops::conv2d); }
Op detail::define_conv_transpose1d() { return renamed(define_conv2d_input_gradient(), ops::conv2d_input_gradient); }
Op detail::define_conv_transpose2d() { return renamed(define_conv2d_input_gradient(), ops::conv2d_input_gradient); }
Op detail::define_conv_transpose3d() { return renamed(define_conv2d_input_gradient(), ops::conv2d_input_gradient); }
Op detail::define_dropout1d() { return name_in_lists(); }
Op detail::define_dropout2d() { return name_in_lists(); }
Op detail::define_dropout3d() { return name_in_lists(); }
Op detail::define_group_norm() { return name_in_lists(); }
Op detail::define_instance_norm() { return name_in_lists(); }
Op detail::define_leaky_relu() { return name_in_lists(); }

bool detail::under_op_lists() { return !detail::casts_disabled() && detail::current_policy().by_op() != nullptr; }

Values detail::as_listed(const Op& op, const Values& inputs, const std::function<Values(const Values&)>& function) {
  if (!under_op_lists()) return function(inputs);
  Values cast = inputs;
  cast[0] = insert_one(op, {inputs[0]});
  for (Value& x : cast) x = x.across_border(false);
  const detail::LibraryScope as_inserted;
  return function(cast);
}

Value detail::reshape_result(const Value& y, const Shape& shape) {
  std::optional<detail::LibraryScope> as_inserted;
  if (under_op_lists() || !detail::current_frames().empty()) as_inserted.emplace();
  return reshape(y, shape);
}

Value detail::composed(const Op& op, const Value& x, std::function<Value(const Value&)> function) {
  const auto inside = [function = std::move(function)](const Values& xs) -> Values { return {function(xs[0])}; };
  const auto run = [&op, inside](const Values& xs) { return as_listed(op, xs, inside); };
  return detail::defer(run, {x}, {{x.shape(), x.dtype()}}).front();
}

}  // namespace mezzo
