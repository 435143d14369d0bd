#include <mezzo/layers/reshaping/up_sampling.hpp>

#include <mezzo/data/image/interpolate.hpp>
#include <mezzo/layers/axes.hpp>
#include <mezzo/layers/reshaping/repeat_vector.hpp>
#include <mezzo/ops/arrangement.hpp>
#include <mezzo/ops/image.hpp>
#include <mezzo/ops/open_sizes.hpp>

namespace mezzo {
namespace detail {
namespace {

std::string interpolation_of(const UpSamplingOptions&) { return "nearest"; }
std::string interpolation_of(const UpSampling2DOptions& options) { return options.interpolation; }

}  // namespace

template <std::size_t Axes>
UpSamplingLayer<Axes>::UpSamplingLayer(Options options) : Layer(kind, options), options_(std::move(options)) {
  one_for_each(label(), "size", options_.size, Axes);
  image::detail::check_interpolation(interpolation_of(options_), label());
}

template <std::size_t Axes>
Value UpSamplingLayer<Axes>::call(const Value& x) {
  require_spatial(label(), x.shape(), Axes);
  const Shape sizes = one_for_each(label(), "size", options_.size, Axes);
  const auto run = [sizes, interpolation = interpolation_of(options_)](const Value& given) {
    if constexpr (Axes == 2) {
      const Shape& shape = given.shape();
      if (interpolation != "nearest") {
        return image::resize(given, {shape[1] * sizes[0], shape[2] * sizes[1]}, {.interpolation = interpolation});
      }
    }
    Value y = given;
    for (std::size_t i = Axes; i > 0; --i) {  // the inner axes first: the largest copy has the longest rows
      if (sizes[i - 1] > 1) y = repeat(y, sizes[i - 1], static_cast<std::int64_t>(i));
    }
    return y;
  };
  return with_sizes(run, x);
}

template class UpSamplingLayer<1>;
template class UpSamplingLayer<2>;
template class UpSamplingLayer<3>;

}  // namespace detail

RepeatVector::RepeatVector(RepeatVectorOptions options) : Layer("RepeatVector", options), options_(std::move(options)) {
  detail::require_positive(label(), "n", options_.n);
}

Value RepeatVector::call(const Value& x) {
  detail::require_rank(label(), x.shape(), 2, "(batch, features)");
  return repeat(expand_dims(x, 1), options_.n, 1);
}

}  // namespace mezzo
