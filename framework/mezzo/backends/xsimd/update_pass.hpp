#pragma once
#include <algorithm>
#include <cstring>
#include <limits>

#include <mezzo/backends/common/update_request.hpp>
#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/update.hpp>

namespace mezzo::xsimd_kernels {

/// Runs a function of an optimizer over the elements of a variable.
class UpdatePass {
 public:
  UpdatePass(const UpdateRequest& request, const UpdateFunctions& functions)
      : r_(request),
        functions_(&functions),
        sizes_{size_of(r_.variable), size_of(r_.gradient), size_of(r_.slot), size_of(r_.copy)},
        clip_(r_.clipvalue != 0 ? static_cast<float>(r_.clipvalue) : std::numeric_limits<float>::infinity()) {}

  /// `k`: coefficients. Sets those common to all optimizers.
  template <class Function, class Coefficients>
  void run(const KernelArguments& arguments, Function function, Coefficients k, double rate, double multiplier) const {
    set_common(k, rate, multiplier);
    const UpdateArrays arrays = arrays_of(arguments);
    if (r_.columns > 0) {
      run_by_rows(arguments, arrays, function, k);
      return;
    }
    if (r_.coded) {
      run_by_blocks(arguments, arrays, function, k);
      return;
    }
    parallel_elements(r_.count, [&](std::int64_t begin, std::int64_t end) { function(arrays, k, begin, end); });
  }

  /// Reader and writer of slots in 8 bits.
  CodedSlots coded_slots(const KernelArguments& arguments) const { return {r_, functions_->codes, arguments}; }

  /// The arrays from the first element of a block on, with slots that are read from 8 bits.
  UpdateArrays from_block(const UpdateArrays& arrays, std::int64_t block, CodedSlots& slots) const {
    UpdateArrays some = from(arrays, block * detail::DynamicCode::block);
    slots.load(block);
    for (std::size_t s = 0; s < r_.slots; ++s) {
      (s < 2 ? some.slots[s] : some.third_slot) = slots.slot(s);
      (s < 2 ? some.new_slots[s] : some.new_third_slot) = slots.slot(s);
    }
    return some;
  }

  template <class Coefficients>
  void set_common(Coefficients& k, double rate, double multiplier) const {
    k.multiplier = static_cast<float>(multiplier);
    k.clip = clip_;
    k.decay = static_cast<float>(rate * r_.weight_decay);
  }

  UpdateArrays arrays_of(const KernelArguments& arguments) const {
    UpdateArrays arrays;
    arrays.variable = arguments.inputs[0];
    arrays.gradient = arguments.inputs[1];
    arrays.new_variable = arguments.outputs[0];
    for (std::size_t i = 0; i < std::min<std::size_t>(r_.slots, 2); ++i) {
      arrays.slots[i] = arguments.inputs[2 + i];
      arrays.new_slots[i] = arguments.outputs[1 + i];
    }
    if (r_.slots > 2) {
      arrays.third_slot = arguments.inputs[4];
      arrays.new_third_slot = arguments.outputs[3];
    }
    if (has_beside()) {
      arrays.beside = arguments.inputs[r_.beside];
      arrays.new_beside = arguments.outputs[r_.beside - 1];
    }
    if (r_.has_copy) arrays.copy = arguments.outputs[r_.copy_output];
    arrays.slot_stream = r_.slot_stream(arguments);
    arrays.variable_stream = r_.variable_stream(arguments);
    return arrays;
  }

  /// The arrays from an element on.
  UpdateArrays from(const UpdateArrays& arrays, std::int64_t element) const {
    const auto in = [&](const void* p, std::int64_t size) { return static_cast<const char*>(p) + element * size; };
    const auto out = [&](void* p, std::int64_t size) { return static_cast<char*>(p) + element * size; };
    UpdateArrays some = arrays;
    some.first += element;
    some.variable = in(arrays.variable, sizes_.variable);
    some.gradient = in(arrays.gradient, sizes_.gradient);
    some.new_variable = out(arrays.new_variable, sizes_.variable);
    for (std::size_t i = 0; i < std::min<std::size_t>(r_.slots, 2); ++i) {
      some.slots[i] = in(arrays.slots[i], sizes_.slot);
      some.new_slots[i] = out(arrays.new_slots[i], sizes_.slot);
    }
    if (r_.slots > 2) {
      some.third_slot = in(arrays.third_slot, sizes_.slot);
      some.new_third_slot = out(arrays.new_third_slot, sizes_.slot);
    }
    if (has_beside()) {
      some.beside = in(arrays.beside, sizes_.variable);
      some.new_beside = out(arrays.new_beside, sizes_.variable);
    }
    if (r_.has_copy) some.copy = out(arrays.copy, sizes_.copy);
    return some;
  }

  const UpdateRequest& request() const { return r_; }

  /// Memory for zeros: the gradient of rows that are not in a compact gradient.
  std::size_t scratch_bytes() const { return static_cast<std::size_t>(zero_rows() * r_.columns * sizes_.gradient); }

  double number(const KernelArguments& arguments, std::size_t i) const { return r_.number(arguments, i); }

 private:
  struct Sizes {
    std::int64_t variable, gradient, slot, copy;  ///< bytes per element; a remainder or compensation has as many as the
                                                  ///< variable
  };

  bool has_beside() const { return r_.kept == UpdateRequest::Kept::split || r_.kept == UpdateRequest::Kept::kahan; }

  /// Largest number of rows without a gradient that are updated together.
  std::int64_t zero_rows() const { return std::max<std::int64_t>(4096 / std::max<std::int64_t>(r_.columns, 1), 1); }

  template <class Function, class Coefficients>
  void run_by_blocks(const KernelArguments& arguments, const UpdateArrays& arrays, Function function,
                     const Coefficients& k) const {
    parallel_for(detail::DynamicCode::blocks_of(r_.count), grain_of(detail::DynamicCode::block),
                 [&](std::int64_t begin, std::int64_t end) {
                   CodedSlots slots = coded_slots(arguments);
                   for (std::int64_t i = begin; i < end; ++i) {
                     function(from_block(arrays, i, slots), k, 0, slots.size(i));
                     slots.store(i);
                   }
                 });
  }

  template <class Function, class Coefficients>
  void run_by_rows(const KernelArguments& arguments, const UpdateArrays& arrays, Function function,
                   const Coefficients& coefficients) const {
    std::memset(arguments.scratch, 0, scratch_bytes());
    const auto* places = arguments.in<std::int32_t>(r_.places);
    parallel_for(r_.rows, grain_of(r_.columns), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin, next = row; row < end; row = next) {
        UpdateArrays some = from(arrays, row * r_.columns);
        ++next;
        if (places[row] >= 0) {
          some.gradient = arguments.in<char>(1) + places[row] * r_.columns * sizes_.gradient;
        } else {
          some.gradient = arguments.scratch;
          while (next < end && next - row < zero_rows() && places[next] < 0) ++next;
        }
        function(some, coefficients, 0, (next - row) * r_.columns);
      }
    });
  }

  UpdateRequest r_;
  const UpdateFunctions* functions_;
  Sizes sizes_;
  float clip_;
};

/// The entry of a table for the way in which the variable is kept and copied, or null.
template <class Table>
const typename Table::BySlots* by_storage(const Table& table, const UpdateRequest& request) {
  using Kept = UpdateRequest::Kept;
  const DType v = request.variable, copy = request.copy;
  if (v == DType::float32 && request.kept == Kept::plain) {
    if (!request.has_copy) return &table.plain_float32;
    return copy == DType::bfloat16  ? &table.float32_with_bfloat16_copy
           : copy == DType::float16 ? &table.float32_with_float16_copy
                                    : nullptr;
  }
  if (request.has_copy || !is_half(v)) return nullptr;
  const bool is_bfloat16 = v == DType::bfloat16;
  switch (request.kept) {
    case Kept::plain:
      return is_bfloat16 ? &table.plain_bfloat16 : &table.plain_float16;
    case Kept::split:
      return &table.split_float32;
    case Kept::kahan:
      return is_bfloat16 ? &table.kahan_bfloat16 : &table.kahan_float16;
    case Kept::stochastic:
      break;
  }
  return &table.stochastic_bfloat16;
}

}  // namespace mezzo::xsimd_kernels
