#pragma once
#include <cstdint>
#include <vector>

#include <mezzo/backends/common/random.hpp>
#include <mezzo/compiler/kernel.hpp>

namespace mezzo {

/// True if the gradient of an update holds only some rows of the variable; the last input is then the places of the
/// rows.
bool has_compact_gradient(const KernelRequest& request);

/// Number of elements in a row of the variable.
std::int64_t columns_of(const KernelRequest& request);

/// The inputs whose memory output 0 of an update may use, as may_overwrite() reports them. A compact gradient and its
/// places are excluded, because their elements at the same offset belong to other rows.
std::vector<bool> overwritten_by_update(const KernelRequest& request);

/// The request of an optimizer's update: its attributes and the indices of its inputs and outputs.
struct UpdateRequest {
  using Kept = mezzo::detail::Kept;

  /// `slots`: number of slots of the optimizer.
  UpdateRequest(const KernelRequest& request, std::size_t slots);

  /// The key of the random words of one run. The word of element i is philox(key, i / 4)[i % 4]. Its lower 16 bits
  /// round the first slot, its upper 16 bits the second one; words of third_stream() round the third one.
  std::uint64_t slot_stream(const KernelArguments& arguments) const;

  static std::uint64_t third_stream(std::uint64_t slot_stream) { return detail::mix(slot_stream, 2); }

  /// Likewise for words whose lower 16 bits round the variable.
  std::uint64_t variable_stream(const KernelArguments& arguments) const;

  /// Scalar input i, counted from the first one after the variable's inputs: learning rate, count, multiplier.
  double number(const KernelArguments& arguments, std::size_t i) const { return *arguments.in<double>(numbers + i); }

  Kept kept = Kept::plain;
  std::int64_t count = 0;  ///< number of elements
  std::size_t slots = 0;   ///< inputs from 2 on, outputs from 1 on
  DType variable = DType::float32, gradient = DType::float32, slot = DType::float32;
  bool coded = false;               ///< slots are in 8 bits: DynamicCode
  std::vector<DType> slot_codes{};  ///< int8 or uint8 for each slot, if `coded`
  bool has_copy = false;
  DType copy = DType::float32;  ///< dtype of the copy
  std::size_t copy_output = 0;  ///< the last output
  bool random = false;
  std::int64_t key = 0;
  double weight_decay = 0, clipvalue = 0;
  std::int64_t rows = 0, columns = 0;  ///< of a variable whose gradient is compact, else 0
  std::size_t beside = 0;              ///< input index of the remainder or compensation; the output index is one less
  std::size_t scales = 0;              ///< input index of the first slot's scales; the output index is one less
  std::size_t numbers = 0, seed = 0, places = 0;  ///< input indices: first scalar, seed, places of a compact gradient
};

}  // namespace mezzo
