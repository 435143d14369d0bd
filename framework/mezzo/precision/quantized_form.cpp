#include <mezzo/precision/quantized_form.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <string_view>

#include <mezzo/core/fail.hpp>
#include <mezzo/precision/nf4.hpp>

namespace mezzo::detail {
namespace {

constexpr std::string_view fake_prefix = "fake_";
constexpr std::array<const char*, 3> names_of_inputs{"none", "dynamic", "static"};  // in the order of QuantizedInputs

QuantizedInputs default_inputs(QuantizationMode mode) {
  return mode == QuantizationMode::int8 ? QuantizedInputs::dynamic_int8 : QuantizedInputs::floats;
}

/// Largest block size. Sums of it and any size of an array fit an int64.
constexpr std::int64_t most_block = 1 << 30;

/// Reads "int4/128" or "int4/-1" of a `mode` "int4". `least`: the block size that means all inputs, or 1.
bool read_block(const std::string& text, const std::string& mode, std::int64_t least, std::int64_t& block,
                const std::string& where) {
  if (text.rfind(mode + "/", 0) != 0) return false;
  const char *const begin = text.data() + mode.size() + 1, *const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(begin, end, block);
  if (rest != end || (error == std::errc() && block <= 0 && block != least)) return false;
  if ((error == std::errc::result_out_of_range && *begin != '-') || block > most_block) {
    fail<ValueError>(where, "block size of \"{}\" must be at most {}; got {}", mode, most_block,
                     std::string(begin, end));
  }
  return error == std::errc();
}

}  // namespace

std::string QuantizedForm::name() const {
  if (mode == QuantizationMode::float8) return "float8";
  std::string text = "int8";
  if (mode == QuantizationMode::int4) text = fmt::format("int4/{}", block_size);
  if (mode == QuantizationMode::nf4) text = fmt::format("nf4/{}", block_size);
  if (mode == QuantizationMode::gptq) text = fmt::format("gptq/4/{}", block_size);
  const std::string whole = fake ? "fake_" + text : text;
  if (learned) return whole + "/learned";
  return inputs == default_inputs(mode) ? whole : fmt::format("{}/{}", whole, inputs_name(inputs));
}

QuantizedForm quantized_form(const std::string& name, std::int64_t int4, const std::string& where) {
  const bool fake = name.rfind(fake_prefix, 0) == 0;
  std::string mode = fake ? name.substr(fake_prefix.size()) : name;
  const char* given = nullptr;
  for (const char* one : {"none", "dynamic", "static", "learned"}) {
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
  if (mode == "float8" && !fake) out.mode = QuantizationMode::float8;
  if (mode == "nf4") {
    out.mode = QuantizationMode::nf4;
    out.block_size = nf4_block;
  }
  if (read_block(mode, "int4", -1, out.block_size, where)) out.mode = QuantizationMode::int4;
  if (read_block(mode, "nf4", 1, out.block_size, where)) out.mode = QuantizationMode::nf4;
  if (read_block(mode, "gptq/4", -1, out.block_size, where)) out.mode = QuantizationMode::gptq;
  const bool rounds = out.mode != QuantizationMode::nf4 && out.mode != QuantizationMode::gptq;
  if (fake && !rounds) out.mode = QuantizationMode::none;  // their rounding has no form
  if (name.rfind("gptq", 0) == 0 && out.mode == QuantizationMode::none) {
    fail<ValueError>(where,
                     "\"{}\" must be written as gptq/4/128 (4 bits, a scale for each group of 128 inputs) or gptq/4/-1",
                     name);
  }
  if (out.mode == QuantizationMode::none) {
    fail<NameError>(where,
                    "unknown quantization \"{}\"; valid names: int8, int4, int4/128 (a scale for each block of 128 "
                    "inputs), int4/-1 (for each output), nf4, nf4/64, gptq/4/128, gptq/4/-1, float8; rounding in "
                    "training: fake_int8, fake_int4, fake_int4/128, fake_int4/-1",
                    name);
  }
  out.fake = fake;
  out.inputs = default_inputs(out.mode);
  if (given != nullptr) set_inputs(out, given, where);
  require_known_inputs(out, where);
  return out;
}

void set_inputs(QuantizedForm& form, const std::string& name, const std::string& where) {
  if (form.mode == QuantizationMode::float8) {
    fail<ValueError>(where, "activations can't be chosen for float8, whose products round all operands; got {}", name);
  }
  constexpr std::array<const char*, 4> of_fake{"none", "dynamic", "static", "learned"};
  form.learned = form.fake && name == of_fake.back();
  if (form.learned) {
    form.inputs = QuantizedInputs::static_int8;
    return;
  }
  const bool known = std::find(of_fake.begin(), of_fake.end(), name) != of_fake.end();
  if (form.fake && !known) fail_unknown(where, "activations", name, of_fake);
  form.inputs = quantized_inputs(name, where);
}

void require_known_inputs(const QuantizedForm& form, const std::string& where) {
  if (form.inputs == QuantizedInputs::floats) return;
  if (form.mode == QuantizationMode::gptq) {
    fail<ValueError>(where, "activations must be none with gptq, as in Keras; got {}", inputs_name(form.inputs));
  }
  if (form.mode != QuantizationMode::nf4) return;
  fail<ValueError>(where, "activations must be none with nf4, whose codes aren't integers; got {}",
                   inputs_name(form.inputs));
}

QuantizedInputs quantized_inputs(const std::string& name, const std::string& where) {
  for (std::size_t i = 0; i < names_of_inputs.size(); ++i) {
    if (name == names_of_inputs[i]) return static_cast<QuantizedInputs>(i);
  }
  fail_unknown(where, "activations", name, names_of_inputs);
}

const char* inputs_name(QuantizedInputs inputs) { return names_of_inputs[static_cast<std::size_t>(inputs)]; }

}  // namespace mezzo::detail
