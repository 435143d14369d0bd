#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/tensor.hpp>
#include <mezzo/core/usage.hpp>
#include <mezzo/precision/policy.hpp>

namespace mezzo {

class Value;

namespace detail {
struct Quantization;
struct Adapters;
struct FakeQuantization;

/// Adapters for a copy of a kernel; defined in graph/adapters.
std::shared_ptr<Adapters> copy_of(const Adapters& adapters);

/// True if layers read another variable in place of the kernel; defined in graph/adapters.
bool is_merged(const Adapters& adapters);

/// Axes of a weight that share a scale when it is quantized. The scales are those of the other axes.
struct QuantizableAxes {
  Shape inputs{};  ///< axes that the weight's product sums over, or the axis of a row of a table; {}: not quantizable
  bool table = false;  ///< true for a look-up table: the other axes are its rows
};
/// State of a variable, shared by its layer, the graph, plans and optimizers. The functions that read or replace all
/// numbers wait while another thread does so. They throw a ValueError while another thread runs the variable's model.
/// Functions that replace numbers also throw inside a step of this thread that uses the variable.
struct MEZZO_API VariableState {
  struct Blank {};
  explicit VariableState(std::string label) : name(std::move(label)) {}
  explicit VariableState(Blank) {}

  /// Copies everything except `version`. The numbers are copied deeply.
  void copy_from(const VariableState& other);

  std::string name;
  Tensor value;              ///< storage; the high halves of a split master; the codes of a quantized weight
  bool filled = false;       ///< true once it has a value
  bool trainable = true;     ///< updated by optimizers
  bool autocast = true;      ///< cast to the compute dtype when a layer reads it
  bool of_codes = false;     ///< scale or zero point of a quantized weight: never converted
  bool fixed_dtype = false;  ///< keeps its dtype when a policy converts its layer's variables (statistics, counters)
  std::uint32_t policy_version = dtype_policy_version();  ///< version when the dtype was set
  std::string file_name;                                  ///< name in weight files; empty: `name`
  Shape file_axes;                                        ///< order of the axes in weight files; {}: unchanged
  Shape file_shape;                                       ///< shape in weight files, with merged axes; {}: unchanged
  std::uint64_t version = 0;  ///< counts writes; low-precision copies of an older version are stale

  mutable detail::Usage usage;  ///< use by a thread that reads or replaces numbers, or runs a model with the variable

  /// Low halves of a split master, int16, or scales of an 8-bit slot: see graph/coded_state.hpp. Otherwise null.
  std::shared_ptr<VariableState> remainder;

  QuantizableAxes quantizable;                 ///< axes that share a scale if the weight is quantized
  std::shared_ptr<Quantization> quantization;  ///< scales of a quantized weight, whose numbers are codes; null: none
  std::shared_ptr<FakeQuantization> fake;      ///< rounding of a kernel and its inputs in products; null: none
  std::shared_ptr<Adapters> adapters;          ///< low-rank adapters of a kernel (LoRA); null: none

  /// False for a split master without its remainder, which another rank has.
  bool whole() const { return !remainder || remainder->filled; }

  std::function<Value(const Value&)> regularizer;  ///< penalty added to losses; empty: none
  std::function<Value(const Value&)> constraint;   ///< applied after each update; empty: none

  /// Shape of the variable's numbers. `value` has another one for a weight quantized to 4 bits.
  const Shape& shape() const { return quantization ? quantized_shape() : value.shape(); }

  /// Dtype of the variable's numbers; float32 with a remainder, int8 for a quantized weight.
  DType dtype() const { return remainder ? DType::float32 : value.dtype(); }

  /// The numbers in that dtype; the codes of a quantized weight. A ValueError for a variable that isn't whole.
  Tensor numbers() const;

  /// split() stores a float32 variable as a split master, join() as float32 again. Neither changes a number. split()
  /// throws a DTypeError for a variable of another dtype.
  void split();
  void join();

  /// Frees the remainder of a split master; assign() makes it again.
  void drop_remainder();

  /// Converts the storage to another dtype.
  void convert(DType dtype);

  /// Replaces the numbers and casts them to the variable's dtype. Views of memory of others are copied. The first
  /// assignment sets shape and dtype. Throws a ShapeError if a later one has another shape. A quantized weight takes
  /// codes as int8, and floats, which are quantized again with scales of their own; else a DTypeError.
  void assign(const Tensor& numbers);

  /// Throws the ValueError of assigning to a kernel whose adapters are merged.
  void require_unmerged() const;

  /// Replaces `value` by an array of the same shape and dtype.
  void store(const Tensor& kept);

  /// Replaces the numbers by codes, see detail::quantize().
  void store_codes(const Tensor& codes, std::shared_ptr<Quantization> form);

 private:
  const Shape& quantized_shape() const;
  void assign_codes(const Tensor& numbers);
  void convert_to(const Tensor& numbers);
  void set_halves(const Tensor& numbers);
};
}  // namespace detail

}  // namespace mezzo
