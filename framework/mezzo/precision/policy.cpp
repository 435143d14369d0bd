#include <mezzo/precision/policy.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <sstream>
#include <vector>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/fork.hpp>
#include <mezzo/precision/op_precision.hpp>
#include <mezzo/precision/policy_map.hpp>
#include <mezzo/precision/quantized_form.hpp>

namespace mezzo {
namespace {

struct Known {
  const char* name;
  DType compute;
  DType variable;
  ProductFormat products = ProductFormat::same;
};

constexpr std::array<Known, 7> known{{{"float32", DType::float32, DType::float32},
                                      {"mixed_bfloat16", DType::bfloat16, DType::float32},
                                      {"mixed_float16", DType::float16, DType::float32},
                                      {"bfloat16", DType::bfloat16, DType::bfloat16},
                                      {"float16", DType::float16, DType::float16},
                                      {"float64", DType::float64, DType::float64},
                                      {"mixed_int8", DType::bfloat16, DType::float32, ProductFormat::int8}}};

struct Alias {
  const char* precision;
  const char* policy;
};

constexpr std::array<Alias, 14> aliases{{{"32", "float32"},
                                         {"32-true", "float32"},
                                         {"64", "float64"},
                                         {"64-true", "float64"},
                                         {"bf16", "mixed_bfloat16"},
                                         {"bf16-mixed", "mixed_bfloat16"},
                                         {"16", "mixed_float16"},
                                         {"16-mixed", "mixed_float16"},
                                         {"bf16-true", "bfloat16"},
                                         {"16-true", "float16"},
                                         {"int8-mixed", "mixed_int8"},
                                         {"mixed_int8", "mixed_int8"},
                                         {"mixed_bfloat16", "mixed_bfloat16"},
                                         {"mixed_float16", "mixed_float16"}}};

std::string policy_names() {
  std::vector<const char*> names;
  for (const Known& entry : known) names.push_back(entry.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string name_of(DType compute, DType variable, DType output, ProductFormat products = ProductFormat::same) {
  for (const Known& entry : known) {
    const bool same = entry.compute == compute && entry.variable == variable && entry.products == products;
    if (same && output == compute) return entry.name;
  }
  constexpr std::array<const char*, 3> endings{"", ",products=int8", ",products=int8_tiles"};
  return fmt::format("p={},c={},o={}{}", variable, compute, output, endings[static_cast<std::size_t>(products)]);
}

/// Dtype of one of jmp's names.
DType parse_dtype(const std::string& text, const std::string& policy) {
  static const std::pair<const char*, DType> names[] = {
      {"f16", DType::float16}, {"half", DType::float16},      {"float16", DType::float16}, {"bf16", DType::bfloat16},
      {"f32", DType::float32}, {"bfloat16", DType::bfloat16}, {"full", DType::float32},    {"float32", DType::float32},
      {"f64", DType::float64}, {"float64", DType::float64}};
  for (const auto& name : names) {
    if (text == name.first) return name.second;
  }
  fail<NameError>("", "unknown dtype \"{}\" in policy \"{}\"; valid names: f16, bf16, f32, f64", text, policy);
}

ProductFormat parse_products(const std::string& name, const std::string& policy) {
  if (name == "int8") return ProductFormat::int8;
  if (name == "int8_tiles") return ProductFormat::int8_tiles;
  fail<NameError>("", "unknown products \"{}\" in policy \"{}\"; valid names: int8, int8_tiles", name, policy);
}

struct Global {
  detail::ForkMutex mutex;
  Policy policy = "float32";
  std::atomic<std::uint32_t> version{0};
};

Global& global() {
  static auto* const one = new Global;
  return *one;
}

}  // namespace

/// Parses a policy by jmp's rules: compute defaults to params, output to compute.
Policy Policy::from_notation(const std::string& text) {
  std::optional<DType> dtypes[3];
  std::optional<ProductFormat> products;
  const std::string keys[3][2] = {{"p", "params"}, {"c", "compute"}, {"o", "output"}};
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t equals = part.find('=');
    const std::string key = part.substr(0, equals);
    if (key == "products" && equals != std::string::npos && !products) {
      products = parse_products(part.substr(equals + 1), text);
      continue;
    }
    const auto* const found = std::find_if(std::begin(keys), std::end(keys),
                                           [&](const auto& names) { return key == names[0] || key == names[1]; });
    if (equals == std::string::npos || found == std::end(keys) || dtypes[found - keys]) {
      fail<NameError>("", "policy \"{}\" must be written as p=f32,c=bf16,o=f32; got the part \"{}\"", text, part);
    }
    dtypes[found - keys] = parse_dtype(part.substr(equals + 1), text);
  }
  const DType variable = dtypes[0].value_or(DType::float32), compute = dtypes[1].value_or(variable);
  return Policy(compute, variable, dtypes[2].value_or(compute)).with_products(products.value_or(ProductFormat::same));
}

Policy Policy::from_name(const std::string& name) {
  if (name.empty()) return {};
  if (const std::size_t from = name.find("_from_"); from != std::string::npos) return quantized_from(name, from);
  if (name.find('=') != std::string::npos) return from_notation(name);
  for (const Known& entry : known) {
    if (name == entry.name) return Policy(entry.compute, entry.variable, entry.compute).with_products(entry.products);
  }
  fail<NameError>("",
                  "unknown policy \"{}\"; valid names: {}, or as p=f32,c=bf16,o=f32, or quantized as int8_from_float32",
                  name, policy_names());
}

Policy Policy::quantized_from(const std::string& name, std::size_t from) {
  const std::string source = name.substr(from + 6);
  Policy out = source.find("_from_") == std::string::npos ? from_name(source) : Policy();
  if (out.inherits()) {
    fail<NameError>("", "policy \"{}\" must name an unquantized policy after \"_from_\"; got \"{}\"", name, source);
  }
  const detail::QuantizedForm form = detail::quantized_form(name.substr(0, from), -1, "");
  if (form.mode == QuantizationMode::int8 && out.compute_ == DType::float16) {
    fail<ValueError>("", "policy \"{}\": int8 can't be computed in float16, whose range its scales exceed", name);
  }
  if (form.mode == QuantizationMode::float8 && out.products_ != ProductFormat::same) {
    fail<ValueError>("", "policy \"{}\": products can't be in float8 and int8", name);
  }
  (form.fake ? out.fake_ : out.mode_) = form.mode;
  out.block_size_ = form.block_size;
  out.inputs_ = form.inputs;
  out.name_ = std::make_shared<const std::string>(name);
  return out;
}

Policy Policy::source() const {
  const std::size_t from = name().find("_from_");
  return mode_ == QuantizationMode::none && fake_ == QuantizationMode::none ? *this : Policy(name().substr(from + 6));
}

Policy::Policy(DType compute, DType variable, DType output)
    : name_(std::make_shared<const std::string>(name_of(compute, variable, output))),
      compute_(compute),
      variable_(variable),
      output_(output) {
  for (const DType dtype : {compute, variable, output}) {
    if (!is_floating(dtype)) fail<NameError>("[Policy]", "dtypes must be floating; got {}", dtype);
  }
}

Policy Policy::with_products(ProductFormat products) const {
  if (products != ProductFormat::same && compute_ == DType::float64) {
    fail<NameError>("[Policy]", "products of int8 need a compute dtype of at most 32 bits; got {}", compute_);
  }
  Policy out = *this;
  out.products_ = products;
  out.name_ = std::make_shared<const std::string>(name_of(compute_, variable_, output_, products));
  return out;
}

Policy::Policy(const PolicyMap& map)
    : name_(std::make_shared<const std::string>(map.name())),
      compute_(map.default_policy().compute_dtype()),
      variable_(map.default_policy().variable_dtype()),
      output_(map.default_policy().output_dtype()),
      mode_(map.default_policy().quantization_mode()),
      fake_(map.default_policy().fake_quantization()),
      inputs_(map.default_policy().quantized_inputs()),
      products_(map.default_policy().products()),
      block_size_(map.default_policy().block_size()),
      map_(std::make_shared<const PolicyMap>(map)) {}

Policy::Policy(std::shared_ptr<const OpPrecision> by_op)
    : name_(std::make_shared<const std::string>(by_op->name())), by_op_(std::move(by_op)) {}

const std::string& Policy::name() const {
  static const std::string none;
  return name_ ? *name_ : none;
}

Policy Policy::at(const std::string& path) const { return map_ ? map_->at(path) : *this; }

DType detail::computes_in(const Policy& policy) {
  return policy.by_op() != nullptr ? policy.by_op()->dtype() : policy.compute_dtype();
}

void set_dtype_policy(const Policy& policy) {
  const std::lock_guard<std::mutex> lock(global().mutex);
  const Policy wanted = policy.inherits() ? Policy("float32") : policy;
  if (wanted != global().policy) ++global().version;
  global().policy = wanted;
}

Policy dtype_policy() {
  const std::lock_guard<std::mutex> lock(global().mutex);
  return global().policy;
}

std::uint32_t detail::dtype_policy_version() { return global().version; }

Precision::Precision(int bits) : Precision(fmt::format("{}", bits)) {}

Precision::Precision(const std::string& name)
    : automatic_(name == "auto" || name == "auto-int8"),
      int8_inside_(name == "auto-int8" || name == "int8-mixed" || name == "mixed_int8") {
  if (automatic_) return;
  if (name.find('=') != std::string::npos) policy_ = Policy(name);
  std::vector<const char*> names;
  for (const Alias& alias : aliases) {
    if (name == alias.precision) policy_ = Policy(alias.policy);
    names.push_back(alias.precision);
  }
  if (!policy_.inherits()) return;
  for (const Known& entry : known) {
    if (name == entry.name) policy_ = Policy(name);
  }
  if (policy_.inherits()) {
    names.insert(names.end(), {"float32", "bfloat16", "float16", "float64", "auto", "auto-int8"});
    if (name.rfind("transformer-engine", 0) == 0) {
      fail<NameError>("", "precision \"{}\" is absent: it is for float8, which CPUs don't compute; valid names: {}",
                      name, fmt::join(names, ", "));
    }
    fail_unknown("", "precision", name, names);
  }
}

}  // namespace mezzo
