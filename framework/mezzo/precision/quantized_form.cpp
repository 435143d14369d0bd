#include <mezzo/precision/quantized_form.hpp>

#include <array>
#include <charconv>
#include <cstddef>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {
namespace {

constexpr std::array<const char*, 3> names_of_inputs{"none", "dynamic", "static"};  // in the order of QuantizedInputs

QuantizedInputs default_inputs(QuantizationMode mode) {
  return mode == QuantizationMode::int8 ? QuantizedInputs::dynamic_int8 : QuantizedInputs::floats;
}

/// Reads "128" or "-1".
bool read_block(const std::string& text, std::int64_t& block) {
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, block);
  return error == std::errc() && rest == end && (block > 0 || block == -1);
}

}  // namespace

std::string QuantizedForm::name() const {
  const std::string text = mode == QuantizationMode::int8 ? "int8" : fmt::format("int4/{}", block_size);
  return inputs == default_inputs(mode) ? text : fmt::format("{}/{}", text, inputs_name(inputs));
}

QuantizedForm quantized_form(const std::string& name, std::int64_t int4, const std::string& where) {
  std::string mode = name;
  const char* given = nullptr;
  for (const char* one : names_of_inputs) {
    const std::string end = fmt::format("/{}", one);
    if (mode.size() <= end.size() || mode.compare(mode.size() - end.size(), end.size(), end) != 0) continue;
    mode.erase(mode.size() - end.size());
    given = one;
    break;
  }
  QuantizedForm out;
  if (mode == "int8") out.mode = QuantizationMode::int8;
  if (mode == "int4") {
    out.mode = QuantizationMode::int4;
    out.block_size = int4;
  }
  if (mode.rfind("int4/", 0) == 0 && read_block(mode.substr(5), out.block_size)) out.mode = QuantizationMode::int4;
  if (out.mode == QuantizationMode::none) {
    fail<NameError>(where,
                    "unknown quantization \"{}\"; valid names: int8, int4, int4/128 (a scale for each block of 128 "
                    "inputs), int4/-1 (for each output)",
                    name);
  }
  out.inputs = given != nullptr ? quantized_inputs(given, where) : default_inputs(out.mode);
  return out;
}

QuantizedInputs quantized_inputs(const std::string& name, const std::string& where) {
  for (std::size_t i = 0; i < names_of_inputs.size(); ++i) {
    if (name == names_of_inputs[i]) return static_cast<QuantizedInputs>(i);
  }
  fail_unknown(where, "activations", name, names_of_inputs);
}

const char* inputs_name(QuantizedInputs inputs) { return names_of_inputs[static_cast<std::size_t>(inputs)]; }

}  // namespace mezzo::detail
