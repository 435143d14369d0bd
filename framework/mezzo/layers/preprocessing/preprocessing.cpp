#include <mezzo/layers/preprocessing/preprocessing.hpp>

#include <algorithm>
#include <array>
#include <numeric>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/encode_categories.hpp>
#include <mezzo/data/image/interpolate.hpp>
#include <mezzo/data/text/hashes.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/layers/preprocessing/adapted.hpp>
#include <mezzo/layers/preprocessing/category_encoding.hpp>
#include <mezzo/layers/preprocessing/resizing.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/host.hpp>
#include <mezzo/ops/host_function.hpp>
#include <mezzo/ops/image.hpp>
#include <mezzo/ops/open_sizes.hpp>

// Helpers of preprocessing layers, and the layers without a state: CategoryEncoding, Hashing, Resizing and CenterCrop.
namespace mezzo {

Value detail::on_host(const Values& inputs, const std::function<Shape(const Shape&)>& result_shape, DType dtype,
                      const std::function<Tensor(const std::vector<Tensor>&)>& function,
                      const Attributes& description) {
  return detail::defer(
             [=](const Values& xs) -> Values {
               HostOptions options;
               options.shape = result_shape(xs[0].shape());
               options.dtype = dtype;
               return {described_host(function, xs, options, description)};
             },
             inputs, {{result_shape(inputs[0].shape()), dtype}})
      .front();
}

Attributes detail::encoding_of(const std::string& mode, std::int64_t depth, const std::vector<double>& boundaries) {
  Attributes out{{"encoding", mode}, {"depth", depth}};
  if (!boundaries.empty()) out.set("boundaries", Tensor({static_cast<std::int64_t>(boundaries.size())}, boundaries));
  return out;
}

void detail::for_each_batch(const Dataset& data, const std::string& field, const std::string& where,
                            const std::function<void(const Tensor&)>& function) {
  std::vector<std::string> names;
  std::string wanted = field;
  for (const Field& one : data.fields()) {
    names.push_back(one.name);
    if (wanted.empty() && one.role == Role::input) wanted = one.name;
  }
  if (data.size() == 0) fail<ValueError>(where, "adapt: the data set must have samples; got none");
  if (std::find(names.begin(), names.end(), wanted) == names.end()) {
    fail_unknown(where + " adapt:", "field", wanted, names);
  }
  constexpr std::int64_t batch = 1024;
  for (std::int64_t begin = 0; begin < data.size(); begin += batch) {
    std::vector<std::int64_t> indices(static_cast<std::size_t>(std::min(batch, data.size() - begin)));
    std::iota(indices.begin(), indices.end(), begin);
    function(data.gather(indices)[wanted]);
  }
}

void detail::check_columns_kept(const std::string& where, std::int64_t before, std::int64_t after) {
  if (before == after) return;
  fail<ValueError>(where,
                   "must keep the {} columns that a model was built for; got {}: use a new layer for a new model",
                   before, after);
}

namespace {

/// Called when the step runs: Sequential builds its layers with a symbol of float32.
void require_integers(const std::string& where, const Tensor& x) {
  if (is_floating(x.dtype())) fail<DTypeError>(where, "input must be integers; got {}", x.dtype());
}

std::function<Shape(const Shape&)> shape_by(const std::string& mode, std::int64_t depth) {
  return [mode, depth](const Shape& shape) { return detail::encoded_shape(shape, mode, depth); };
}

/// Bin of a text.
std::int64_t bin_of(const std::string& text, const HashingOptions& options) {
  const bool masked = !options.mask_value.empty() && options.num_bins > 1;
  if (masked && text == options.mask_value.front()) return 0;
  const std::int64_t first = masked ? 1 : 0;
  const auto bins = static_cast<std::uint64_t>(options.num_bins - first);
  return first + static_cast<std::int64_t>(detail::salted_hash(text, options.salt) % bins);
}

/// x cast to an integer dtype, rounded and cut to its range.
Value saturated(const Value& x, DType dtype) {
  if (is_floating(dtype)) return detail::as(x, dtype);
  const int bits = static_cast<int>(dtype_size(dtype)) * 8;
  const bool without_sign = dtype == DType::uint8;
  const double most = std::ldexp(1.0, without_sign ? bits : bits - 1) - 1;
  const Value rounded = bits < 32 ? clip(round(x), without_sign ? 0.0 : -most - 1, most) : round(x);
  return cast(rounded, dtype);
}

}  // namespace

CategoryEncoding::CategoryEncoding(CategoryEncodingOptions options)
    : Layer("CategoryEncoding", options), options_(std::move(options)) {
  detail::require_positive(label(), "num_tokens", options_.num_tokens);
  detail::check_output_mode(options_.output_mode, label(), false);
}

Values CategoryEncoding::call_many(const Values& xs) {
  if (xs.empty() || xs.size() > 2) fail<ValueError>(label(), "takes one or two inputs; got {}", xs.size());
  const std::string mode = options_.output_mode;
  if (xs.size() == 2) {
    if (mode != "count") fail<ValueError>(label(), "weights must be left out for output_mode \"{}\"", mode);
    if (xs[1].shape() != xs[0].shape()) {
      fail<ShapeError>(label(), "weights must have the shape of the input {}; got {}", xs[0].shape(), xs[1].shape());
    }
  }
  const DType dtype = compute_dtype();
  return {detail::on_host(
      xs, shape_by(mode, options_.num_tokens), dtype,
      [mode, dtype, depth = options_.num_tokens, where = label()](const std::vector<Tensor>& given) {
        require_integers(where, given[0]);
        const Tensor indices = given[0].cast(DType::int64);
        const auto* begin = indices.data<std::int64_t>();
        const auto* bad = std::find_if(begin, begin + indices.size(), [](std::int64_t i) { return i < 0; });
        if (bad != begin + indices.size()) fail<ValueError>(where, "indices must lie in [0, {}); got {}", depth, *bad);
        std::optional<Tensor> weights;
        if (given.size() == 2) weights = given[1].cast(DType::float64);
        return detail::encode_categories(indices, mode, depth, dtype, where, weights);
      },
      detail::encoding_of(mode, options_.num_tokens))};
}

Hashing::Hashing(HashingOptions options) : Layer("Hashing", options), options_(std::move(options)) {
  detail::require_positive(label(), "num_bins", options_.num_bins);
  detail::check_output_mode(options_.output_mode, label(), true);
  detail::check_salt(options_.salt, label());
  if (options_.mask_value.size() > 1) {
    fail<ValueError>(label(), "mask_value must be one value; got {}", options_.mask_value.size());
  }
}

Tensor Hashing::of_strings(const Strings& strings) const {
  Tensor bins(strings.shape(), DType::int64);
  auto* out = bins.mutable_data<std::int64_t>();
  for (const std::string& text : strings.values()) *out++ = bin_of(text, options_);
  const DType dtype = options_.output_mode == "int" ? DType::int64 : DType::float32;
  return detail::encode_categories(bins, options_.output_mode, options_.num_bins, dtype, label());
}

Value Hashing::call(const Value& x) {
  const DType dtype = options_.output_mode == "int" ? DType::int64 : compute_dtype();
  return detail::on_host({x}, shape_by(options_.output_mode, options_.num_bins), dtype,
                         [options = options_, dtype, where = label()](const std::vector<Tensor>& given) {
                           require_integers(where, given[0]);
                           Tensor bins = given[0].cast(DType::int64);
                           auto* const numbers = bins.mutable_data<std::int64_t>();
                           for (std::int64_t i = 0; i < bins.size(); ++i) {
                             numbers[i] = bin_of(std::to_string(numbers[i]), options);
                           }
                           return detail::encode_categories(bins, options.output_mode, options.num_bins, dtype, where);
                         });
}

Resizing::Resizing(ResizingOptions options) : Layer("Resizing", options), options_(std::move(options)) {
  detail::require_positive(label(), "height", options_.height);
  detail::require_positive(label(), "width", options_.width);
  detail::require_finite(label(), "fill_value", options_.fill_value);
  if (options_.crop_to_aspect_ratio && options_.pad_to_aspect_ratio) {
    fail<ValueError>(label(), "only one of crop_to_aspect_ratio and pad_to_aspect_ratio may be true");
  }
  image::detail::check_interpolation(options_.interpolation, label());
}

Value Resizing::call(const Value& x) {
  image::ResizeImagesOptions resize;
  resize.interpolation = options_.interpolation;
  resize.antialias = options_.antialias;
  resize.crop_to_aspect_ratio = options_.crop_to_aspect_ratio;
  resize.pad_to_aspect_ratio = options_.pad_to_aspect_ratio;
  resize.fill_value = options_.fill_value;
  const auto run = [size = detail::Ints{options_.height, options_.width}, resize](const Value& images) {
    return saturated(image::resize(images, size, resize), images.dtype());
  };
  return with_sizes(run, x);
}

CenterCrop::CenterCrop(CenterCropOptions options) : Layer("CenterCrop", options), options_(std::move(options)) {
  detail::require_positive(label(), "height", options_.height);
  detail::require_positive(label(), "width", options_.width);
}

namespace {

/// The middle part of images. Smaller images are cut to the proportions and resized.
Value cropped(const Value& images, const CenterCropOptions& options) {
  const Shape& shape = images.shape();
  const std::size_t rank = shape.size();
  const DType dtype = detail::current_policy().compute_dtype();
  const Value floats = detail::as(images, dtype);
  const std::int64_t top = shape[rank - 3] - options.height, across = shape[rank - 2] - options.width;
  if (top < 0 || across < 0) {
    image::ResizeImagesOptions resize;
    resize.crop_to_aspect_ratio = true;
    return detail::as(image::resize(floats, {options.height, options.width}, resize), dtype);
  }
  image::CropImagesOptions crop;
  crop.top_cropping = top / 2;
  crop.left_cropping = across / 2;
  crop.target_height = options.height;
  crop.target_width = options.width;
  return image::crop_images(floats, crop);
}

}  // namespace

Value CenterCrop::call(const Value& x) {
  const std::size_t rank = x.shape().size();
  if (rank != 3 && rank != 4) {
    fail<ShapeError>(label(), "input must be images, with or without a batch; got shape {}", x.shape());
  }
  return with_sizes([options = options_](const Value& images) { return cropped(images, options); }, x);
}

}  // namespace mezzo
