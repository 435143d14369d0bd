#pragma once
#include <cstddef>
#include <cstdint>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/core/int8_scale.hpp>

namespace mezzo {

/// Codes, of type Code, and scales of an array (outer, parts, inner) whose parts have a scale each. They lie in scratch
/// memory.
template <class Code>
class PartCodes {
 public:
  PartCodes(std::int64_t outer, std::int64_t parts, std::int64_t inner, ScratchLayout& layout)
      : outer_(outer),
        parts_(parts),
        inner_(inner),
        codes_(layout.take(static_cast<std::size_t>(outer * parts * inner) * sizeof(Code))),
        scales_(layout.take(static_cast<std::size_t>(parts) * sizeof(detail::Int8Scale))) {}

  Code* codes(void* scratch) const { return reinterpret_cast<Code*>(static_cast<char*>(scratch) + codes_); }
  detail::Int8Scale* scales(void* scratch) const {
    return reinterpret_cast<detail::Int8Scale*>(static_cast<char*>(scratch) + scales_);
  }

  /// Quantizes x. Threads share the parts.
  template <class T>
  void quantize(const T* x, void* scratch) const {
    detail::Int8Scale* const scale = scales(scratch);
    parallel_for(parts_, grain_of(outer_ * inner_), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t part = begin; part < end; ++part) scale[part].scale = 0;  // the largest magnitude so far
      for_numbers(begin, end, [&](std::int64_t part, std::int64_t i) {
        scale[part].scale = detail::larger_magnitude(scale[part].scale, static_cast<float>(x[i]));
      });
      for (std::int64_t part = begin; part < end; ++part) scale[part] = detail::Int8Scale(scale[part].scale);
      for_numbers(begin, end, [&](std::int64_t part, std::int64_t i) {
        codes(scratch)[i] = static_cast<Code>(scale[part].code(static_cast<float>(x[i])));
      });
    });
  }

 private:
  /// body(part, index) for the numbers of some parts, in the order of memory.
  template <class Body>
  void for_numbers(std::int64_t begin, std::int64_t end, const Body& body) const {
    for (std::int64_t i = 0; i < outer_; ++i) {
      for (std::int64_t part = begin; part < end; ++part) {
        const std::int64_t first = (i * parts_ + part) * inner_;
        for (std::int64_t k = first; k < first + inner_; ++k) body(part, k);
      }
    }
  }

  std::int64_t outer_, parts_, inner_;
  std::size_t codes_, scales_;
};

}  // namespace mezzo
