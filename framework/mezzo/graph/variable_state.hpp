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
  Tensor value;              ///< storage; the high halves of a split master
  bool filled = false;       ///< true once it has a value
  bool trainable = true;     ///< updated by optimizers
  bool autocast = true;      ///< cast to the compute dtype when a layer reads it
  bool fixed_dtype = false;  ///< keeps its dtype when a policy converts its layer's variables (statistics, counters)
  std::uint32_t policy_version = dtype_policy_version();  ///< version when the dtype was set
  std::string file_name;                                  ///< name in weight files; empty: `name`
  Shape file_axes;                                        ///< order of the axes in weight files; {}: unchanged
  Shape file_shape;                                       ///< shape in weight files, with merged axes; {}: unchanged
  std::uint64_t version = 0;  ///< counts writes; low-precision copies of an older version are stale

  mutable detail::Usage usage;  ///< use by a thread that reads or replaces numbers, or runs a model with the variable

  /// Low halves of a split master: int16, the remainder of the bfloat16 `value` (see SplitFloat). Otherwise null.
  std::shared_ptr<VariableState> remainder;

  std::shared_ptr<Quantization> quantization;  ///< scales of a quantized weight, whose numbers are codes; null: none
  std::shared_ptr<Adapters> adapters;          ///< low-rank adapters of a kernel (LoRA); null: none

  /// False for a split master without its remainder, which another rank has.
  bool whole() const { return !remainder || remainder->filled; }

  std::function<Value(const Value&)> regularizer;  ///< penalty added to losses; empty: none
  std::function<Value(const Value&)> constraint;   ///< applied after each update; empty: none

  /// Dtype of the variable's numbers; float32 for a split master.
  DType dtype() const { return remainder ? DType::float32 : value.dtype(); }

  /// The numbers in that dtype. A ValueError for a variable that isn't whole.
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
  /// assignment sets shape and dtype. Throws a ShapeError if a later one has another shape.
  void assign(const Tensor& numbers);

  /// Replaces `value` by an array of the same shape and dtype.
  void store(const Tensor& kept);

 private:
  void convert_to(const Tensor& numbers);
  void set_halves(const Tensor& numbers);
};
}  // namespace detail

}  // namespace mezzo
