#include <mezzo/graph/attributes.hpp>

#include <iterator>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/random.hpp>

namespace mezzo {
namespace {

/// Text of an attribute's value.
struct Printer {
  std::string operator()(std::int64_t x) const { return fmt::format("{}", x); }
  std::string operator()(double x) const { return fmt::format("{}", x); }
  std::string operator()(bool x) const { return x ? "true" : "false"; }
  std::string operator()(const std::string& x) const { return x; }
  std::string operator()(const Shape& x) const { return mezzo::to_string(x); }
  std::string operator()(DType x) const { return dtype_name(x); }
  std::string operator()(detail::Epilogue x) const { return x == detail::Epilogue::relu ? "relu" : "none"; }
  std::string operator()(detail::Kept x) const {
    constexpr const char* names[] = {"plain", "split", "kahan", "stochastic"};
    return names[static_cast<std::size_t>(x)];
  }
  std::string operator()(const std::shared_ptr<const detail::AttributeFunction>& x) const {
    return fmt::format("function {}", static_cast<const void*>(x.get()));
  }
  std::string operator()(const Tensor& x) const {
    const std::string bytes(static_cast<const char*>(x.raw()), x.bytes());
    return fmt::format("{}#{}", x, detail::key_of(bytes));
  }
};

}  // namespace

const detail::Attribute* Attributes::find(const std::string& name) const {
  for (const auto& entry : entries_) {
    if (entry.first == name) return &entry.second;
  }
  return nullptr;
}

void Attributes::fail_unknown_attribute(const std::string& name) const {
  std::vector<std::string> names;
  for (const auto& entry : entries_) names.push_back(entry.first);
  fail_unknown("", "attribute", name, names);
}

void Attributes::fail_type(const std::string& name, const detail::Attribute& value) {
  constexpr const char* types[] = {"int64", "double", "bool",     "string", "Shape",
                                   "DType", "Tensor", "Epilogue", "Kept",   "AttributeFunction"};
  static_assert(std::size(types) == std::variant_size_v<detail::Attribute>);
  fail<DTypeError>("", "attribute \"{}\" must be read as its type, {}; got another type", name, types[value.index()]);
}

void Attributes::set(const std::string& name, detail::Attribute value) {
  for (auto& entry : entries_) {
    if (entry.first != name) continue;
    entry.second = std::move(value);
    return;
  }
  entries_.emplace_back(name, std::move(value));
}

std::string Attributes::to_string() const {
  std::string text;
  for (const auto& entry : entries_) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", entry.first, std::visit(Printer{}, entry.second));
  }
  return text;
}

}  // namespace mezzo
