#include <mezzo/models/unet.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/initializers/random_uniform.hpp>
#include <mezzo/initializers/variance_scaling.hpp>
#include <mezzo/layers/activations/relu.hpp>
#include <mezzo/layers/convolutional/conv2d.hpp>
#include <mezzo/layers/convolutional/conv2d_transpose.hpp>
#include <mezzo/layers/normalization/batch_normalization.hpp>
#include <mezzo/layers/pooling/max_pooling2d.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/ops/open_sizes.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo {
namespace {

/// torch's default initial values of a kernel: uniform in [-1 / sqrt(fan_in), 1 / sqrt(fan_in)].
VarianceScaling torch_kernel() {
  return VarianceScaling({.scale = 1.0 / 3, .mode = "fan_in", .distribution = "uniform"});
}

RandomUniform torch_bias(std::int64_t fan_in) {
  const double limit = 1 / std::sqrt(static_cast<double>(fan_in));
  return RandomUniform({.minval = -limit, .maxval = limit});
}

/// Twice convolution, normalization, ReLU: to `middle`, then to `filters` channels.
Sequential double_conv(std::int64_t middle, std::int64_t filters, const std::string& name = "") {
  std::vector<Any<Layer>> layers;
  const auto next = [&] { return fmt::format("{}", layers.size()); };
  for (const std::int64_t channels : {middle, filters}) {
    layers.emplace_back(Conv2D({.filters = channels,
                                .kernel_size = 3,
                                .padding = 1,
                                .use_bias = false,
                                .kernel_initializer = torch_kernel(),
                                .name = next()}));
    layers.emplace_back(BatchNormalization({.momentum = 0.9, .epsilon = 1e-5, .name = next()}));
    layers.emplace_back(ReLU({.name = next()}));
  }
  return Sequential({Sequential(std::move(layers), {.name = "double_conv"})}, {.name = name});
}

Sequential down(std::int64_t filters) {
  const Sequential inner({MaxPooling2D({.pool_size = 2, .name = "0"}), double_conv(filters, filters, "1")},
                         {.name = "maxpool_conv"});
  return Sequential(std::vector<Any<Layer>>{inner});
}

/// Weights of linear interpolation from n to 2n elements with equal ends: (2n, n).
Tensor doubling(std::int64_t n) {
  std::vector<double> weights(static_cast<std::size_t>(2 * n * n));
  for (std::int64_t i = 0; i < 2 * n; ++i) {
    const double place = static_cast<double>(i * (n - 1)) / static_cast<double>(2 * n - 1);
    const auto low = static_cast<std::int64_t>(place);
    const double rest = place - static_cast<double>(low);
    weights[static_cast<std::size_t>(i * n + low)] += 1 - rest;
    weights[static_cast<std::size_t>(i * n + std::min(low + 1, n - 1))] += rest;
  }
  return {{2 * n, n}, weights};
}

/// Twice the height and width by bilinear interpolation with aligned corners.
Value upsampled(const Value& x) {
  Shape shape = x.shape();
  for (const std::size_t axis : {1, 2}) shape[axis] = shape[axis] < 0 ? -1 : 2 * shape[axis];
  const auto run = [](const Values& xs) -> Values {
    const DType dtype = detail::current_policy().compute_dtype(), wide = accumulation_dtype(dtype);
    const Shape& from = xs[0].shape();
    const Value rows = cast(Value(doubling(from[1])), wide), columns = cast(Value(doubling(from[2])), wide);
    const Value tall = einsum("ih,bhwc->biwc", {rows, cast(xs[0], wide)});
    return {cast(einsum("jw,bhwc->bhjc", {columns, tall}), dtype)};
  };
  return detail::defer(run, {x}, {{shape, x.dtype()}}).front();
}

/// x with the height and width of `like`: padded with zeros at both sides, or cropped.
Value fitted(const Value& x, const Value& like) {
  PadOptions sides{.before = Shape(4), .after = Shape(4)};
  SliceOptions part{.starts = Shape(4), .sizes = Shape(4, -1)};
  bool pads = false, crops = false;
  for (const std::size_t axis : {1, 2}) {
    const std::int64_t lacking = like.shape()[axis] - x.shape()[axis];
    pads |= lacking > 0;
    crops |= lacking < 0;
    if (lacking > 0) {
      sides.before[axis] = lacking / 2;
      sides.after[axis] = lacking - lacking / 2;
    } else if (lacking < 0) {
      part.starts[axis] = -lacking / 2;
      part.sizes[axis] = like.shape()[axis];
    }
  }
  const Value inside = crops ? slice(x, part) : x;
  return pads ? pad(inside, sides) : inside;
}

struct UpOptions {
  std::int64_t input = 0;    ///< sum of the channels of the upsampled map and of the map that it is joined with
  std::int64_t filters = 0;  ///< channels of the output
  bool bilinear = false;     ///< as UNetOptions
  std::string name{};        ///< name of the layer; "": automatic
  Policy dtype{};            ///< precision policy; default: the policy of the enclosing layer or model
};

/// Called with a map and the larger map of the contracting path: upsamples the first, joins both, and convolves twice.
class Up : public Layer {
 public:
  explicit Up(const UpOptions& options) : Layer("Up", options), options_(options) {
    const std::int64_t half = options.input / 2;
    if (!options.bilinear) {
      up_ = sub("up", Conv2DTranspose({.filters = half,
                                       .kernel_size = 2,
                                       .strides = 2,
                                       .kernel_initializer = torch_kernel(),
                                       .bias_initializer = torch_bias(4 * half)}));
    }
    conv_ = sub("conv", double_conv(options.bilinear ? half : options.filters, options.filters));
  }
  void build(const Shape&) override {}

 protected:
  Values call_many(const Values& xs) override {
    const Value larger = options_.bilinear ? upsampled(xs[0]) : (*up_)(xs[0]);
    const Values joined =
        with_sizes([](const Values& both) -> Values { return {fitted(both[0], both[1])}; }, {larger, xs[1]});
    return {conv_(concat({xs[1], joined[0]}, -1))};
  }

 private:
  UpOptions options_;
  std::optional<Conv2DTranspose> up_;
  Sequential conv_;
};

}  // namespace

UNet::UNet(UNetOptions options) : Model("UNet", options), options_(std::move(options)) {
  detail::require_positive(label(), "n_channels", options_.n_channels);
  detail::require_positive(label(), "n_classes", options_.n_classes);
  detail::require_positive(label(), "width", options_.width);
  const std::int64_t width = options_.width, factor = options_.bilinear ? 2 : 1;
  if (width % factor != 0) fail<ValueError>(label(), "width must be even if bilinear; got {}", width);
  inc_ = sub("inc", double_conv(width, width));
  for (std::int64_t i = 1; i <= 4; ++i) {
    down_.push_back(sub(fmt::format("down{}", i), down((width << i) / (i == 4 ? factor : 1))));
  }
  for (std::int64_t i = 1; i <= 4; ++i) {
    const std::int64_t channels = width << (5 - i);
    const UpOptions up{
        .input = channels, .filters = channels / 2 / (i == 4 ? 1 : factor), .bilinear = options_.bilinear};
    up_.emplace_back(sub(fmt::format("up{}", i), Up(up)));
  }
  outc_ = sub("outc", Sequential({Conv2D({.filters = options_.n_classes,
                                          .kernel_size = 1,
                                          .kernel_initializer = torch_kernel(),
                                          .bias_initializer = torch_bias(width),
                                          .name = "conv"})}));
}

Value UNet::call(const Value& x) {
  detail::require_rank(label(), x.shape(), 4, "(batch, height, width, channels)");
  detail::require_last_axis(label(), x.shape(), options_.n_channels, "n_channels");
  for (const std::size_t axis : {1, 2}) {
    if (x.shape()[axis] >= 0 && x.shape()[axis] < 16) {
      fail<ShapeError>(label(), "input axis {} must be at least 16; got shape {}", axis, x.shape());
    }
  }
  Values maps{inc_(x)};
  for (Sequential& layer : down_) maps.push_back(layer(maps.back()));
  Value y = maps.back();
  for (std::size_t i = 0; i < up_.size(); ++i) y = up_[i](Values{y, maps[3 - i]}).front();
  return outc_(y);
}

}  // namespace mezzo
