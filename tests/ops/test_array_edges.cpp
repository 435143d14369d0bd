#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>

#include <mezzo/ops/gradients.hpp>
#include <mezzo/ops/ops.hpp>

#include "support/kernels.hpp"
#include "support/runs.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

// What recorded values (test_array_ops.cpp) can't show: NaN, infinity, sizes of 0, unknown sizes, error texts.

namespace {

const double not_a_number = std::numeric_limits<double>::quiet_NaN();
const double infinity = std::numeric_limits<double>::infinity();

Tensor numbers(const std::vector<double>& x) { return {{static_cast<std::int64_t>(x.size())}, x}; }

std::vector<double> list(const Value& x) { return x.tensor().to_doubles(); }

void check_list(const Value& x, const std::vector<double>& expected) {
  BOOST_TEST(list(x) == expected, boost::test_tools::per_element());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(array_edges)

BOOST_AUTO_TEST_CASE(nan_and_infinity) {
  BOOST_TEST(std::isnan(max(numbers({1, not_a_number, 3})).item()));
  BOOST_TEST(std::isnan(min(numbers({1, not_a_number, 3})).item()));
  BOOST_TEST(max(numbers({-infinity, -3})).item() == -3);
  BOOST_TEST(any(numbers({0, not_a_number})).item() == 1);
  BOOST_TEST(argmin(numbers({1, not_a_number, -3})).item() == 1);
  check_list(argsort(numbers({not_a_number, 2, -infinity, 1})), {2, 3, 1, 0});
  check_list(top_k(numbers({1, not_a_number, 5}), 2).indices, {1, 2});
  BOOST_TEST(std::isnan(median(numbers({1, not_a_number, 2})).item()));
  BOOST_TEST(logsumexp(numbers({-infinity, -infinity})).item() == -infinity);
  check_list(segment_max(numbers({1, 2}), Tensor({2}, DType::int32), 2), {2, -infinity});
  BOOST_TEST(logsumexp(numbers({1, infinity})).item() == infinity);
  BOOST_TEST(logsumexp(numbers({1000, 1000})).item() == 1000 + std::log(2.0));
  const Tensor factor = cholesky(Tensor({2, 2}, std::vector<double>{1, 2, 2, 1})).tensor();
  BOOST_TEST(std::isnan(factor.data<double>()[0]));
  check_list(where(tri(2, 2, 0, DType::boolean), Tensor({2, 2}, std::vector<double>{1, not_a_number, 2, 3}), 0),
             {1, 0, 2, 3});
}

BOOST_AUTO_TEST_CASE(sizes_of_0) {
  const Tensor none({0, 3}, DType::float64);
  BOOST_TEST(prod(none).item() == 1);
  BOOST_TEST(any(none).item() == 0);
  BOOST_TEST(all(none).item() == 1);
  BOOST_TEST(logsumexp(none).item() == -infinity);
  BOOST_TEST(std::isnan(var(none).item()));
  check_list(max(none, {{1}}), {});
  BOOST_TEST((sort(none, 0).shape() == Shape{0, 3}));
  BOOST_TEST((cumsum(none, 1).shape() == Shape{0, 3}));
  BOOST_TEST((diff(none, 1, 0).shape() == Shape{0, 3}));
  BOOST_TEST((tile(none, {2, 2}).shape() == Shape{0, 6}));
  BOOST_TEST((repeat(none, 2, 1).shape() == Shape{0, 6}));
  BOOST_TEST((roll(none, 1, 0).shape() == Shape{0, 3}));
  BOOST_TEST((flip(none).shape() == Shape{0, 3}));
  BOOST_TEST((take(none, Tensor({2}, DType::int32), 1).shape() == Shape{0, 2}));
  BOOST_TEST((one_hot(Tensor({0}, DType::int32), 4).shape() == Shape{0, 4}));
  BOOST_TEST((stack({none, none}).shape() == Shape{2, 0, 3}));
  BOOST_TEST(unstack(none).empty());
  BOOST_TEST((tril(Tensor({0, 0})).shape() == Shape{0, 0}));
  BOOST_TEST((diag(Tensor({0}), 2).shape() == Shape{2, 2}));
  BOOST_TEST((matmul(Tensor({0, 3}), Tensor({3})).shape() == Shape{0}));
  check_list(einsum("ij,jk->ik", {Tensor({2, 0}), Tensor({0, 2})}), {0, 0, 0, 0});
  BOOST_TEST(det(Tensor({0, 0})).item() == 1);
  BOOST_TEST((segment_sum(none, Tensor({0}, DType::int32), 2).shape() == Shape{2, 3}));
}

BOOST_AUTO_TEST_CASE(integers_keep_their_dtype) {
  const Tensor x({2, 2}, std::vector<std::int32_t>{1, 2, 3, 4});
  BOOST_TEST((max(x).dtype() == DType::int32));
  BOOST_TEST((prod(x).dtype() == DType::int64));
  BOOST_TEST(prod(x).item() == 24);
  BOOST_TEST((cumsum(x, 0).dtype() == DType::int64));
  BOOST_TEST((einsum("ij,jk->ik", {x, x}).dtype() == DType::int32));
  check_list(einsum("ij,jk->ik", {x, x}), {7, 10, 15, 22});
  check_list(einsum("ij->j", {x}), {4, 6});
  check_list(mezzo::dot(x, x), {7, 10, 15, 22});
  check_list(outer(numbers({1, 2}), numbers({3, 4})), {3, 4, 6, 8});
  check_list(arange(3), {0, 1, 2});
  BOOST_TEST((arange(3).dtype() == DType::int32));
  BOOST_TEST((arange(3.0).dtype() == DType::float32));
  check_list(arange(5, 0, -2), {5, 3, 1});
  check_list(geomspace(1, 4, {3, true, DType::float64}), {1, 2, 4});
}

// The last of equal indices holds, and has the gradient; an element that it hides has none.
BOOST_AUTO_TEST_CASE(the_last_of_equal_indices_holds) {
  const Tensor indices({3, 1}, std::vector<std::int32_t>{1, 0, 1});
  const TensorList results = run_in_eager_trace(
      [&](const Values& x) {
        const Value y = scatter_update(x[0], Value(indices), x[1]);
        Values out{y};
        for (const Value& g : gradients(sum(y * Value(numbers({2, 3, 5}))), x)) out.push_back(g);
        return out;
      },
      {numbers({10, 20, 30}), numbers({1, 2, 4})}, true);
  check_list(results[0], {2, 4, 30});
  check_list(results[1], {0, 0, 5});
  check_list(results[2], {0, 2, 3});
}

BOOST_AUTO_TEST_CASE(equal_elements_share_the_gradient) {
  const TensorList results = run_in_eager_trace(
      [](const Values& x) {
        return Values{gradients(max(x[0]), x)[0],
                      gradients(segment_max(x[0], Value(Tensor({3}, DType::int32)), 1), x)[0]};
      },
      {numbers({2, 1, 2})}, true);
  check_list(results[0], {0.5, 0, 0.5});
  check_list(results[1], {0.5, 0, 0.5});
}

BOOST_AUTO_TEST_CASE(steps_in_range_start_where_the_index_says) {
  const Tensor x({2, 3}, std::vector<double>{0, 1, 2, 3, 4, 5});
  check_list(dynamic_slice(x, Tensor({2}, std::vector<std::int32_t>{1, 1}), {1, 2}), {4, 5});
  check_throws<ValueError>("[take] indices must be in [0, 3); got 3 at index 1", [&] {
    dynamic_slice(x, Tensor({2}, std::vector<std::int32_t>{0, 2}), {2, 2});
  });
}

BOOST_AUTO_TEST_CASE(decompositions_rebuild_the_matrix) {
  const Tensor x = random_tensor({2, 5, 3}, DType::float64, 3);
  const auto near = [](const Value& a, const Value& b) {
    BOOST_TEST(largest_difference(a.tensor(), b.tensor()) < 1e-12);
  };
  for (const char* mode : {"reduced", "complete"}) {
    const QR parts = qr(x, mode);
    near(matmul(parts.q, parts.r), x);
    near(matmul(swapaxes(parts.q, 1, 2), parts.q),
         broadcast_to(Value(eye(parts.q.shape()[2], std::nullopt, 0, DType::float64)),
                      {2, parts.q.shape()[2], parts.q.shape()[2]}));
  }
  for (const bool full : {false, true}) {
    const SVD parts = svd(x, full);
    const Value thin = slice(parts.u, {0, 0, 0}, {2, 5, 3});
    near(matmul(thin * expand_dims(parts.s, 1), parts.v), x);
    BOOST_TEST(parts.u.shape()[2] == (full ? 5 : 3));
  }
  const Value symmetric = matmul(swapaxes(Value(x), 1, 2), x);
  const Eigh parts = eigh(symmetric);
  near(matmul(parts.eigenvectors * expand_dims(parts.eigenvalues, 1), swapaxes(parts.eigenvectors, 1, 2)), symmetric);
  near(matrix_power(symmetric, -2), inv(matmul(symmetric, symmetric)));
}

// Of the vectors, by sums that do not depend on their signs.
BOOST_AUTO_TEST_CASE(gradients_of_vectors_are_differences) {
  const Tensor x = random_tensor({4, 3}, DType::float64, 8), weights = random_tensor({4, 3}, DType::float64, 9);
  const std::vector<std::pair<const char*, std::function<Value(const Value&)>>> losses{
      {"eigh",
       [&](const Value& y) {
         const Value v = eigh(matmul(swapaxes(y, 0, 1), y)).eigenvectors;
         return sum(v * v * Value(weights.slice(0, 3)));
       }},
      {"svd",
       [&](const Value& y) {
         const SVD parts = svd(y, false);
         return sum(parts.u * parts.u * Value(weights)) + sum(parts.v * parts.v * Value(weights.slice(0, 3)));
       }},
      {"svd of a wide one",
       [&](const Value& y) {
         const SVD parts = svd(swapaxes(y, 0, 1), false);
         return sum(parts.u * parts.u * Value(weights.slice(0, 3))) +
                sum(matmul(parts.u, parts.v) * swapaxes(Value(weights), 0, 1));
       }},
      {"qr", [&](const Value& y) {
         const QR parts = qr(y);
         return sum(parts.q * Value(weights)) + sum(parts.r * Value(weights.slice(0, 3)));
       }}};
  for (const auto& [name, loss] : losses) {
    BOOST_TEST_CONTEXT(name) {
      const auto& f = loss;
      const Tensor gradient =
          run_in_eager_trace([&](const Values& y) { return Values{gradients(f(y[0]), y)[0]}; }, {x}, true)[0];
      constexpr double step = 1e-6;
      for (std::int64_t i = 0; i < x.size(); ++i) {
        Tensor up = x, down = x;
        up.mutable_data<double>()[i] += step;
        down.mutable_data<double>()[i] -= step;
        const double expected = (f(up).item() - f(down).item()) / (2 * step);
        BOOST_TEST(std::abs(gradient.data<double>()[i] - expected) < 1e-6 * std::max(1.0, std::abs(expected)));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(refusals) {
  const Tensor x({2, 3});
  check_throws<ShapeError>("[squeeze] input axis 1 must be 1; got shape (2, 3)", [&] { squeeze(x, 1); });
  check_throws<ValueError>("[tile] repeats must be at least 0; got (-1,)", [&] { tile(x, -1); });
  check_throws<ValueError>(
      "[repeat] repeats must be one number or one for each of the 2 elements of axis 0; got (1, 2, 3)", [&] {
        repeat(x, {1, 2, 3}, 0);
      });
  check_throws<ValueError>("[rot90] axes must differ; got (0, -2)", [&] { rot90(x, 1, {0, -2}); });
  check_throws<NameError>("[meshgrid] unknown indexing \"yx\"; valid names: xy, ij; nearest: \"xy\"",
                          [&] { meshgrid({x}, "yx"); });
  check_throws<NameError>("[pad] unknown mode \"mirror\"; valid names: constant, edge, reflect, symmetric, wrap", [&] {
    pad(x, {{1, 1}, {1, 1}, "mirror"});
  });
  check_throws<ValueError>("[pad] constant_values must be 0 for mode \"edge\"; got 2", [&] {
    pad(x, {{1, 1}, {1, 1}, "edge", 2});
  });
  check_throws<ShapeError>("[slice_update] input axis 1 has no 2 elements from 2 on; got shape (2, 3)", [&] {
    slice_update(x, {0, 2}, Tensor({1, 2}));
  });
  check_throws<NameError>("[scatter_update] unknown reduction \"min\"; valid names: add", [&] {
    scatter_update(x, Tensor({1, 1}, DType::int32), Tensor({1, 3}), "min");
  });
  check_throws<DTypeError>("[one_hot] x must be integers; got float32", [&] { one_hot(x, 3); });
  check_throws<ValueError>("[quantile] q must be in [0, 1]; got 2", [&] { quantile(x, 2); });
  check_throws<NameError>("[quantile] unknown method \"mean\"; valid names: linear, lower, higher, midpoint, nearest",
                          [&] {
                            quantile(x, 0.5, {{}, "mean"});
                          });
  check_throws<ValueError>("[norm] ord must be a number, \"fro\" or \"nuc\"; got \"l2\"", [&] { norm(x, {"l2"}); });
  check_throws<ValueError>("[norm] ord needs 1 axis, or 2 for a matrix norm; got axes (0, 1, 2) of (1, 2, 3)", [&] {
    norm(Tensor({1, 2, 3}), {2});
  });
  check_throws<ValueError>("[einsum] invalid subscripts \"ij,jk\": it has 2 operands; got 1",
                           [&] { einsum("ij,jk", {x}); });
  check_throws<ValueError>("[einsum] invalid subscripts \"i->i\": \"i\" has 1 letters for an operand of shape (2, 3)",
                           [&] { einsum("i->i", {x}); });
  check_throws<ValueError>("[einsum] invalid subscripts \"ij->k\": no operand has 'k'", [&] { einsum("ij->k", {x}); });
  check_throws<ValueError>("[einsum] invalid subscripts \"i.->i\": '.' is neither a letter nor part of one \"...\"",
                           [&] { einsum("i.->i", {x}); });
  check_throws<ShapeError>("[einsum] axes 'i' of \"ij,ij->\" must have one size; got 2 and 3", [&] {
    einsum("ij,ij->", {x, Tensor({3, 3})});
  });
  check_throws<ValueError>("[arange] step must not be 0; got 0", [] { arange(0, 3, 0); });
  check_throws<ShapeError>("[cross] input axis 1 must be 2 or 3; got shape (2, 4)", [] {
    cross(Tensor({2, 4}), Tensor({2, 4}));
  });
  check_throws<NameError>("[qr] unknown mode \"raw\"; valid names: reduced, complete", [&] { qr(x, "raw"); });
}

BOOST_AUTO_TEST_SUITE_END()
