#include <mezzo/layers/recurrent/conv_lstm.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/layers/axes.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/spatial.hpp>

namespace mezzo::detail {
namespace {

constexpr std::int64_t conv_gates = 4;

/// Options of the cell: of the layer, without those that only the layer uses.
ConvLSTMOptions cell_options(ConvLSTMOptions options) {
  options.name.clear();
  options.dtype = Policy();
  options.activity_regularizer = {};
  options.trainable = true;
  return options;
}

/// One step of ConvLSTM: x (batch, spatial axes..., channels), state, carry -> output, state, carry.
class ConvLSTMCell final : public RNNCell {
 public:
  ConvLSTMCell(const ConvLSTMOptions& options, std::size_t axes)
      : RNNCell("ConvLSTMCell", cell_options(options)), options_(cell_options(options)), axes_(axes) {
    require_positive(label(), "filters", options_.filters);
    one_for_each(label(), "kernel_size", options_.kernel_size, axes);
    const Shape strides = one_for_each(label(), "strides", options_.strides, axes),
                dilation = one_for_each(label(), "dilation_rate", options_.dilation_rate, axes);
    is_same(label(), options_.padding);
    require_rate(label(), "dropout", options_.dropout);
    require_rate(label(), "recurrent_dropout", options_.recurrent_dropout);
    const auto above_1 = [](std::int64_t n) { return n > 1; };
    if (std::any_of(strides.begin(), strides.end(), above_1) &&
        std::any_of(dilation.begin(), dilation.end(), above_1)) {
      fail<ValueError>(label(), "strides or dilation_rate must be 1; got ({}) and ({})", fmt::join(strides, ", "),
                       fmt::join(dilation, ", "));
    }
  }

  Shape state_size() const override { return {options_.filters, options_.filters}; }
  std::int64_t output_size() const override { return options_.filters; }
  std::optional<std::size_t> output_state() const override { return 0; }

  std::vector<Shape> state_shapes(const Shape& input) const override {
    require_spatial(label(), input, axes_);
    const Shape kernel = one_for_each(label(), "kernel_size", options_.kernel_size, axes_),
                strides = one_for_each(label(), "strides", options_.strides, axes_),
                dilation = one_for_each(label(), "dilation_rate", options_.dilation_rate, axes_);
    const bool same = is_same(label(), options_.padding);
    Shape shape;
    for (std::size_t i = 0; i < axes_; ++i) {
      if (input[i + 1] < 0) {
        shape.push_back(-1);
        continue;
      }
      const std::int64_t left = same ? input[i + 1] - 1 : input[i + 1] - dilation[i] * (kernel[i] - 1) - 1;
      if (left < 0) {
        fail<ShapeError>(label(), "the kernel must fit the input; got shape {} and kernel_size ({})", input,
                         fmt::join(kernel, ", "));
      }
      shape.push_back(left / strides[i] + 1);
    }
    shape.push_back(options_.filters);
    return {shape, shape};
  }

  void build(const Shape& input) override {
    require_spatial(label(), input, axes_);
    const ConvLSTMOptions& o = options_;
    Shape kernel = one_for_each(label(), "kernel_size", o.kernel_size, axes_);
    kernel.insert(kernel.end(), {input.back(), conv_gates * o.filters});
    Shape recurrent = kernel;
    recurrent[axes_] = o.filters;
    add_weight(kernel_, {.shape = kernel,
                         .initializer = o.kernel_initializer,
                         .regularizer = o.kernel_regularizer,
                         .constraint = o.kernel_constraint,
                         .quantizable = {.inputs = first_axes(axes_ + 1)}});
    add_weight(recurrent_kernel_, {.shape = recurrent,
                                   .initializer = o.recurrent_initializer,
                                   .regularizer = o.recurrent_regularizer,
                                   .constraint = o.recurrent_constraint,
                                   .quantizable = {.inputs = first_axes(axes_ + 1)}});
    if (!o.use_bias) return;
    add_weight(bias_, {.shape = {conv_gates * o.filters},
                       .initializer = o.unit_forget_bias ? unit_forget_bias(o.bias_initializer) : o.bias_initializer,
                       .regularizer = o.bias_regularizer,
                       .constraint = o.bias_constraint});
  }

 protected:
  Values call_many(const Values& xs) override {
    if (xs.size() != 3) fail<ValueError>(label(), "takes the input and 2 states; got {} values", xs.size());
    require_last_axis(label(), xs[0].shape(), kernel_.shape()[axes_], "kernel channels");
    const ConvLSTMOptions& o = options_;
    const ConvOpOptions of_input{.strides = o.strides, .padding = o.padding, .dilation_rate = o.dilation_rate},
        of_state{.strides = 1, .padding = "same"};
    Value sum = product(xs[0], kernel_, o.dropout, of_input);
    if (o.use_bias) sum = bias_add(sum, bias_);
    const Values parts = split(sum + product(xs[1], recurrent_kernel_, o.recurrent_dropout, of_state), conv_gates, -1);
    const Value carry =
        o.recurrent_activation(parts[1]) * xs[2] + o.recurrent_activation(parts[0]) * o.activation(parts[2]);
    const Value state = o.recurrent_activation(parts[3]) * o.activation(carry);
    return {state, state, carry};
  }

 private:
  /// Convolution for all gates. With dropout, each gate has factors of its own, the same in all steps.
  Value product(const Value& x, const Variable& kernel, double rate, const ConvOpOptions& options) const {
    if (rate == 0 || !training_phase()) return conv(x, kernel, options);
    Values parts;
    for (const Value& one : split(kernel, conv_gates, -1)) {
      const Value factors = dropout_factors(x.shape(), operand_dtype(ops::conv2d, x), rate, options_.seed);
      parts.push_back(conv(x * factors, one, options));
    }
    return concat(parts);
  }

  ConvLSTMOptions options_;
  std::size_t axes_;
  Variable kernel_{"kernel"};
  Variable recurrent_kernel_{"recurrent_kernel"};
  Variable bias_{"bias"};
};

}  // namespace

template <std::size_t Axes>
ConvLSTMLayer<Axes>::ConvLSTMLayer(const Options& options)
    : RNN(kind, options, ConvLSTMCell(options, Axes), "conv_lstm_cell") {}

template <std::size_t Axes>
void ConvLSTMLayer<Axes>::build(const Shape& input) {
  require_rank(label(), input, Axes + 3, "(batch, steps, spatial axes..., channels)");
  RNN::build(input);
}

template class ConvLSTMLayer<1>;
template class ConvLSTMLayer<2>;
template class ConvLSTMLayer<3>;

}  // namespace mezzo::detail
