#pragma once
#include <string>
#include <vector>

namespace mezzo::detail {

/// Numbers of an element of an MX format: multiples of 2^(e - mantissa) with the exponent e of the number, at least
/// `least`, up to `max` in magnitude.
struct MXElement {
  const char* name;
  int exponent_bits, mantissa;  ///< bits; int8 has no exponent, and 6 bits after its point
  int least, greatest;          ///< exponents of the smallest normal number and of max
  double max;

  /// x rounded to nearest even, and limited to +-max. x is finite.
  double round(double x) const;
};

/// All formats, in the order of the specification.
const std::vector<MXElement>& mx_elements();

/// The element of a format. A NameError for an unknown one.
const MXElement& mx_element(const std::string& format);

}  // namespace mezzo::detail
