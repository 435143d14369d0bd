#include <mezzo/layers/core/einsum_dense.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/graph/quantization.hpp>
#include <mezzo/graph/replaced_variable.hpp>
#include <mezzo/initializers/variance_scaling.hpp>
#include <mezzo/layers/axes.hpp>
#include <mezzo/layers/core/einsum_update.hpp>
#include <mezzo/nn/adapters.hpp>
#include <mezzo/nn/fake_product.hpp>
#include <mezzo/nn/float8_product.hpp>
#include <mezzo/nn/input_products.hpp>
#include <mezzo/nn/quantized_product.hpp>
#include <mezzo/nn/weight_product.hpp>
#include <mezzo/ops/products.hpp>

namespace mezzo {
namespace {

bool all_letters(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
}

bool repeats(std::string letters) {
  std::sort(letters.begin(), letters.end());
  return std::adjacent_find(letters.begin(), letters.end()) != letters.end();
}

bool has(const std::string& letters, char letter) { return letters.find(letter) != std::string::npos; }

/// Removes an ellipsis at the start or the end.
bool without_dots(std::string& text, bool at_start) {
  if (text.size() < 3 || text.compare(at_start ? 0 : text.size() - 3, 3, "...") != 0) return false;
  text.erase(at_start ? 0 : text.size() - 3, 3);
  return true;
}

/// Draws numbers for a matrix (inputs, outputs), whose fans are those of the kernel, in the kernel's shape.
class OfMatrix : public Initializer {
 public:
  OfMatrix(Any<Initializer> inner, std::int64_t inputs, std::int64_t outputs)
      : inner_(std::move(inner)), matrix_{inputs, outputs} {}
  Tensor make(const Shape& shape, DType dtype, std::uint64_t key) const override {
    return inner_->make(matrix_, dtype, key).reshape(shape);
  }

 private:
  Any<Initializer> inner_;
  Shape matrix_;
};

/// x with its axes in that order, which may be theirs.
Value arranged(const Value& x, const Shape& axes) {
  return std::is_sorted(axes.begin(), axes.end()) ? x : transpose(x, axes);
}

/// The product as one of matrices, in the format of the policy in force. `in`: the permutation of x to (rows, axes
/// summed over); `out`: that of (rows, columns) to the output.
Value matrix_product(const Value& x, const Value& kernel, const Shape& in, std::ptrdiff_t summed, const Shape& out) {
  const Shape& sizes = kernel.shape();
  const Shape columns(sizes.begin() + summed, sizes.end());
  const std::int64_t depth = element_count(Shape(sizes.begin(), sizes.begin() + summed));
  const Value rows = detail::with_last_axes(arranged(x, in), summed, {depth});
  const Value y = detail::matmul_of_kernel(rows, reshape(kernel, {depth, element_count(columns)}));
  return arranged(detail::with_last_axes(y, 1, columns), out);
}

}  // namespace

EinsumDense::EinsumDense(EinsumDenseOptions options) : Layer("EinsumDense", options), options_(std::move(options)) {
  std::string text = options_.equation;
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const std::size_t comma = text.find(','), arrow = text.find("->");
  if (comma != std::string::npos && arrow != std::string::npos && comma < arrow) {
    of_input_ = text.substr(0, comma);
    of_kernel_ = text.substr(comma + 1, arrow - comma - 1);
    of_output_ = text.substr(arrow + 2);
  }
  dots_first_ = without_dots(of_input_, true);
  dots_last_ = !dots_first_ && without_dots(of_input_, false);
  const bool dots = dots_first_ || dots_last_;
  const bool good = (!dots || without_dots(of_output_, dots_first_)) && all_letters(of_input_) &&
                    all_letters(of_kernel_) && all_letters(of_output_) && !repeats(of_input_) && !repeats(of_kernel_) &&
                    !repeats(of_output_);
  if (!good) {
    fail<ValueError>(label(),
                     "equation must be of the form \"ab,bc->ac\", \"...b,bc->...c\" or \"ab...,bc->ac...\", without "
                     "repeated letters in a part; got \"{}\"",
                     options_.equation);
  }
  for (const char letter : of_kernel_) {
    if (has(of_input_, letter) || has(of_output_, letter)) continue;
    fail<ValueError>(label(), "the letter '{}' of the kernel must be one of the input or the output; got \"{}\"",
                     letter, options_.equation);
  }
  for (const char letter : of_output_) {
    if (has(of_input_, letter) || has(of_kernel_, letter)) continue;
    fail<ValueError>(label(), "the letter '{}' of the output must be one of the input or the kernel; got \"{}\"",
                     letter, options_.equation);
  }
  for (const char letter : options_.bias_axes) {
    if (has(of_output_, letter)) continue;
    fail<ValueError>(label(), "bias_axes must be letters of the output \"{}\"; got \"{}\"", of_output_,
                     options_.bias_axes);
  }
  const std::size_t letters = of_output_.size(), sizes = options_.output_shape.numbers().size();
  if (sizes == 0 || (dots_first_ ? sizes != letters && sizes + 1 != letters : sizes + 1 != letters)) {
    fail<ValueError>(label(), "output_shape must have the sizes of the output \"{}\" after the batch; got ({})",
                     of_output_, fmt::join(options_.output_shape.numbers(), ", "));
  }
  if (!letters_of(of_input_.size()).sums_first) state()->content = detail::PlainProducts{};
}

/// Sizes of the letters of the output: those of output_shape, with the input's where it has -1.
Shape EinsumDense::output_of(const Shape& input) const {
  const bool fits = dots_first_ || dots_last_ ? input.size() >= of_input_.size() : input.size() == of_input_.size();
  if (!fits || input.empty()) {
    fail<ShapeError>(label(), "input must have the axes \"{}{}{}\"; got shape {}", dots_first_ ? "..." : "", of_input_,
                     dots_last_ ? "..." : "", input);
  }
  Shape sizes = options_.output_shape.numbers();
  if (sizes.size() < of_output_.size()) {
    if (dots_first_ && input.size() > of_input_.size()) {
      fail<ShapeError>(label(), "output_shape must have all sizes of \"{}\", since the batch is in \"...\"; got ({})",
                       of_output_, fmt::join(sizes, ", "));
    }
    sizes.insert(sizes.begin(), input[0]);
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (!has(of_input_, of_output_[i])) continue;
    const std::int64_t given = size_of(of_output_[i], input);
    if (sizes[i] < 0) sizes[i] = given;
    if (given < 0 || given == sizes[i]) continue;
    fail<ShapeError>(label(), "input axis '{}' must be {} (output_shape); got shape {}", of_output_[i], sizes[i],
                     input);
  }
  return sizes;
}

std::int64_t EinsumDense::size_of(char letter, const Shape& input) const {
  const std::size_t place = of_input_.find(letter);
  return input[dots_first_ ? input.size() - of_input_.size() + place : place];
}

void EinsumDense::build(const Shape& input) {
  const Shape output = output_of(input);
  Shape shape;
  std::int64_t inputs = 1, outputs = 1;
  for (const char letter : of_kernel_) {
    const std::size_t place = of_output_.find(letter);
    const std::int64_t size = place != std::string::npos ? output[place] : size_of(letter, input);
    if (size < 0) {
      fail<ShapeError>(label(), "input axis '{}' must have a known size; got shape {}", letter, input);
    }
    shape.push_back(size);
    (place != std::string::npos ? outputs : inputs) *= size;
  }
  Any<Initializer> initializer = options_.kernel_initializer;
  if (dynamic_cast<const VarianceScaling*>(&*initializer) != nullptr) {
    initializer = OfMatrix(initializer, inputs, outputs);
  }
  Shape summed;
  for (std::size_t i = 0; i < of_kernel_.size(); ++i) {
    if (!has(of_output_, of_kernel_[i])) summed.push_back(static_cast<std::int64_t>(i));
  }
  add_weight(kernel_, {.shape = shape,
                       .initializer = initializer,
                       .regularizer = options_.kernel_regularizer,
                       .constraint = options_.kernel_constraint,
                       .file_name = "weight",
                       .quantizable = {.inputs = summed}});
  detail::allow_adapters(kernel_, Shape(shape.begin(), shape.end() - 1), shape.back());
  if (options_.bias_axes.empty()) return;
  Shape bias;
  for (std::size_t i = of_output_.find_first_of(options_.bias_axes); i < of_output_.size(); ++i) {
    bias.push_back(has(options_.bias_axes, of_output_[i]) ? output[i] : 1);
  }
  if (dots_last_) bias.resize(bias.size() + input.size() - of_input_.size(), 1);
  add_weight(bias_, {.shape = bias,
                     .initializer = options_.bias_initializer,
                     .regularizer = options_.bias_regularizer,
                     .constraint = options_.bias_constraint});
}

/// Axes of the equation for an input of that rank. Letters of an ellipsis are control characters.
EinsumDense::Letters EinsumDense::letters_of(std::size_t rank) const {
  std::string dots;
  for (std::size_t i = of_input_.size(); i < rank; ++i) dots += static_cast<char>(i - of_input_.size() + 1);
  const std::string input = dots_last_ ? of_input_ + dots : dots + of_input_;
  const std::string output = dots_last_ ? of_output_ + dots : dots + of_output_;
  Letters out;
  std::string of_sum, of_rows, of_columns;
  for (const char letter : of_kernel_) (has(of_output_, letter) ? of_columns : of_sum) += letter;
  for (const char letter : input) {
    if (!has(of_kernel_, letter)) of_rows += letter;
  }
  // A letter of the kernel in all parts names products side by side; one of the input alone is summed before.
  const auto in_output = [&](char letter) { return has(output, letter); };
  const bool product = !of_sum.empty() && of_columns.find_first_of(input) == std::string::npos &&
                       std::all_of(of_rows.begin(), of_rows.end(), in_output) &&
                       output.size() == of_rows.size() + of_columns.size();
  out.sums_first = product && of_kernel_ == of_sum + of_columns;
  out.sums_last = product && of_kernel_ == of_columns + of_sum;
  for (const char letter : of_rows + of_sum) out.input.push_back(static_cast<std::int64_t>(input.find(letter)));
  for (const char letter : output) out.output.push_back(static_cast<std::int64_t>((of_rows + of_columns).find(letter)));
  out.summed = static_cast<std::ptrdiff_t>(of_sum.size());
  return out;
}

bool EinsumDense::Letters::is_product_of(const Variable& kernel) const {
  const detail::VariableState& state = *kernel.state();
  const bool packed = state.fake ? state.fake->form.mode == QuantizationMode::int4 : state.quantization->packed();
  return sums_first || (sums_last && !packed);
}

Value EinsumDense::quantized(const Value& x, const Variable& kernel, const Letters& letters) {
  const Shape& sizes = kernel.shape();
  const auto end = letters.sums_first ? sizes.begin() + letters.summed : sizes.end() - letters.summed;
  const Shape first(sizes.begin(), end), last(end, sizes.end());
  const Shape& columns = letters.sums_first ? last : first;
  const std::int64_t depth = element_count(letters.sums_first ? first : last);
  const Value rows = detail::with_last_axes(arranged(x, letters.input), letters.summed, {depth});
  const auto rounded = [&] {
    if (letters.sums_first) return detail::weight_product(rows, kernel);
    return matmul(detail::rounded_inputs(rows, kernel), reshape(kernel, {-1, depth}), {.transpose_b = true});
  };
  const Value y = kernel.quantized() ? detail::quantized_product(rows, kernel) : rounded();
  return arranged(detail::with_last_axes(y, 1, columns), letters.output);
}

Value EinsumDense::call(const Value& x) {
  Shape shape = output_of(x.shape());
  const Shape& input = x.shape();
  for (std::size_t i = 0; i < of_kernel_.size(); ++i) {
    if (!has(of_input_, of_kernel_[i])) continue;
    const std::int64_t size = size_of(of_kernel_[i], input);
    if (size < 0 || size == kernel_.shape()[i]) continue;
    fail<ShapeError>(label(), "input axis '{}' must be {} (size of the kernel); got shape {}", of_kernel_[i],
                     kernel_.shape()[i], input);
  }
  const auto elided = static_cast<std::ptrdiff_t>(input.size() - of_input_.size());
  if (dots_first_) shape.insert(shape.begin(), input.begin(), input.begin() + elided);
  if (dots_last_) shape.insert(shape.end(), input.end() - elided, input.end());
  // The kernel's form may change after a functional graph is made; what a layer around has put in its place does not.
  const Value replaced = ReplacedVariable::find(*kernel_.state());
  const auto product = [equation = options_.equation, own = kernel_,
                        letters = letters_of(input.size())](const Values& xs) -> Values {
    const Variable kernel = detail::kernel_in_use(own);
    if (detail::has_float8_products(kernel)) {
      return {detail::float8_product(xs[0], xs.size() == 2 ? xs[1] : Value(kernel), *kernel.state(),
                                     [&](const Value& rows, const Value& columns) {
                                       return einsum(equation, {rows, columns});
                                     })};
    }
    const auto multiply = [&](const Value& numbers) {
      const bool as_matrix = letters.sums_first && detail::current_policy().products() != ProductFormat::same;
      return as_matrix ? matrix_product(xs[0], numbers, letters.input, letters.summed, letters.output)
                       : einsum(equation, {xs[0], numbers});
    };
    if (xs.size() == 2) return {multiply(xs[1])};
    const bool has_form = kernel.quantized() || kernel.state()->fake;
    if (has_form && letters.is_product_of(kernel)) return {quantized(xs[0], kernel, letters)};
    if (letters.sums_first && detail::adds_input_products(*kernel.state())) {
      return {quantized(xs[0], kernel, letters)};  // the same product; notes its inputs
    }
    return {multiply(kernel)};
  };
  Value y = detail::defer(product, replaced.defined() ? Values{x, replaced} : Values{x},
                          {{shape, dtype_policy().compute_dtype()}})
                .front();
  if (const detail::Adapter* const adapter = detail::adapter_in_use(kernel_)) {
    const detail::EinsumUpdate update({.input = of_input_,
                                       .kernel = of_kernel_,
                                       .output = of_output_,
                                       .dots_first = dots_first_,
                                       .dots_last = dots_last_});
    y = y + update.product(x, *adapter);
  }
  return options_.activation(bias_.filled() ? bias_add(y, bias_) : y);
}

}  // namespace mezzo
