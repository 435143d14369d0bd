#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct EinsumDenseOptions {
  std::string equation{};           ///< required; "abc,cd->abd", "...x,xy->...y" or "ab...,bc->ac..."
  detail::Ints output_shape{};      ///< required; sizes of the output after the batch; -1: size of the input
  ActivationFunction activation{};  ///< applied to the result; default: linear
  std::string bias_axes{};          ///< letters of the output along which a bias is added; "": no bias
  Any<Initializer> kernel_initializer = "glorot_uniform";  ///< initial kernel
  Any<Initializer> bias_initializer = "zeros";             ///< initial bias
  Any<Regularizer> kernel_regularizer{};                   ///< penalty of the kernel, added to the loss
  Any<Regularizer> bias_regularizer{};                     ///< penalty of the bias, added to the loss
  Any<Constraint> kernel_constraint{};                     ///< projects the kernel after each update
  Any<Constraint> bias_constraint{};                       ///< projects the bias after each update
  Any<Regularizer> activity_regularizer{};                 ///< penalty of the output, over the batch size
  std::string name{};     ///< name of the layer; "": automatic ("einsum_dense", "einsum_dense_1")
  Policy dtype{};         ///< precision policy; default: the policy of the enclosing layer or model
  bool trainable = true;  ///< false: training does not change the weights
};

/// activation(einsum(equation, {x, kernel}) + bias). The letters of the kernel take their sizes from output_shape if
/// the output has them, else from the input. An ellipsis stands for any number of axes of the input, which the output
/// keeps: the first or the last axes, with or without the batch. As in Keras, initializers that scale by the fans count
/// the letters of the kernel that the output has as its outputs, the others as inputs. Weights: kernel; bias, with the
/// sizes of bias_axes and 1 elsewhere, from the first of them on.
class MEZZO_API EinsumDense : public Layer {
 public:
  /// A ValueError for an equation of another form, an empty output_shape, a letter of the kernel or the output that no
  /// other part has, or a letter of bias_axes that the output doesn't have.
  explicit EinsumDense(EinsumDenseOptions options = {});

  /// Positional: `EinsumDense("abc,cd->abd", {-1, 64})`, `EinsumDense("ab,bc->ac", 64)`.
  template <class E, detail::IfConverts<E, std::string> = 0, class I, detail::IfInteger<I> = 0>
  explicit EinsumDense(const E& equation, I output_shape, EinsumDenseOptions options = {})
      : EinsumDense(with(equation, detail::Ints(output_shape), std::move(options))) {}
  template <class E, detail::IfConverts<E, std::string> = 0, class S = detail::Ints,
            detail::IfSame<S, detail::Ints> = 0>
  explicit EinsumDense(const E& equation, const S& output_shape, EinsumDenseOptions options = {})
      : EinsumDense(with(equation, output_shape, std::move(options))) {}

  /// A ShapeError for an input with too few axes or another size along a letter that the output has, too.
  void build(const Shape& input) override;

 protected:
  Value call(const Value& x) override;

 private:
  static EinsumDenseOptions with(std::string equation, detail::Ints output_shape, EinsumDenseOptions options) {
    options = detail::positional("EinsumDense", options.name, "equation", &EinsumDenseOptions::equation,
                                 std::move(equation), options);
    return detail::positional("EinsumDense", options.name, "output_shape", &EinsumDenseOptions::output_shape,
                              std::move(output_shape), options);
  }
  /// The equation as a matrix product.
  struct Letters {
    bool sums_first = false;                           ///< the kernel's axes are those summed over, then the others
    bool sums_last = false;                            ///< the other way round
    bool is_product_of(const Variable& kernel) const;  ///< true if a quantized kernel multiplies as a matrix
    Shape input{}, output{};    ///< permutations: of x to (rows, axes summed over), of (rows, columns) to the output
    std::ptrdiff_t summed = 0;  ///< axes summed over
  };
  Letters letters_of(std::size_t rank) const;
  static Value quantized(const Value& x, const Variable& kernel, const Letters& letters);
  Shape output_of(const Shape& input) const;
  std::int64_t size_of(char letter, const Shape& input) const;

  EinsumDenseOptions options_;
  std::string of_input_, of_kernel_, of_output_;  // letters
  bool dots_first_ = false, dots_last_ = false;   // the equation has an ellipsis there
  Variable kernel_{"kernel"};
  Variable bias_{"bias"};
};

}  // namespace mezzo
