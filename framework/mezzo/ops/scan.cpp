#include <mezzo/ops/scan.hpp>

#include <algorithm>
#include <cmath>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/gradients.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/scan_trace.hpp>

namespace mezzo {

using detail::ScanBody;
using detail::ScanLayout;

namespace {

/// The shape with another axis in front.
Shape with_length(std::int64_t length, const Shape& element) {
  Shape shape{length};
  shape.insert(shape.end(), element.begin(), element.end());
  return shape;
}

Spec element_of(const Value& sequence) {
  return {Shape(sequence.shape().begin() + 1, sequence.shape().end()), sequence.dtype()};
}

std::vector<Spec> infer_loop(const OpCall& call) {
  const ScanLayout at(call.attributes);
  const Graph& graph = at.body->graph;
  if (call.inputs.size() != graph.inputs.size()) {
    fail<ValueError>(call.where, "takes {} operands with this body; got {}", graph.inputs.size(), call.inputs.size());
  }
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    Spec expected{graph.inputs[i].shape(), graph.inputs[i].dtype()};
    if (i >= at.carries && i < at.carries + at.sequences) expected.shape = with_length(at.length, expected.shape);
    if (call.inputs[i] == expected) continue;
    fail<ShapeError>(call.where, "operand {} must be {}; got {}", i, to_string(expected), to_string(call.inputs[i]));
  }
  std::vector<Spec> out(call.inputs.begin(), call.inputs.begin() + static_cast<std::ptrdiff_t>(at.carries));
  for (std::size_t i = at.carries; i < graph.outputs.size(); ++i) {
    const Value& y = graph.outputs[i].value;
    out.push_back({with_length(at.length, y.shape()), y.dtype()});
  }
  for (std::size_t i = 0; at.saves && i < at.carries; ++i) {
    out.push_back({with_length(at.length, out[i].shape), out[i].dtype});
  }
  return out;
}

/// Traces the function and inserts the loop.
ScanResult insert_scan(const detail::ScanFunction& function, const Values& init, const Values& xs,
                       const ScanOptions& options, bool saves) {
  std::vector<Spec> carries, elements;
  for (const Value& carry : init) carries.push_back({carry.shape(), carry.dtype()});
  for (const Value& x : xs) elements.push_back(element_of(x));
  const detail::TracedBody traced = detail::trace_body(function, carries, elements);
  const std::int64_t length = *options.length;
  const detail::LibraryScope as_inserted;
  Values operands;
  for (std::size_t i = 0; i < init.size(); ++i) operands.push_back(detail::as(init[i], traced.carries[i]));
  operands.insert(operands.end(), xs.begin(), xs.end());
  if (traced.draws) {
    const int loops = Trace::current() != nullptr ? Trace::current()->loops() : 0;
    std::vector<double> steps;  // nested loops count in other powers of two
    for (std::int64_t i = 0; i < length; ++i) steps.push_back(std::ldexp(static_cast<double>(i + 1), 32 + 10 * loops));
    operands.push_back(Value(Tensor({length}, steps)) + traced.draw_step);
  }
  const std::size_t sequences = operands.size() - init.size();
  operands.insert(operands.end(), traced.captured.begin(), traced.captured.end());
  for (Value& operand : operands) operand = operand.across_border(false);
  const auto& nodes = traced.body->graph.nodes;
  const bool effect =
      std::any_of(nodes.begin(), nodes.end(), [](const detail::NodePtr& node) { return detail::has_effect(*node); });
  const Values out = insert(ops::scan, operands,
                            {{"body", std::shared_ptr<const detail::AttributeFunction>(traced.body)},
                             {"carries", static_cast<std::int64_t>(init.size())},
                             {"sequences", static_cast<std::int64_t>(sequences)},
                             {"length", length},
                             {"reverse", options.reverse},
                             {"saves", saves},
                             {"effect", effect}});
  const auto begin = out.begin();
  const auto carried = static_cast<std::ptrdiff_t>(init.size()),
             all = static_cast<std::ptrdiff_t>(traced.body->graph.outputs.size());
  return {Values(begin, begin + carried), Values(begin + carried, begin + all)};
}

/// Vector-Jacobian product: a loop in the other direction over the cotangents of the carries. It computes each
/// iteration again from the carries before it.
class BackwardScan {
 public:
  explicit BackwardScan(const GradientContext& context) : context_(context), at_(context.attributes()) {
    for (std::size_t i = 0; i < context.input_count(); ++i) {
      const bool carry = i < at_.carries, sequence = !carry && i < at_.carries + at_.sequences;
      if (carry && is_floating(context.input(i).dtype())) carries_.push_back(i);
      if (sequence && context.needs(i)) sequences_.push_back(i);
      if (!carry && !sequence && context.needs(i)) captured_.push_back(i);
    }
    for (std::size_t i = 0; i < at_.outputs; ++i) {
      if (context.cotangent(at_.carries + i).defined()) outputs_.push_back(at_.carries + i);
    }
    for (const std::size_t i : carries_) {
      if (at_.saves && context.cotangent(saved(i)).defined()) saved_.push_back(i);
    }
  }

  Values cotangents() const {
    Values init, out(context_.input_count());
    for (const std::size_t i : carries_) {
      const Value& given = context_.cotangent(i);
      const Spec& spec = context_.output_spec(i);
      init.push_back(given.defined() ? detail::as(given, spec.dtype) : Value(Tensor(spec.shape, spec.dtype)));
    }
    for (const std::size_t i : captured_) init.push_back(Tensor(context_.input(i).shape(), context_.dtype(i)));
    Values xs = saved_carries();
    for (std::size_t i = 0; i < at_.sequences; ++i) xs.push_back(context_.input(at_.carries + i));
    for (const std::size_t i : outputs_) {
      xs.push_back(detail::as(context_.cotangent(i), context_.output_spec(i).dtype));
    }
    for (const std::size_t i : saved_) {
      xs.push_back(detail::as(context_.cotangent(saved(i)), context_.output_spec(i).dtype));
    }
    const ScanResult all = insert_scan([this](const Values& carry, const Values& x) { return iteration(carry, x); },
                                       init, xs, {.length = at_.length, .reverse = !at_.reverse}, false);
    auto next = all.carry.begin();
    for (const std::size_t i : carries_) out[i] = *next++;
    for (const std::size_t i : captured_) out[i] = *next++;
    for (std::size_t i = 0; i < sequences_.size(); ++i) out[sequences_[i]] = all.outputs[i];
    return out;
  }

 private:
  /// Output that holds carry i before each iteration.
  std::size_t saved(std::size_t i) const { return at_.carries + at_.outputs + i; }

  /// Carries before each iteration.
  Values saved_carries() const {
    const std::size_t first = at_.carries + at_.outputs;
    Values out;
    if (at_.saves) {
      for (std::size_t i = 0; i < at_.carries; ++i) out.push_back(context_.output(static_cast<int>(first + i)));
      return out;
    }
    Values inputs;
    for (std::size_t i = 0; i < context_.input_count(); ++i) inputs.push_back(context_.input(i));
    out = insert(ops::scan, inputs, detail::with(context_.attributes(), {{"saves", true}}));
    out.erase(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(first));
    return out;
  }

  /// `carry`: cotangents of the carries, then sums of those of captured values. `xs`: carries before the iteration,
  /// elements of the sequences, cotangents of the outputs and of saved carries.
  ScanResult iteration(const Values& carry, const Values& xs) const {
    Trace& trace = *Trace::current();
    const auto own = static_cast<std::ptrdiff_t>(at_.carries + at_.sequences);
    Values inputs(xs.begin(), xs.begin() + own);
    for (std::size_t i = inputs.size(); i < context_.input_count(); ++i) {
      inputs.push_back(trace.capture(context_.input(i), context_.dtype(i)));
    }
    const Values results = detail::replay(at_.body->graph, inputs);
    Values ys, cotangents, wanted;
    for (std::size_t i = 0; i < carries_.size(); ++i) {
      ys.push_back(results[carries_[i]]);
      cotangents.push_back(carry[i]);
    }
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      ys.push_back(results[outputs_[i]]);
      cotangents.push_back(xs[static_cast<std::size_t>(own) + i]);
    }
    for (const auto* list : {&carries_, &captured_, &sequences_}) {
      for (const std::size_t i : *list) wanted.push_back(inputs[i]);
    }
    const Values gradients = detail::pull_back(ys, cotangents, wanted);
    ScanResult out;
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      const Value& gradient = gradients[i];
      const Value& x = wanted[i];
      const bool sums = i >= carries_.size() && i < carry.size();
      if (sums) {
        out.carry.push_back(gradient.defined() ? carry[i] + detail::as(gradient, carry[i].dtype()) : carry[i]);
      } else {
        (i < carries_.size() ? out.carry : out.outputs)
            .push_back(gradient.defined() ? gradient : Value(Tensor(x.shape(), x.dtype())));
      }
    }
    for (std::size_t i = 0; i < saved_.size(); ++i) {  // second derivatives: a gradient has read them
      const auto place = std::find(carries_.begin(), carries_.end(), saved_[i]) - carries_.begin();
      Value& sum = out.carry[static_cast<std::size_t>(place)];
      sum = sum + xs[static_cast<std::size_t>(own) + outputs_.size() + i];
    }
    return out;
  }

  const GradientContext& context_;
  const ScanLayout at_;
  std::vector<std::size_t> carries_, sequences_, captured_;  // inputs of the node with a cotangent
  std::vector<std::size_t> outputs_;                         // outputs of the node with a cotangent
  std::vector<std::size_t> saved_;                           // carries whose saved values have a cotangent
};

Values scan_vjp(const GradientContext& context) { return BackwardScan(context).cotangents(); }

/// Checks the arguments and sets the length.
ScanOptions checked_options(const detail::ScanFunction& function, const Values& init, const Values& xs,
                            ScanOptions options) {
  const std::string where = detail::current_label("scan");
  if (!function) fail<ValueError>(where, "function must be callable; got an empty one");
  if (options.length && *options.length < 0) {
    fail<ValueError>(where, "length must be at least 0; got {}", *options.length);
  }
  for (std::size_t i = 0; i < init.size(); ++i) {
    if (!init[i].defined()) fail<ValueError>(where, "input {} must be defined; got an undefined Value", i);
  }
  for (std::size_t i = 0; i < xs.size(); ++i) {
    if (!xs[i].defined()) {
      fail<ValueError>(where, "input {} must be defined; got an undefined Value", init.size() + i);
    }
    if (xs[i].shape().empty()) fail<ShapeError>(where, "array {} must have a first axis; got a number", i);
    const std::int64_t length = xs[i].shape()[0];
    if (!options.length || *options.length < 0) options.length = length;
    if (length != *options.length && length >= 0) {
      fail<ShapeError>(where, "array {} must have {} elements; got shape {}", i, *options.length, xs[i].shape());
    }
  }
  if (!options.length) fail<ValueError>(where, "length is required without arrays; got none");
  return options;
}

/// A symbol of a functional graph with that spec.
Value element_symbol(const Spec& spec) {
  auto node = std::make_shared<detail::Node>();
  node->op = &input_op();
  node->where = "[scan]";
  node->outputs = {spec};
  return {node, 0};
}

/// Specs of the result on symbols of a functional graph: carries, then outputs.
std::vector<Spec> specs_of_scan(const detail::ScanFunction& function, const Values& init, const Values& xs,
                                std::int64_t length) {
  Values carry, elements;
  for (const Value& value : init) carry.push_back(element_symbol({value.shape(), value.dtype()}));
  for (const Value& x : xs) elements.push_back(element_symbol(element_of(x)));
  const ScanResult result = function(carry, elements);
  std::vector<Spec> specs;
  for (const Value& value : init) specs.push_back({value.shape(), value.dtype()});
  for (const Value& y : result.outputs) specs.push_back({with_length(length, y.shape()), y.dtype()});
  return specs;
}

}  // namespace

detail::ScanLayout::ScanLayout(const Attributes& attributes)
    : body(std::static_pointer_cast<const ScanBody>(
          attributes.get<std::shared_ptr<const detail::AttributeFunction>>("body"))),
      carries(static_cast<std::size_t>(attributes.get<std::int64_t>("carries"))),
      sequences(static_cast<std::size_t>(attributes.get<std::int64_t>("sequences"))),
      outputs(body->graph.outputs.size() - carries),
      length(attributes.get<std::int64_t>("length")),
      reverse(attributes.get<bool>("reverse")),
      saves(attributes.get<bool>("saves")) {}

Op detail::define_scan() {
  Op op;
  op.cast.operands = {Cast::keep};
  op.infer = infer_loop;
  op.gradient = scan_vjp;
  return op;
}

ScanResult scan(const detail::ScanFunction& function, const Values& init, const Values& xs,
                const ScanOptions& options) {
  const ScanOptions known = checked_options(function, init, xs, options);
  Values first;
  for (const Value& carry : init) {
    first.push_back(
        carry.weak() ? Value(carry.tensor().cast(is_floating(carry.dtype()) ? DType::float32 : DType::int32)) : carry);
  }
  const auto symbolic = [](const Value& value) { return value.symbolic(); };
  const bool training = Trace::current() != nullptr && Trace::current()->training();
  const bool symbols = std::any_of(xs.begin(), xs.end(), symbolic) || std::any_of(first.begin(), first.end(), symbolic);
  if (Trace::current() != nullptr || !symbols) return insert_scan(function, first, xs, known, training);
  Values operands = first;
  operands.insert(operands.end(), xs.begin(), xs.end());
  const auto carries = static_cast<std::ptrdiff_t>(first.size());
  const Values out = detail::defer(
      [=](const Values& then) {
        const ScanResult result = scan(function, Values(then.begin(), then.begin() + carries),
                                       Values(then.begin() + carries, then.end()), options);
        Values all = result.carry;
        all.insert(all.end(), result.outputs.begin(), result.outputs.end());
        return all;
      },
      operands, specs_of_scan(function, first, xs, *known.length));
  return {Values(out.begin(), out.begin() + carries), Values(out.begin() + carries, out.end())};
}

}  // namespace mezzo
