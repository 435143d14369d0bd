#include <mezzo/ops/helpers.hpp>

#include <algorithm>
#include <utility>

#include <mezzo/core/execution_context.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/random.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/ops/draw_seed.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo::detail {

std::vector<Spec> infer_broadcast(const OpCall& call) {
  return {{broadcast(call.inputs[0].shape, call.inputs[1].shape, call.where), call.inputs[0].dtype}};
}

std::vector<Spec> infer_like(const OpCall& call) { return {call.inputs[0]}; }

std::vector<Spec> infer_same(const OpCall& call) {
  require_float(call, 0);
  return {call.inputs[0]};
}

std::vector<Spec> infer_reduction(const OpCall& call) {
  const auto& axes = call.attributes.get<Shape>("axes");
  const bool keepdims = call.attributes.get<bool>("keepdims");
  Shape shape;
  for (std::size_t i = 0; i < call.inputs[0].shape.size(); ++i) {
    const bool reduced = std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) != axes.end();
    if (!reduced) shape.push_back(call.inputs[0].shape[i]);
    if (reduced && keepdims) shape.push_back(1);
  }
  return {{shape, call.attributes.get_or<DType>("dtype", call.inputs[0].dtype)}};
}

void require_integers(const OpCall& call, std::size_t i, const std::string& name) {
  const DType dtype = call.inputs[i].dtype;
  if (is_floating(dtype) || dtype == DType::boolean) {
    fail<DTypeError>(call.where, "{} must be integers; got {}", name, dtype);
  }
}

void require_float(const OpCall& call, std::size_t i) {
  if (!is_floating(call.inputs[i].dtype)) {
    fail<DTypeError>(call.where, "input {} must be floating; got {}", i, call.inputs[i].dtype);
  }
}

void require_rank(const OpCall& call, std::size_t i, std::size_t rank, const std::string& axes) {
  if (call.inputs[i].shape.size() != rank) {
    fail<ShapeError>(call.where, "input {} must have rank {} {}; got shape {}", i, rank, axes, call.inputs[i].shape);
  }
}

void require_cotangent(const OpCall& call, std::size_t i, const Shape& shape) {
  if (call.inputs[i].shape != shape) {
    fail<ShapeError>(call.where, "the cotangent must have shape {}; got {}", shape, call.inputs[i].shape);
  }
}

void require_number_for_each_axis(const OpCall& call, const std::string& name, const Shape& numbers) {
  if (numbers.size() != call.inputs[0].shape.size()) {
    fail<ShapeError>(call.where, "{} must hold a number for each axis of {}; got {}", name, call.inputs[0].shape,
                     numbers_text(numbers));
  }
}

std::string numbers_text(const Shape& numbers) {
  return fmt::format("({}{})", fmt::join(numbers, ", "), numbers.size() == 1 ? "," : "");
}

Shape normalize_axes(const Shape& axes, std::size_t rank, const std::string& where) {
  Shape out;
  for (const auto axis : axes) out.push_back(normalize_axis(axis, rank, where));
  for (std::size_t i = 0; axes.empty() && i < rank; ++i) out.push_back(static_cast<std::int64_t>(i));
  std::sort(out.begin(), out.end());
  if (std::adjacent_find(out.begin(), out.end()) != out.end()) {
    fail<ValueError>(where, "axes must differ; got {}", numbers_text(axes));
  }
  return out;
}

std::int64_t count_along(const Shape& shape, const Shape& axes) {
  Shape sizes;
  for (const auto axis : axes) sizes.push_back(shape[static_cast<std::size_t>(axis)]);
  return element_count(sizes);
}

Shape reduced_shape(const Value& x, const Shape& axes, bool keepdims) {
  return infer_reduction({{{x.shape(), x.dtype()}}, {{"axes", axes}, {"keepdims", keepdims}}, ""}).front().shape;
}

Value stretch(const Value& g, const Shape& axes, const Shape& to) {
  Shape kept = to;
  for (const auto axis : axes) kept[static_cast<std::size_t>(axis)] = 1;
  return broadcast_to(g.shape() == kept ? g : reshape(g, kept), to);
}

DType operand_dtype(const Op& op, const Value& x) { return operand_dtypes(op, op.cast, {x}).front(); }

Value as(const Value& x, DType dtype) { return x.dtype() == dtype ? x : cast(x, dtype); }

Value as_wide(const Value& x, DType& narrow) {
  narrow = operand_dtype(ops::mean, x);
  const Value number = x.weak() ? Value(x.tensor()) : x.across_border(false);
  return as(as(number, narrow), accumulation_dtype(narrow));
}

Tensor int64s(const Shape& numbers, const Shape& shape) { return Tensor(shape, numbers); }

Value cotangent_for(const GradientContext& context, std::size_t i) { return as(context.cotangent(), context.dtype(i)); }

Value sum_as(const Value& x, const Shape& axes, bool keepdims, DType dtype) {
  return insert_one(ops::sum, {x}, {{"axes", axes}, {"keepdims", keepdims}, {"dtype", dtype}});
}

Value reduce_to_input(const GradientContext& context, std::size_t i, const Value& gradient) {
  const Shape& to = context.input(i).shape();
  const Shape& from = gradient.shape();
  const std::size_t extra = from.size() - to.size();
  Shape axes;
  for (std::size_t axis = 0; axis < from.size(); ++axis) {
    if (axis < extra || (to[axis - extra] == 1 && from[axis] != 1)) axes.push_back(static_cast<std::int64_t>(axis));
  }
  const Value reduced = axes.empty() ? as(gradient, context.dtype(i)) : sum_as(gradient, axes, false, context.dtype(i));
  return reduced.shape() == to ? reduced : reshape(reduced, to);
}

namespace {

/// The operators' part of a thread's ExecutionContext.
struct DrawContext {
  DrawSeed* seed = nullptr;
};

DrawSeed*& draw_seed() { return ExecutionContext::current().part<DrawContext>().seed; }

}  // namespace

DrawSeed::DrawSeed(const std::optional<std::uint64_t>& seed, std::atomic<std::uint64_t>& draws)
    : active_(seed.has_value()), seed_(seed.value_or(0)), draws_(draws), outer_(draw_seed()) {
  if (active_) draw_seed() = this;
}
DrawSeed::~DrawSeed() { draw_seed() = outer_; }
DrawSeed* DrawSeed::current() { return draw_seed(); }

Value draw_step(DrawnFor drawn_for) {
  if (const Trace* trace = Trace::current()) {
    const Value& in_loop =
        drawn_for == DrawnFor::iteration ? trace->draw_steps().of_iteration : trace->draw_steps().of_loop;
    if (in_loop.defined()) return in_loop;
  }
  return runtime_scalar(RuntimeScalar::step);
}

std::function<Value(const Value&)> mean_of_ranks(bool synchronized) {
  const Trace* const trace = Trace::current();
  if (trace == nullptr) return {};
  const Trace::JoinedBatch& joined = trace->joined_batch();
  return synchronized || joined.for_all_norms ? joined.mean : std::function<Value(const Value&)>();
}

Draw next_draw(DrawnFor drawn_for) {
  const std::string path = current_path();
  if (DrawSeed* const fixed = DrawSeed::current()) {
    Trace* const trace = Trace::current();
    const std::uint64_t place = trace != nullptr ? static_cast<std::uint64_t>(trace->count(path)) : fixed->next();
    return {static_cast<std::int64_t>(mix(mix(key_of("seed"), fixed->seed()), place)),
            Tensor::scalar(0, DType::float64), draw_step(drawn_for)};
  }
  Trace* const trace = Trace::current();
  if (trace != nullptr && !trace->detached()) {
    const std::uint64_t key = mix(key_of(path), static_cast<std::uint64_t>(trace->count(path)));
    return {static_cast<std::int64_t>(key), runtime_scalar(RuntimeScalar::seed), draw_step(drawn_for)};
  }
  return {static_cast<std::int64_t>(mix(key_of(path), next_stream())),
          Tensor::scalar(static_cast<double>(seed()), DType::float64), draw_step(drawn_for)};
}

Value Draw::first_element(const Shape& shape) const {
  const Trace* trace = Trace::current();
  const std::int64_t samples = trace == nullptr ? 0 : trace->samples_of_rank();
  if (samples == 0 || shape.empty() || shape[0] < 1 || shape[0] % samples != 0) return {};
  const LibraryScope as_inserted;
  const std::int64_t of_sample = element_count(shape) / samples;
  return runtime_scalar(RuntimeScalar::first_sample) *
         Value(Tensor::scalar(static_cast<double>(of_sample), DType::float64));
}

Attributes with(Attributes attributes, std::initializer_list<std::pair<std::string, Attribute>> changes) {
  for (const auto& change : changes) attributes.set(change.first, change.second);
  return attributes;
}

}  // namespace mezzo::detail
