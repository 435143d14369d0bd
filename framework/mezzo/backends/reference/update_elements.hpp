#pragma once
#include <array>
#include <cmath>
#include <cstdint>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/common/update_request.hpp>
#include <mezzo/backends/reference/coded_block.hpp>
#include <mezzo/core/convert.hpp>
#include <mezzo/core/random.hpp>
#include <mezzo/core/split_float.hpp>

// Elements of a variable that an optimizer updates, with its slots, in all ways of storage. Elementwise: all inputs of
// an element are read before its outputs are written, so outputs may use the memory of inputs.
namespace mezzo::reference {

using Kept = UpdateRequest::Kept;

/// Reads element i of an array of any floating dtype as a T.
template <class T>
T read(const void* array, DType dtype, std::int64_t i) {
  switch (dtype) {
    case DType::float64:
      return convert<T>(static_cast<const double*>(array)[i]);
    case DType::bfloat16:
      return convert<T>(static_cast<const bfloat16*>(array)[i]);
    case DType::float16:
      return convert<T>(static_cast<const float16*>(array)[i]);
    default:
      return convert<T>(static_cast<const float*>(array)[i]);
  }
}

/// Writes x to element i of an array of any floating dtype.
template <class T>
void write(void* array, DType dtype, std::int64_t i, T x) {
  switch (dtype) {
    case DType::float64:
      static_cast<double*>(array)[i] = convert<double>(x);
      break;
    case DType::bfloat16:
      static_cast<bfloat16*>(array)[i] = convert<bfloat16>(x);
      break;
    case DType::float16:
      static_cast<float16*>(array)[i] = convert<float16>(x);
      break;
    default:
      static_cast<float*>(array)[i] = convert<float>(x);
  }
}

/// The random word of element i.
inline std::uint32_t random_word(std::uint64_t stream, std::int64_t i) {
  const auto place = static_cast<std::uint64_t>(i);
  return philox(stream, place / 4)[place % 4];
}

/// Updates elements in T. A rule T(gradient, variable, slots) takes the variable after its decay, updates the slots and
/// returns the change of the variable.
template <class T>
class Elements {
 public:
  Elements(const UpdateRequest& request, const KernelArguments& arguments, double decay, double multiplier)
      : r_(request),
        a_(arguments),
        decay_(static_cast<T>(decay)),
        multiplier_(static_cast<T>(multiplier)),
        limit_(static_cast<T>(request.clipvalue)),
        slot_stream_(request.slot_stream(arguments)),
        variable_stream_(request.variable_stream(arguments)) {}

  /// Updates elements [begin, end); slots in 8 bits by whole blocks.
  template <class Rule>
  void update(std::int64_t begin, std::int64_t end, const Rule& rule) const {
    if (!r_.coded) {
      for (std::int64_t i = begin; i < end; ++i) update(i, rule);
      return;
    }
    CodedBlock block(r_, a_, begin);
    for (std::int64_t i = begin; i < end; ++i) {
      std::array<T, 3> slots = block.slots<T>(i);
      change_variable(i, rule(gradient(i), variable(i), slots));
      block.set(i, slots);
    }
    block.store();
  }

  template <class Rule>
  void update(std::int64_t i, const Rule& rule) const {
    std::array<T, 3> slots = slots_at(i);
    const T change = rule(gradient(i), variable(i), slots);
    change_variable(i, change);
    const bool rounds = r_.random && r_.slot == DType::bfloat16;
    const std::uint32_t word = rounds && r_.slots > 0 ? random_word(slot_stream_, i) : 0;
    for (std::size_t s = 0; s < r_.slots; ++s) {
      if (rounds) {
        const std::uint32_t bits = s < 2 ? word >> (16 * s) : random_word(UpdateRequest::third_stream(slot_stream_), i);
        a_.out<bfloat16>(1 + s)[i] = round_stochastically(static_cast<float>(slots[s]), bits);
      } else {
        write(a_.outputs[1 + s], r_.slot, i, slots[s]);
      }
    }
  }

  std::array<T, 3> slots_at(std::int64_t i) const {
    if (r_.coded) return CodedBlock(r_, a_, i).slots<T>(i);
    std::array<T, 3> slots{};
    for (std::size_t s = 0; s < r_.slots; ++s) slots[s] = read<T>(a_.inputs[2 + s], r_.slot, i);
    return slots;
  }

  /// Element i of the variable after its decay.
  T variable(std::int64_t i) const {
    if (r_.kept == Kept::split) {
      SplitFloat halves;
      halves.high = a_.in<bfloat16>(0)[i];
      halves.low = a_.in<std::int16_t>(r_.beside)[i];
      return decayed(static_cast<T>(static_cast<float>(halves)));
    }
    const T w = read<T>(a_.inputs[0], r_.variable, i);
    if (r_.kept != Kept::kahan) return decayed(w);
    const T lost = read<T>(a_.inputs[r_.beside], r_.variable, i);
    return w + (decay_ != 0 ? lost - decay_ * w : lost);
  }

  /// Element i of the gradient, scaled and clipped.
  T gradient(std::int64_t i) const {
    std::int64_t from = i;
    if (r_.columns > 0) {
      const std::int32_t place = a_.in<std::int32_t>(r_.places)[i / r_.columns];
      if (place < 0) return 0;
      from = place * r_.columns + i % r_.columns;
    }
    const T g = read<T>(a_.inputs[1], r_.gradient, from) * multiplier_;
    if (limit_ == 0) return g;
    return g > limit_ ? limit_ : g < -limit_ ? -limit_ : g;
  }

  /// Decays element i of the variable and adds a number to it.
  void change_variable(std::int64_t i, T change) const {
    if (r_.kept == Kept::split) {
      SplitFloat halves;
      halves.high = a_.in<bfloat16>(0)[i];
      halves.low = a_.in<std::int16_t>(r_.beside)[i];
      halves = SplitFloat(static_cast<float>(decayed(static_cast<T>(static_cast<float>(halves))) + change));
      a_.out<bfloat16>(0)[i] = halves.high;
      a_.out<std::int16_t>(r_.beside - 1)[i] = halves.low;
      return;
    }
    const T w = read<T>(a_.inputs[0], r_.variable, i);
    if (r_.kept == Kept::kahan) {
      const T lost = read<T>(a_.inputs[r_.beside], r_.variable, i);
      const T whole = (decay_ != 0 ? lost - decay_ * w : lost) + change;
      write(a_.outputs[0], r_.variable, i, w + whole);
      const T rounded = read<T>(a_.outputs[0], r_.variable, i);
      write(a_.outputs[r_.beside - 1], r_.variable, i, whole + (w - rounded));
    } else if (r_.kept == Kept::stochastic) {
      a_.out<bfloat16>(0)[i] =
          round_stochastically(static_cast<float>(decayed(w) + change), random_word(variable_stream_, i));
    } else {
      write(a_.outputs[0], r_.variable, i, decayed(w) + change);
      if (r_.has_copy) write(a_.outputs[r_.copy_output], r_.copy, i, read<T>(a_.outputs[0], r_.variable, i));
    }
  }

 private:
  T decayed(T w) const { return decay_ != 0 ? w - decay_ * w : w; }

  const UpdateRequest& r_;
  const KernelArguments& a_;
  T decay_, multiplier_, limit_;
  std::uint64_t slot_stream_, variable_stream_;
};

}  // namespace mezzo::reference
