#include <mezzo/core/fail.hpp>
#include <mezzo/ops/activations.hpp>
#include <mezzo/ops/arrangement.hpp>
#include <mezzo/ops/basic_ops.hpp>
#include <mezzo/ops/elementwise.hpp>
#include <mezzo/ops/products.hpp>
#include <mezzo/ops/reductions.hpp>
#include <mezzo/training/model/model_config.hpp>

namespace mezzo::detail {
namespace {

/// An op that configs name, with the number of its operands and the function that inserts it. Functions check their
/// arguments, since these may come from a file of others.
struct SavedOp {
  const char* name;
  std::size_t operands;  ///< 0: any number from 1
  Value (*insert)(const Values& xs, const Attributes& attributes);
};

std::int64_t axis_in(const Attributes& attributes, const Value& x) {
  const std::int64_t axis = attributes.get<std::int64_t>("axis");
  return normalize_axis(axis, x.shape().size(), "[config]");
}

ReduceOptions reduction_of(const Attributes& attributes) {
  return {.axes = attributes.get<Shape>("axes"), .keepdims = attributes.get_or("keepdims", false)};
}

#define MEZZO_UNARY_OP(name, ...) {#name, 1, [](const Values& xs, const Attributes&) { return mezzo::name(xs[0]); }},
#define MEZZO_OP(...)
#define MEZZO_ALIAS_OP(...)
const SavedOp saved_ops[] = {
#include <mezzo/ops/rows/elementwise.def>
    {"add", 2, [](const Values& xs, const Attributes&) { return xs[0] + xs[1]; }},
    {"subtract", 2, [](const Values& xs, const Attributes&) { return xs[0] - xs[1]; }},
    {"multiply", 2, [](const Values& xs, const Attributes&) { return xs[0] * xs[1]; }},
    {"divide", 2, [](const Values& xs, const Attributes&) { return xs[0] / xs[1]; }},
    {"maximum", 2, [](const Values& xs, const Attributes&) { return maximum(xs[0], xs[1]); }},
    {"minimum", 2, [](const Values& xs, const Attributes&) { return minimum(xs[0], xs[1]); }},
    {"silu", 1, [](const Values& xs, const Attributes&) { return silu(xs[0]); }},
    {"gelu", 1, [](const Values& xs, const Attributes& a) { return gelu(xs[0], a.get<bool>("approximate")); }},
    {"softmax", 1, [](const Values& xs, const Attributes& a) { return softmax(xs[0], axis_in(a, xs[0])); }},
    {"concat", 0, [](const Values& xs, const Attributes& a) { return concat(xs, axis_in(a, xs[0])); }},
    {"slice", 1,
     [](const Values& xs, const Attributes& a) {
       return slice(xs[0], {.starts = a.get<Shape>("starts"), .sizes = a.get<Shape>("sizes")});
     }},
    {"reshape", 1, [](const Values& xs, const Attributes& a) { return reshape(xs[0], a.get<Shape>("shape")); }},
    {"transpose", 1,
     [](const Values& xs, const Attributes& a) { return transpose(xs[0], a.get<Shape>("permutation")); }},
    {"cast", 1, [](const Values& xs, const Attributes& a) { return cast(xs[0], a.get<DType>("dtype")); }},
    {"sum", 1, [](const Values& xs, const Attributes& a) { return sum(xs[0], reduction_of(a)); }},
    {"mean", 1, [](const Values& xs, const Attributes& a) { return mean(xs[0], reduction_of(a)); }},
    {"max", 1, [](const Values& xs, const Attributes& a) { return max(xs[0], reduction_of(a)); }},
    {"min", 1, [](const Values& xs, const Attributes& a) { return min(xs[0], reduction_of(a)); }},
    {"all", 1, [](const Values& xs, const Attributes& a) { return all(xs[0], reduction_of(a)); }},
    {"any", 1, [](const Values& xs, const Attributes& a) { return any(xs[0], reduction_of(a)); }},
    {"power", 2, [](const Values& xs, const Attributes&) { return power(xs[0], xs[1]); }},
    {"floor_divide", 2, [](const Values& xs, const Attributes&) { return floor_divide(xs[0], xs[1]); }},
    {"mod", 2, [](const Values& xs, const Attributes&) { return mod(xs[0], xs[1]); }},
    {"arctan2", 2, [](const Values& xs, const Attributes&) { return arctan2(xs[0], xs[1]); }},
    {"hypot", 2, [](const Values& xs, const Attributes&) { return hypot(xs[0], xs[1]); }},
    {"logaddexp", 2, [](const Values& xs, const Attributes&) { return logaddexp(xs[0], xs[1]); }},
    {"where", 3, [](const Values& xs, const Attributes&) { return where(xs[0], xs[1], xs[2]); }},
    {"matmul", 2,
     [](const Values& xs, const Attributes& a) {
       return matmul(xs[0], xs[1],
                     {.transpose_a = a.get_or("transpose_a", false), .transpose_b = a.get_or("transpose_b", false)});
     }},
    {"less", 2, [](const Values& xs, const Attributes&) { return less(xs[0], xs[1]); }},
    {"less_equal", 2, [](const Values& xs, const Attributes&) { return less_equal(xs[0], xs[1]); }},
    {"greater_equal", 2, [](const Values& xs, const Attributes&) { return greater_equal(xs[0], xs[1]); }},
    {"equal", 2, [](const Values& xs, const Attributes&) { return equal(xs[0], xs[1]); }},
    {"greater", 2, [](const Values& xs, const Attributes&) { return greater(xs[0], xs[1]); }},
    {"logical_and", 2, [](const Values& xs, const Attributes&) { return logical_and(xs[0], xs[1]); }},
    {"logical_not", 1, [](const Values& xs, const Attributes&) { return logical_not(xs[0]); }},
    {"logical_or", 2, [](const Values& xs, const Attributes&) { return logical_or(xs[0], xs[1]); }},
    {"not_equal", 2, [](const Values& xs, const Attributes&) { return not_equal(xs[0], xs[1]); }},
};
#undef MEZZO_UNARY_OP
#undef MEZZO_OP
#undef MEZZO_ALIAS_OP

const SavedOp* find_saved_op(const std::string& name) {
  for (const SavedOp& op : saved_ops) {
    if (name == op.name) return &op;
  }
  return nullptr;
}

[[noreturn]] void fail_op(const std::string& op) {
  fail<ValueError>("[save]",
                   "the op \"{}\" outside of layers can't be saved; put it into a layer of your own and "
                   "register that by register_layer()",
                   op);
}

}  // namespace

bool is_saved_op(const std::string& name) { return find_saved_op(name) != nullptr; }

Json write_op(const Op& op, const Attributes& attributes) {
  if (find_saved_op(op.name) == nullptr) fail_op(op.name);
  Json out{{"op", op.name}};
  Json& all = out["attributes"] = Json::object();
  for (const auto& [name, value] : attributes.entries()) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
      all[name] = *number;
    } else if (const auto* flag = std::get_if<bool>(&value)) {
      all[name] = *flag;
    } else if (const auto* shape = std::get_if<Shape>(&value)) {
      all[name] = *shape;
    } else if (const auto* dtype = std::get_if<DType>(&value)) {
      all[name] = dtype_name(*dtype);
    } else {
      fail_op(op.name);
    }
  }
  return out;
}

Value read_op(const Json& json, const Values& inputs) {
  const std::string name = read_string(member(json, "op", "[config]"), "[config] op");
  const SavedOp* op = find_saved_op(name);
  if (op == nullptr) fail<NameError>("", "unknown op \"{}\" in a config", name);
  const bool fits = op->operands == 0 ? !inputs.empty() : inputs.size() == op->operands;
  if (!fits) fail<ValueError>("[config]", "{} takes {} operands; got {}", name, op->operands, inputs.size());
  Attributes attributes;
  const Json& given = member(json, "attributes", "[config]");
  if (!given.is_object()) fail<ValueError>("[config]", "attributes must be an object; got {}", excerpt(given));
  for (const auto& item : given.items()) {
    const Json& value = item.value();
    if (value.is_boolean()) {
      attributes.set(item.key(), value.get<bool>());
    } else if (value.is_string()) {
      attributes.set(item.key(), dtype_from_name(value.get<std::string>()));
    } else if (value.is_array()) {
      Shape shape;
      for (const Json& size : value) shape.push_back(read_size(size, "[config] " + item.key()));
      attributes.set(item.key(), shape);
    } else {
      attributes.set(item.key(), read_size(value, "[config] " + item.key()));
    }
  }
  return op->insert(inputs, attributes);
}

}  // namespace mezzo::detail
