#pragma once
#include <cstdint>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/precision/quantization_mode.hpp>

namespace mezzo::detail {

/// Mode, block size and format of inputs of a quantized policy or of Layer::quantize().
struct QuantizedForm {
  QuantizationMode mode = QuantizationMode::none;
  std::int64_t block_size = -1;  ///< inputs that share a scale; -1: all
  QuantizedInputs inputs = QuantizedInputs::dynamic_int8;

  /// Name of the form: "int8", "int4/128", "int4/-1", "int8/static". Policies put "_from_float32" behind it.
  MEZZO_API std::string name() const;
};

/// The form of a name. `int4`: the block size of "int4" alone. Inputs are dynamic for int8 and floats for int4, as in
/// Keras, or those of a last part "/none", "/dynamic", "/static". A NameError that starts with `where` for another
/// name.
MEZZO_API QuantizedForm quantized_form(const std::string& name, std::int64_t int4, const std::string& where);

/// The format of inputs of that name, "none", "dynamic" or "static"; a NameError for another one.
MEZZO_API QuantizedInputs quantized_inputs(const std::string& name, const std::string& where);

/// "none", "dynamic" or "static".
MEZZO_API const char* inputs_name(QuantizedInputs inputs);

}  // namespace mezzo::detail
