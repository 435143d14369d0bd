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
  bool fake = false;     ///< weights stay floats, and products round them to what the form would store
  bool learned = false;  ///< the scale of static inputs is trained, of fake forms

  /// The form that a fake one prepares for.
  QuantizedForm prepared() const { return {mode, block_size, inputs}; }

  /// True if weights stay floats and trainable.
  bool keeps_floats() const { return fake || mode == QuantizationMode::float8; }

  /// True if codes have zero points: gptq, and int4 in blocks.
  bool has_zero() const { return mode == QuantizationMode::gptq || (mode == QuantizationMode::int4 && block_size > 0); }

  /// Name of the form: "int8", "int4/128", "int4/-1", "nf4/64", "gptq/4/128", "float8", "int8/static",
  /// "fake_int8/learned". Policies put "_from_float32" behind it.
  MEZZO_API std::string name() const;
};

/// The form of a name. `int4`: the block size of "int4" alone. Inputs are dynamic for int8 and floats for int4 and nf4,
/// as in Keras, or those of a last part "/none", "/dynamic", "/static", after "fake_" also "/learned". A NameError that
/// starts with `where` for another name, a ValueError for nf4 and gptq with inputs that aren't floats, for gptq with
/// other bits than 4, and for float8 with any format of inputs.
MEZZO_API QuantizedForm quantized_form(const std::string& name, std::int64_t int4, const std::string& where);

/// Sets the format of inputs of that name: one of quantized_inputs(), of a fake form also "learned". A NameError for
/// another one. A ValueError for float8, whose inputs have one format.
MEZZO_API void set_inputs(QuantizedForm& form, const std::string& name, const std::string& where);

/// The format of inputs of that name, "none", "dynamic" or "static"; a NameError for another one.
MEZZO_API QuantizedInputs quantized_inputs(const std::string& name, const std::string& where);

/// Throws a ValueError that starts with `where` for inputs that products with this form can't have.
MEZZO_API void require_known_inputs(const QuantizedForm& form, const std::string& where);

/// "none", "dynamic" or "static".
MEZZO_API const char* inputs_name(QuantizedInputs inputs);

}  // namespace mezzo::detail
