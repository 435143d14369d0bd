#include <mezzo/ops/random.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/core/random.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/ops/elementwise.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/host.hpp>
#include <mezzo/ops/indexing.hpp>
#include <mezzo/ops/numpy.hpp>
#include <mezzo/ops/random_words.hpp>
#include <mezzo/ops/run_sizes.hpp>

// Numbers are drawn by host functions, keyed as dropout is: element i depends only on the draw's key and i.
namespace mezzo {
namespace {

using detail::RandomWords;
using Seed = std::optional<std::uint64_t>;

/// Key of the random words of an array, and the number of its first element.
struct DrawKey {
  std::uint64_t key = 0, first = 0;
};

/// Fills `count` elements with sample(words of element i, i).
template <class T, class Sample>
Tensor filled(const Shape& shape, const DrawKey& key, const Sample& sample) {
  Tensor out = Tensor::uninitialized(shape, DTypeOf<T>::value);
  T* const numbers = out.mutable_data<T>();
  parallel_for(out.size(), 1024, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      RandomWords words(key.key, key.first + static_cast<std::uint64_t>(i));
      numbers[i] = sample(words, i);
    }
  });
  return out;
}

detail::Draw draw_of(const Seed& given) {
  if (!given) return detail::next_draw();
  const Value zero = Tensor::scalar(0, DType::float64);
  return {static_cast<std::int64_t>(detail::mix(detail::key_of("seed"), *given)), zero, zero};
}

/// An array of that shape and dtype, computed from the draw's key and the operands (float64).
using Fill = std::function<Tensor(const Shape& shape, const DrawKey& key, const std::vector<Tensor>& operands)>;

Value drawn(const Shape& shape, DType dtype, const Seed& seed, const Values& operands, const Fill& fill) {
  const detail::Draw draw = draw_of(seed);
  const Value first = draw.first_element(shape);
  Values inputs{draw.seed, draw.step};
  if (first.defined()) inputs.push_back(first);
  inputs.insert(inputs.end(), operands.begin(), operands.end());
  HostOptions options;
  options.shape = shape;
  options.dtype = dtype;
  const auto base = static_cast<std::uint64_t>(draw.key);
  return host(
      [fill, shape, dtype, base, counts = first.defined()](const std::vector<Tensor>& xs) {
        const auto of_seed = static_cast<std::uint64_t>(xs[0].item()),
                   of_step = static_cast<std::uint64_t>(xs[1].item());
        const DrawKey key{detail::mix(detail::mix(base, of_seed), of_step),
                          counts ? static_cast<std::uint64_t>(xs[2].item()) : 0};
        return fill(shape, key, {xs.begin() + (counts ? 3 : 2), xs.end()}).cast(dtype);
      },
      inputs, options);
}

/// The same, again in each call of a functional graph. The operands broadcast to the shape.
Value draw(const char* name, const random::LikeShape& like, DType dtype, const Seed& seed, const Values& operands,
           const Fill& fill) {
  const std::string where = detail::current_label(name);
  Values inputs = operands;
  if (like.like().defined()) {
    inputs.push_back(like.like());
  } else if (!like.sizes().empty()) {
    inputs.insert(inputs.end(), like.sizes().begin(), like.sizes().end());
  } else if (element_count(like.shape()) < 0) {
    fail<ValueError>(where,
                     "shape must be known; got {}: pass sizes of shape(x), or a Value of that shape, as in {}(x)",
                     like.shape(), name);
  }
  const bool by_value = like.like().defined();
  const Shape& sizes = like.shape();
  return detail::defer(
             [=, count = operands.size()](const Values& given) -> Values {
               const auto behind = given.begin() + static_cast<std::ptrdiff_t>(count);
               const Shape shape = by_value                ? Shape(behind->shape())
                                   : behind == given.end() ? sizes
                                                           : detail::numbers_of(Values(behind, given.end()), where);
               Values numbers;
               for (std::size_t i = 0; i < count; ++i) {
                 Value x = given[i].weak() ? Value(given[i].tensor().cast(DType::float64))
                                           : cast(stop_gradient(given[i]), DType::float64);
                 if (broadcast(x.shape(), shape, where) != shape) {
                   fail<ShapeError>(where, "operands must broadcast to shape {}; got shape {}", shape, x.shape());
                 }
                 numbers.push_back(x.shape().empty() || x.shape() == shape ? x : broadcast_to(x, shape));
               }
               return {drawn(shape, dtype, seed, numbers, fill)};
             },
             inputs, {{sizes, dtype}})
      .front();
}

/// Element i of an operand, which may be a scalar.
double at(const Tensor& x, std::int64_t i) { return x.data<double>()[x.size() == 1 ? 0 : i]; }

void require_floating(const char* name, DType dtype) {
  if (!is_floating(dtype)) fail<DTypeError>(detail::current_label(name), "dtype must be floating; got {}", dtype);
}

/// Throws a ValueError unless good(number) for all elements.
void require(const Tensor& x, bool (*good)(double), const std::string& where, const char* expected) {
  for (std::int64_t i = 0; i < x.size(); ++i) {
    if (!good(x.data<double>()[i])) fail<ValueError>(where, "{}; got {}", expected, x.data<double>()[i]);
  }
}

bool is_probability(double p) { return p >= 0 && p <= 1; }
bool is_positive(double a) { return a > 0 && std::isfinite(a); }

/// The number that a plain C++ number holds; NaN for another Value.
double plain(const Value& x) { return x.weak() ? x.item() : std::nan(""); }

Value scaled(const Value& z, const Value& scale, const Value& offset, DType dtype) {
  Value out = plain(scale) == 1 ? z : z * scale;
  if (plain(offset) != 0) out = out + offset;
  return detail::as(out, dtype);
}

/// The largest number of the dtype below `bound`, in the direction of `least`.
Value last_below(const Value& bound, const Value& least, DType dtype) {
  const Value nearest = cast(bound, dtype);  // the bound itself, or a number beside it
  return where(less(cast(nearest, DType::float64), bound), nearest, nextafter(nearest, cast(least, dtype)));
}

/// minval + u (maxval - minval) for u in [0, 1), below maxval also after rounding to the dtype.
Value below_bound(const Value& u, const Value& minval, const Value& maxval, DType dtype) {
  const Value wide = detail::as(u, accumulation_dtype(dtype));
  if (minval.weak() && maxval.weak()) {
    const double least = minval.item(), bound = maxval.item();
    const Value numbers = scaled(wide, bound - least, minval, dtype);
    if (!(least < bound)) return numbers;
    const OutsideTrace at_once;
    const Tensor last = last_below(Tensor::scalar(bound, DType::float64), Tensor::scalar(least, DType::float64), dtype);
    return minimum(numbers, last.item());
  }
  const Value numbers = scaled(wide, maxval - minval, minval, dtype);
  const Value number = cast(stop_gradient(numbers), DType::float64);
  const Value bound = cast(stop_gradient(maxval), DType::float64), least = cast(stop_gradient(minval), DType::float64);
  const Value reached = logical_and(less(least, bound), greater_equal(number, bound));
  return numbers + where(reached, stop_gradient(last_below(bound, least, dtype) - numbers), 0.0);
}

Value standard(const char* name, const random::LikeShape& shape, const random::NormalOptions& options,
               double (RandomWords::*sample)()) {
  require_floating(name, options.dtype);
  const Value z = draw(name, shape, options.dtype, options.seed, {},
                       [sample](const Shape& sizes, const DrawKey& key, const std::vector<Tensor>&) {
                         return filled<double>(
                             sizes, key, [sample](RandomWords& words, std::int64_t) { return (words.*sample)(); });
                       });
  return scaled(z, options.stddev, options.mean, options.dtype);
}

/// Number of bits of a uniform number below 1 that the dtype holds without rounding to 1.
int fraction_bits(DType dtype) {
  if (dtype == DType::float64) return 53;
  return dtype == DType::bfloat16 ? 8 : dtype == DType::float16 ? 11 : 24;
}

}  // namespace

random::LikeShape::LikeShape(std::initializer_list<Size> sizes) : shape_(detail::numbers_of(sizes)) {}

random::LikeShape::LikeShape(const Values& sizes)
    : shape_(detail::known_part(sizes, detail::current_label("random"))), sizes_(sizes) {}

Value random::normal(const LikeShape& shape, const NormalOptions& options) {
  return standard("normal", shape, options, &RandomWords::normal);
}

Value random::truncated_normal(const LikeShape& shape, const NormalOptions& options) {
  return standard("truncated_normal", shape, options, &RandomWords::truncated_normal);
}

Value random::uniform(const LikeShape& shape, const UniformOptions& options) {
  require_floating("uniform", options.dtype);
  const int bits = fraction_bits(options.dtype);
  const Value u = draw("uniform", shape, options.dtype, options.seed, {},
                       [bits](const Shape& sizes, const DrawKey& key, const std::vector<Tensor>&) {
                         return filled<double>(sizes, key, [bits](RandomWords& words, std::int64_t) {
                           return std::ldexp(static_cast<double>(words.word() >> (64 - bits)), -bits);
                         });
                       });
  if (plain(options.minval) == 0 && plain(options.maxval) == 1) return u;
  return below_bound(u, options.minval, options.maxval, options.dtype);
}

Value random::randint(const LikeShape& shape, std::int64_t minval, std::int64_t maxval,
                      const IntegerDrawOptions& options) {
  const std::string where = detail::current_label("randint");
  const DType dtype = options.dtype;
  if (is_floating(dtype) || dtype == DType::boolean) {
    fail<DTypeError>(where, "dtype must be one of integers; got {}", dtype);
  }
  if (minval >= maxval) fail<ValueError>(where, "minval must be below maxval; got {} and {}", minval, maxval);
  const Tensor ends({2}, std::vector<std::int64_t>{minval, maxval - 1});
  if (!ends.cast(dtype).cast(DType::int64).equal(ends)) {
    fail<ValueError>(where, "numbers from {} to {} must fit into the dtype; got {}", minval, maxval - 1, dtype);
  }
  return draw("randint", shape, dtype, options.seed, {},
              [minval, maxval](const Shape& sizes, const DrawKey& key, const std::vector<Tensor>&) {
                return filled<std::int64_t>(sizes, key, [minval, maxval](RandomWords& words, std::int64_t) {
                  return words.integer(minval, maxval);
                });
              });
}

Value random::bernoulli(const LikeShape& shape, const Value& probability, const DrawOptions& options) {
  const std::string where = detail::current_label("bernoulli");
  return draw("bernoulli", shape, options.dtype, options.seed, {probability},
              [where](const Shape& sizes, const DrawKey& key, const std::vector<Tensor>& x) {
                require(x[0], is_probability, where, "probability must be in [0, 1]");
                return filled<double>(sizes, key, [&p = x[0]](RandomWords& words, std::int64_t i) {
                  return words.unit() < at(p, i) ? 1.0 : 0.0;
                });
              });
}

Value random::binomial(const LikeShape& shape, const Value& counts, const Value& probabilities,
                       const DrawOptions& options) {
  const std::string where = detail::current_label("binomial");
  return draw("binomial", shape, options.dtype, options.seed, {counts, probabilities},
              [where](const Shape& sizes, const DrawKey& key, const std::vector<Tensor>& x) {
                require(
                    x[0], [](double n) { return n >= 0 && n <= 0x1p53 && n == std::floor(n); }, where,
                    "counts must be whole numbers from 0 to 2^53");
                require(x[1], is_probability, where, "probabilities must be in [0, 1]");
                return filled<double>(sizes, key, [&n = x[0], &p = x[1]](RandomWords& words, std::int64_t i) {
                  return words.binomial(at(n, i), at(p, i));
                });
              });
}

Value random::gamma(const LikeShape& shape, const Value& alpha, const DrawOptions& options) {
  const std::string where = detail::current_label("gamma");
  require_floating("gamma", options.dtype);
  return draw("gamma", shape, options.dtype, options.seed, {alpha},
              [where](const Shape& sizes, const DrawKey& key, const std::vector<Tensor>& x) {
                require(x[0], is_positive, where, "alpha must be positive and finite");
                return filled<double>(sizes, key, [&a = x[0]](RandomWords& words, std::int64_t i) {
                  return std::exp(words.log_gamma(at(a, i)));
                });
              });
}

Value random::beta(const LikeShape& shape, const Value& alpha, const Value& beta, const DrawOptions& options) {
  const std::string where = detail::current_label("beta");
  require_floating("beta", options.dtype);
  return draw("beta", shape, options.dtype, options.seed, {alpha, beta},
              [where](const Shape& sizes, const DrawKey& key, const std::vector<Tensor>& x) {
                require(x[0], is_positive, where, "alpha must be positive and finite");
                require(x[1], is_positive, where, "beta must be positive and finite");
                return filled<double>(sizes, key, [&a = x[0], &b = x[1]](RandomWords& words, std::int64_t i) {
                  const double first = words.log_gamma(at(a, i)), second = words.log_gamma(at(b, i));
                  return 1 / (1 + std::exp(second - first));
                });
              });
}

Value random::categorical(const Value& logits, std::int64_t num_samples, const IntegerDrawOptions& options) {
  const std::string where = detail::current_label("categorical");
  if (logits.shape().size() != 2 || logits.shape()[1] < 1) {
    fail<ShapeError>(where, "logits must be (batch, classes) with at least 1 class; got shape {}", logits.shape());
  }
  if (num_samples < 0) fail<ValueError>(where, "num_samples must be at least 0; got {}", num_samples);
  const Fill choose = [where, num_samples](const Shape& sizes, const DrawKey& key, const std::vector<Tensor>& xs) {
    const std::int64_t rows = xs[0].shape()[0], classes = xs[0].shape()[1];
    std::vector<double> ends = xs[0].to_doubles();  // sums of the probabilities up to each class
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto begin = ends.begin() + row * classes, end = begin + classes;
      const double largest = *std::max_element(begin, end);
      double sum = 0;
      for (auto it = begin; it != end; ++it) *it = sum += std::exp(*it - largest);
      if (!(sum > 0) || !std::isfinite(sum)) {
        fail<ValueError>(where, "each row of logits must have a finite largest number and no NaN; got none in row {}",
                         row);
      }
    }
    return filled<std::int64_t>(sizes, key, [&](RandomWords& words, std::int64_t i) {
      const auto begin = ends.begin() + i / num_samples * classes, end = begin + classes;
      return std::min<std::int64_t>(std::upper_bound(begin, end, words.unit() * *(end - 1)) - begin, classes - 1);
    });
  };
  const DType dtype = options.dtype;
  const Seed seed = options.seed;
  return detail::defer(
             [choose, num_samples, dtype, seed](const Values& xs) -> Values {
               const Value numbers = cast(stop_gradient(xs[0]), DType::float64);
               return {drawn({numbers.shape()[0].or_unknown(), num_samples}, dtype, seed, {numbers}, choose)};
             },
             {logits}, {{{logits.shape()[0].or_unknown(), num_samples}, dtype}})
      .front();
}

Value random::shuffle(const Value& x, std::int64_t axis, const ShuffleOptions& options) {
  const std::int64_t along = detail::normalize_axis(axis, x.shape().size(), detail::current_label("shuffle"));
  const Seed seed = options.seed;
  const Fill order = [](const Shape& sizes, const DrawKey& key, const std::vector<Tensor>&) {
    Tensor out = Tensor::uninitialized(sizes, DType::int64);
    std::int64_t* const places = out.mutable_data<std::int64_t>();
    std::iota(places, places + out.size(), std::int64_t{0});
    RandomWords words(key.key, 0);
    for (std::int64_t i = out.size() - 1; i > 0; --i) std::swap(places[i], places[words.integer(0, i + 1)]);
    return out;
  };
  return detail::defer(
             [order, along, seed](const Values& xs) -> Values {
               const std::int64_t size = xs[0].shape()[static_cast<std::size_t>(along)].or_unknown();
               return {take(xs[0], drawn({size}, DType::int64, seed, {}, order), along)};
             },
             {x}, {{x.shape(), x.dtype()}})
      .front();
}

Value random::dropout(const Value& x, double rate, const DropoutOptions& options) {
  const std::string label = detail::current_label("dropout");
  if (!(rate >= 0 && rate < 1)) fail<ValueError>(label, "rate must lie in [0, 1); got {}", rate);
  if (rate == 0) return x;
  UniformOptions numbers;
  numbers.seed = options.seed;
  if (options.noise_shape && broadcast(x.shape(), *options.noise_shape, label) != x.shape()) {
    fail<ShapeError>(label, "noise_shape must broadcast to x's shape {}; got {}", x.shape(), *options.noise_shape);
  }
  const Value kept = uniform(options.noise_shape ? LikeShape(*options.noise_shape) : LikeShape(x), numbers) >= rate;
  return mezzo::where(kept, x / (1 - rate), 0.0);
}

}  // namespace mezzo
