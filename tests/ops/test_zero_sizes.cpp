#include <boost/test/unit_test.hpp>

#include <mezzo/core/random.hpp>

#include "ops/activations.hpp"
#include "ops/attention.hpp"
#include "ops/blocks.hpp"
#include "ops/elementwise.hpp"
#include "ops/gather.hpp"
#include "ops/layer_norm.hpp"
#include "ops/movement.hpp"
#include "ops/normalization.hpp"
#include "ops/products.hpp"
#include "support/conformance.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// Draws sizes of which about a third are 0.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : seed_(seed) {}

  std::int64_t below(std::int64_t end) {
    return static_cast<std::int64_t>(philox(seed_, count_++)[0] % static_cast<std::uint32_t>(end));
  }
  std::int64_t size() { return std::max<std::int64_t>(below(6) - 2, 0); }
  bool coin() { return below(2) == 1; }
  Shape shape(std::int64_t least_rank, std::int64_t most_rank) {
    Shape out(static_cast<std::size_t>(least_rank + below(most_rank - least_rank + 1)));
    for (auto& axis : out) axis = size();
    return out;
  }
  /// A shape that broadcasts to `shape`.
  Shape narrower(Shape shape) {
    shape.erase(shape.begin(), shape.begin() + below(static_cast<std::int64_t>(shape.size()) + 1));
    for (auto& axis : shape) axis = coin() ? axis : 1;
    return shape;
  }

 private:
  std::uint64_t seed_, count_ = 0;
};

OpRow reduction(Draw& draw) {
  const Shape shape = draw.shape(1, 4);
  Shape axes;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (draw.coin()) axes.push_back(static_cast<std::int64_t>(axis));
  }
  const bool mean = draw.coin();
  OpRow row = reduction_row(mean, shape, {axes, draw.coin()}, axes);
  if (mean) row.differentiable = {};  // infinite where no element is averaged
  return row;
}

OpRow softmax_of(Draw& draw) {
  const Shape shape = draw.shape(1, 3);
  return softmax_row(shape, draw.below(static_cast<std::int64_t>(shape.size())));
}

OpRow matmul_of(Draw& draw) {
  const Shape leading = draw.coin() ? draw.shape(1, 2) : Shape{};
  const bool ta = draw.coin(), tb = draw.coin();
  const std::int64_t rows = draw.size(), depth = draw.size(), columns = draw.size();
  Shape a = leading, b = leading;
  for (const auto size : ta ? Shape{depth, rows} : Shape{rows, depth}) a.push_back(size);
  for (const auto size : tb ? Shape{columns, depth} : Shape{depth, columns}) b.push_back(size);
  return matmul_row({"drawn", a, b, ta, tb});
}

OpRow convolution(Draw& draw) {
  const std::int64_t groups = 1 + draw.below(2), channels = draw.size(), filters = draw.size() * groups;
  Convolution c{"drawn", {draw.size(), 4, 5, channels * groups}, {1 + draw.below(3), 2, channels, filters}};
  c.options.groups = groups;
  return conv2d_row(c);
}

OpRow concatenation(Draw& draw) {
  const Shape shape = draw.shape(1, 3);
  const std::int64_t axis = draw.below(static_cast<std::int64_t>(shape.size()));
  std::vector<Shape> shapes(static_cast<std::size_t>(1 + draw.below(3)), shape);
  for (Shape& one : shapes) one[static_cast<std::size_t>(axis)] = draw.size();
  return concat_row(shapes, axis, static_cast<std::size_t>(axis));
}

OpRow box(Draw& draw) {
  const Shape shape = draw.shape(1, 4);
  Shape first(shape.size()), second(shape.size());
  const bool pads = draw.coin();
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    first[axis] = pads ? draw.below(3) : draw.below(shape[axis] + 1);
    second[axis] = pads ? draw.below(3) : draw.below(shape[axis] - first[axis] + 1);
  }
  return pads ? pad_row(shape, {first, second}) : slice_row(shape, {first, second}, second);
}

OpRow rows_of_table(Draw& draw) {
  Shape table = draw.shape(1, 3);
  Shape indices = draw.shape(0, 2);
  if (table[0] == 0) indices.push_back(0);  // no index is valid
  return {.op = "gather",
          .note = to_string(table) + " at " + to_string(indices),
          .call = [](const Values& v) { return Values{gather(v[0], v[1])}; },
          .arguments = {{uniform(table, -1, 1)},
                        {integers(indices, DType::int32, 0, static_cast<double>(table[0])), DType::int32}},
          .outputs = {mezzo_tests::Role::varied()},
          .plain = [](const TensorList& v) { return TensorList{plain_gather(v[0], v[1])}; },
          .differentiable = {0},
          .depth = 16,
          .internal = true};
}

OpRow attention(Draw& draw) {
  AttentionCase c;
  c.batch = draw.size();
  c.heads = draw.size();
  c.queries = draw.size();
  c.keys = draw.size();
  c.size = draw.size();
  c.value_size = draw.size();
  c.causal = draw.coin();
  return attention_row(c);
}

OpRow normalization(Draw& draw) {
  Shape shape = draw.shape(1, 3);
  if (draw.coin()) return batch_norm_row(shape, draw.coin());
  return layer_norm_row(shape, 1 + draw.below(static_cast<std::int64_t>(shape.size())));
}

OpRow movement(Draw& draw) {
  const Shape shape = draw.shape(1, 4);
  switch (draw.below(4)) {
    case 0:
      return transpose_row(shape, {});
    case 1:
      return broadcast_row(draw.narrower(shape), shape);
    case 2:
      return where_row(draw.narrower(shape), draw.narrower(shape), draw.narrower(shape));
    default:
      return without_elements(unary_row("exp", mezzo::exp, uniform({1}, 0, 1), [](double x) { return std::exp(x); }));
  }
}

OpRow arithmetic(Draw& draw) {
  const Shape shape = draw.shape(1, 4);
  return binary_row("multiply", to_string(shape), mezzo::multiply,
                    {uniform(draw.narrower(shape), -1, 1, 1), uniform(draw.narrower(shape), -1, 1, 2)},
                    [](double a, double b) { return a * b; });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(zero_sizes)

BOOST_AUTO_TEST_CASE(drawn_shapes_give_numpys_results) {
  OpRow (*const kinds[])(Draw&) = {arithmetic, reduction,     softmax_of, matmul_of,     convolution, concatenation,
                                   box,        rows_of_table, attention,  normalization, movement};
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    for (auto* const kind : kinds) {
      Draw draw(seed);
      const OpRow row = kind(draw);
      BOOST_TEST_CONTEXT(describe(row) << ", seed " << seed) {
        check_values(row);
        check_gradients(row);
        for (const DType dtype : {DType::float32, DType::bfloat16, DType::float16}) check_eager_and_traced(row, dtype);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(sums_and_means_of_nothing_are_0_and_nan) {
  const Value none(Tensor({0, 2}));
  BOOST_TEST(sum(none).item() == 0);
  BOOST_TEST(std::isnan(mean(none).item()));
  BOOST_TEST(sum(Tensor({0}, DType::uint8)).item() == 0);
  BOOST_TEST(sum(none, {.axes = {0}}).tensor().to_doubles() == (std::vector<double>{0, 0}));
  BOOST_TEST(std::isnan(mean(none, {.axes = {0}}).tensor().to_doubles()[1]));
  BOOST_TEST(mean(none, {.axes = {1}}).tensor().size() == 0);
}

BOOST_AUTO_TEST_CASE(the_largest_of_nothing_is_an_error) {
  check_throws<ShapeError>("[argmax] input axis 0 must be at least 1; got shape (0, 2)", [] {
    argmax(Tensor({0, 2}), 0);
  });
  check_throws<ShapeError>("[max_pool2d] input axis 1 must be at least 2 (pool_size 2); got shape (1, 0, 4, 3)", [] {
    max_pool2d(Tensor({1, 0, 4, 3}));
  });
}

BOOST_AUTO_TEST_CASE(only_the_reference_takes_operands_without_elements) {
  const KernelRequest request = kernel_request("add", {}, {Tensor({0, 3}), Tensor({3})});
  const detail::ChosenKernel chosen = choose_kernel(request);
  BOOST_TEST(chosen.implementation == "reference");
  BOOST_TEST(chosen.declined.front() == "xsimd: takes operands with elements; got shape (0, 3)");
}

BOOST_AUTO_TEST_SUITE_END()
