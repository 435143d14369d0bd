#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <mezzo/core/tensor.hpp>

namespace mezzo {

/// A variable as graph, plans and optimizers see it: one box per weight, shared by all who use it.
struct VariableState {
  struct Blank {};
  explicit VariableState(std::string label) : name(std::move(label)) {}
  explicit VariableState(Blank) {}
  /// A deep copy of the numbers; derived copies are not taken along.
  void copy_from(const VariableState& other);

  std::string name;
  Tensor value;  ///< as it is kept: of a split master the high halves
  bool filled = false;
  bool trainable = true;
  bool autocast = true;       ///< cast to the compute dtype where a layer reads it
  bool fixed_dtype = false;   ///< keeps its dtype when a policy converts its layer's variables (statistics, counters)
  std::string file_name;      ///< what weight files call it, where not `name`
  Shape file_axes;            ///< its axes in the order in which weight files have them; {}: as they are
  Shape file_shape;           ///< what files merge these into; {}: nothing
  std::uint64_t version = 0;  ///< counts writes; what was derived from an older version is stale

  /// A low-precision copy that plans compute with: refreshed when stale, written by the optimizer's pass itself.
  struct Copy {
    DType dtype = DType::float32;
    Tensor value;
    std::uint64_t version = ~std::uint64_t{0};
  };
  std::vector<Copy> copies;

  /// The copy in that dtype, made on first use.
  Copy& copy_in(DType dtype);

  /// Of a split master, what `value`, in bfloat16, lacks of float32: int16, as SplitFloat has it. Otherwise null.
  std::shared_ptr<VariableState> remainder;

  /// What it is to all who read it: a split master is float32.
  DType dtype() const { return remainder ? DType::float32 : value.dtype(); }

  /// The numbers in that dtype.
  Tensor numbers() const;

  /// Keeps a float32 variable as a split master from here on, or as float32 again; neither changes a number. A
  /// DTypeError for a variable of another dtype.
  void split();
  void join();

  /// Keeps the numbers in another dtype from here on.
  void convert(DType dtype);

  /// Replaces the numbers; shape must be the same, the dtype is converted to the variable's own.
  void assign(const Tensor& numbers);

  /// Replaces `value` by one of its shape and dtype.
  void store(const Tensor& kept);

 private:
  void convert_to(const Tensor& numbers);
  void set_halves(const Tensor& numbers);
};

}  // namespace mezzo
