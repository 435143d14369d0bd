#include <functional>
#include <limits>
#include <map>
#include <string>

#include "ops/recorded_cases.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

void add_reductions(FunctionTable& t) {
  const std::map<std::string, Value (*)(const Value&, const ReduceOptions&)> reductions{
      {"max", mezzo::max}, {"min", mezzo::min},      {"prod", prod}, {"var", var},
      {"std", mezzo::std}, {"logsumexp", logsumexp}, {"ptp", ptp},   {"median", median}};
  for (const auto& [name, reduce] : reductions) {
    const auto f = reduce;
    t[name] = of([f](const Value& x) { return f(x, {}); });
    t[name + "_axis"] = of([f](const Value& x) { return f(x, {{1}}); });
    t[name + "_axes_kept"] = of([f](const Value& x) { return f(x, {{0, -1}, true}); });
  }
  t["max_ties"] = of([](const Value& x) { return mezzo::max(x, {{1}}); });
  t["min_ties"] = of([](const Value& x) { return mezzo::min(x, {{0}}); });
  t["prod_zeros"] = t["prod_integers"] = of([](const Value& x) { return prod(x, {{1}}); });
  t["max_integers"] = of([](const Value& x) { return amax(x, {{0}}); });
  t["any"] = of([](const Value& x) { return mezzo::any(x, {{0}}); });
  t["all"] = of([](const Value& x) { return mezzo::all(x, {{1}, true}); });
  t["any_numbers"] = of([](const Value& x) { return mezzo::any(x, {{1}}); });
  t["count_nonzero"] = of([](const Value& x) { return count_nonzero(x, {1}); });
  t["argmin"] = of([](const Value& x) { return argmin(x, 1); });
  t["average"] = t["average_axis_weights"] = of_two([](const Value& x, const Value& w) {
    return average(x, {{1}, w});
  });
  t["average_plain"] = of([](const Value& x) { return average(x, {{0}}); });
  for (const std::string method : {"linear", "lower", "higher", "midpoint", "nearest"}) {
    t["quantile_" + method] = of([method](const Value& x) { return quantile(x, 0.3, {{1}, method}); });
  }
  t["quantiles"] = of([](const Value& x) { return quantile(x, std::vector<double>{0.1, 0.5, 1}, {{0}}); });
  const double infinity = std::numeric_limits<double>::infinity();
  const std::map<std::string, double> orders{{"0", 0},   {"1", 1}, {"-1", -1},        {"2", 2},
                                             {"-2", -2}, {"3", 3}, {"inf", infinity}, {"-inf", -infinity}};
  for (const auto& [name, order] : orders) {
    const double p = order;
    t["norm_vector_" + name] = of([p](const Value& x) { return norm(x, {p, {1}}); });
    t["norm_matrix_" + name] = of([p](const Value& x) { return norm(x, {p, {0, 1}, true}); });
  }
  for (const char* name : {"fro", "nuc"}) {
    t["norm_matrix_" + std::string(name)] = of([name](const Value& x) { return norm(x, {name, {0, 1}, true}); });
  }
  t["norm_default"] = of([](const Value& x) { return norm(x); });
  t["normalize"] = of([](const Value& x) { return normalize(x, 1); });
  t["normalize_1"] = of([](const Value& x) { return normalize(x, 0, 1); });
}

void add_scans(FunctionTable& t) {
  t["cumsum"] = of([](const Value& x) { return cumsum(x, 1); });
  t["cumsum_flat"] = of([](const Value& x) { return cumsum(x); });
  t["cumsum_integers"] = of([](const Value& x) { return cumsum(x, 0); });
  t["cumprod"] = of([](const Value& x) { return cumprod(x, -1); });
  t["cumprod_zeros"] = of([](const Value& x) { return cumprod(x, 1); });
  t["diff"] = of([](const Value& x) { return diff(x, 2, 1); });
  t["trapezoid"] = of([](const Value& x) { return trapezoid(x, 0.5, 0); });
  t["trapezoid_x"] = of_two([](const Value& y, const Value& x) { return trapezoid(y, x, 1); });
}

void add_sorting(FunctionTable& t) {
  t["sort"] = of([](const Value& x) { return sort(x, 1); });
  t["sort_flat"] = of([](const Value& x) { return sort(x, std::nullopt); });
  t["argsort"] = of([](const Value& x) { return argsort(x, 0); });
  const auto top = [](std::int64_t k) {
    return [k](const Values& x) {
      const TopK out = top_k(x[0], k);
      return Values{out.values, out.indices};
    };
  };
  t["top_k"] = top(3);
  t["top_k_ties"] = top(4);
  t["in_top_k"] = of_two([](const Value& targets, const Value& scores) { return in_top_k(targets, scores, 2); });
  t["searchsorted_left"] = of_two([](const Value& s, const Value& x) { return searchsorted(s, x); });
  t["searchsorted_right"] = of_two([](const Value& s, const Value& x) { return searchsorted(s, x, "right"); });
  t["digitize"] = of_two([](const Value& x, const Value& bins) { return digitize(x, bins); });
  t["bincount"] = of([](const Value& x) { return bincount(x, {{}, 6}); });
  t["bincount_weights"] = of_two([](const Value& x, const Value& w) { return bincount(x, {w, 4}); });
  const auto counted = [](HistogramOptions options) {
    return [options](const Values& x) {
      const Histogram out = histogram(x[0], options);
      return Values{out.counts, out.edges};
    };
  };
  t["histogram"] = counted({4});
  t["histogram_range"] = counted({5, std::pair{-0.5, 0.5}});
}

void add_indexing(FunctionTable& t) {
  t["take"] = of_two([](const Value& x, const Value& i) { return take(x, i, 1); });
  t["take_flat"] = of_two([](const Value& x, const Value& i) { return take(x, i); });
  t["take_along_axis"] = of_two([](const Value& x, const Value& i) { return take_along_axis(x, i, 1); });
  t["take_along_axis_stretched"] = of_two([](const Value& x, const Value& i) { return take_along_axis(x, i, 0); });
  t["scatter"] = t["scatter_rows"] = of_two([](const Value& i, const Value& u) { return scatter(i, u, {3, 4}); });
  t["scatter_update"] =
      t["scatter_update_rows"] = [](const Values& x) { return Values{scatter_update(x[0], x[1], x[2])}; };
  t["scatter_update_add"] = [](const Values& x) { return Values{scatter_update(x[0], x[1], x[2], "add")}; };
  t["slice"] = of([](const Value& x) { return slice(x, {0, 1, 2}, {2, 2, 1}); });
  t["slice_update"] = of_two([](const Value& x, const Value& u) { return slice_update(x, {1, 2}, u); });
  t["segment_sum"] = of_two([](const Value& x, const Value& i) { return segment_sum(x, i, 5); });
  t["segment_max"] = of_two([](const Value& x, const Value& i) { return segment_max(x, i, 4); });
  t["segment_min"] = of_two([](const Value& x, const Value& i) { return segment_min(x, i, 4); });
  t["one_hot"] = of([](const Value& i) { return one_hot(i, 4, -1, DType::float64); });
  t["one_hot_axis"] = of([](const Value& i) { return one_hot(i, 4, 0, DType::float64); });
  t["multi_hot"] = of([](const Value& i) { return multi_hot(i, 5, -1, DType::float64); });
}

void add_arrangement(FunctionTable& t) {
  t["expand_dims"] = of([](const Value& x) { return expand_dims(x, {0, -1}); });
  t["squeeze"] = of([](const Value& x) { return squeeze(x, 1); });
  t["moveaxis"] = of([](const Value& x) { return moveaxis(x, {0, 2}, {1, 0}); });
  t["swapaxes"] = of([](const Value& x) { return swapaxes(x, 0, -1); });
  t["stack"] = [](const Values& x) { return Values{stack(x, 1)}; };
  t["unstack"] = [](const Values& x) { return unstack(x[0], 1); };
  t["hstack"] = [](const Values& x) { return Values{hstack(x)}; };
  t["vstack"] = [](const Values& x) { return Values{vstack(x)}; };
  t["dstack"] = [](const Values& x) { return Values{dstack(x)}; };
  t["append"] = of_two([](const Value& a, const Value& b) { return append(a, b); });
  t["array_split"] = [](const Values& x) { return array_split(x[0], 3); };
  t["tile"] = of([](const Value& x) { return tile(x, {2, 1, 3}); });
  t["repeat"] = of([](const Value& x) { return repeat(x, 2, 0); });
  t["repeat_each"] = of([](const Value& x) { return repeat(x, {1, 0, 3}, 0); });
  t["roll"] = of([](const Value& x) { return roll(x, {1, -2}, {0, 1}); });
  t["roll_flat"] = of([](const Value& x) { return roll(x, 5); });
  t["flip"] = of([](const Value& x) { return flip(x, {0, 2}); });
  t["flip_last"] = of([](const Value& x) { return flip(x, -1); });
  t["rot90"] = of([](const Value& x) { return rot90(x); });
  t["rot90_3"] = of([](const Value& x) { return rot90(x, 3, {1, 2}); });
  t["tril"] = of([](const Value& x) { return tril(x, 1); });
  t["triu"] = of([](const Value& x) { return triu(x, -1); });
  t["diag"] = of([](const Value& x) { return diag(x, 2); });
  t["diag_below"] = of([](const Value& x) { return diag(x, -3); });
  t["diag_of"] = of([](const Value& x) { return diag(x, 1); });
  t["diagflat"] = of([](const Value& x) { return diagflat(x, -1); });
  t["diagonal"] = of([](const Value& x) { return diagonal(x, 1, 2, 0); });
  t["trace"] = of([](const Value& x) { return trace(x, 0, 1, 2); });
  t["meshgrid"] = [](const Values& x) { return meshgrid(x); };
  t["meshgrid_ij"] = [](const Values& x) { return meshgrid(x, "ij"); };
  t["select"] = [](const Values& x) { return Values{select({x[0], x[1]}, {x[2], x[3]}, 7)}; };
  t["pad_constant"] = of([](const Value& x) { return pad(x, {{1, 2}, {2, 0}, "constant", 2.5}); });
  t["pad_reflect"] = of([](const Value& x) { return pad(x, {{1, 2}, {2, 0}, "reflect"}); });
  t["pad_symmetric"] = of([](const Value& x) { return pad(x, {{1, 2}, {2, 0}, "symmetric"}); });
}

void add_creation(FunctionTable& t) {
  const auto made = [](const std::function<Tensor()>& make) {
    return [make](const Values&) { return Values{make()}; };
  };
  t["arange"] = made([] { return arange(2, 9, 3); });
  t["arange_floats"] = made([] { return arange(0.5, 2, 0.25, DType::float64); });
  t["linspace"] = made([] { return linspace(-1, 2, {7, true, DType::float64}); });
  t["linspace_open"] = made([] { return linspace(-1, 2, {6, false, DType::float64}); });
  t["logspace"] = made([] { return logspace(0, 3, {4, true, DType::float64}, 2); });
  t["eye"] = made([] { return eye(3, 4, 1, DType::float64); });
  t["tri"] = made([] { return tri(3, 4, -1, DType::float64); });
  t["bartlett"] = made([] { return bartlett(6); });
  t["blackman"] = made([] { return blackman(6); });
  t["hamming"] = made([] { return hamming(6); });
  t["hanning"] = made([] { return hanning(6); });
  t["kaiser"] = made([] { return kaiser(6, 8.5); });
  t["vander"] = of([](const Value& x) { return vander(x, 4); });
}

void add_products(FunctionTable& t) {
  const auto product = [](const Value& a, const Value& b) { return matmul(a, b); };
  t["matmul_stretched"] = t["matmul_vector"] = t["matmul_row"] = of_two(product);
  t["dot"] = of_two([](const Value& a, const Value& b) { return dot(a, b); });
  t["vdot"] = of_two(vdot);
  t["inner"] = of_two(inner);
  t["outer"] = of_two(outer);
  t["tensordot"] = of_two([](const Value& a, const Value& b) { return tensordot(a, b, 1); });
  t["tensordot_axes"] = of_two([](const Value& a, const Value& b) { return tensordot(a, b, {0, 2}, {0, 1}); });
  t["kron"] = of_two(kron);
  t["cross"] = t["cross_2"] = of_two([](const Value& a, const Value& b) { return cross(a, b); });
  for (const auto& [name, entry] : recorded("array_ops").items()) {
    if (name.rfind("einsum ", 0) != 0) continue;
    const std::string text = name.substr(7);
    t[name] = [text](const Values& x) { return Values{einsum(text, x)}; };
  }
}

void add_linear_algebra(FunctionTable& t) {
  t["cholesky"] = of([](const Value& x) { return cholesky(x); });
  t["cholesky_upper"] = of([](const Value& x) { return cholesky(x, true); });
  t["cholesky_inverse"] = of([](const Value& x) { return cholesky_inverse(x); });
  t["inv"] = of(inv);
  t["det"] = of(det);
  t["slogdet"] = [](const Values& x) {
    const SignAndLogDet out = slogdet(x[0]);
    return Values{out.logdet, out.sign};
  };
  t["solve"] = t["solve_vector"] = of_two(solve);
  t["solve_triangular"] = of_two([](const Value& a, const Value& b) { return solve_triangular(a, b, true); });
  t["lstsq"] = of_two([](const Value& a, const Value& b) { return lstsq(a, b); });
  t["pinv"] = of([](const Value& x) { return pinv(x); });
  t["qr_square"] = [](const Values& x) {
    const QR out = qr(x[0]);
    return Values{abs(out.q), abs(out.r)};
  };
  t["eigh_values"] = of([](const Value& x) { return eigh(x).eigenvalues; });
  t["svd_values"] = of([](const Value& x) { return svd(x).s; });
  t["svd_vectors"] = of([](const Value& x) {
    const SVD out = svd(x, false);
    return abs(matmul(out.u, out.v));
  });
  t["matrix_rank"] = of([](const Value& x) { return matrix_rank(x); });
}

const FunctionTable& functions() {
  static const FunctionTable all = [] {
    FunctionTable t;
    for (const auto& add : {add_reductions, add_scans, add_sorting, add_indexing, add_arrangement, add_creation,
                            add_products, add_linear_algebra}) {
      add(t);
    }
    return t;
  }();
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(array_ops)

BOOST_AUTO_TEST_CASE(equal_keras) {
  std::map<std::string, double> windows;  // float32, also Keras'
  for (const char* name : {"bartlett", "blackman", "hamming", "hanning", "kaiser"}) windows[name] = 1e-6;
  check_recorded("array_ops", functions(), windows);
}

BOOST_AUTO_TEST_SUITE_END()
