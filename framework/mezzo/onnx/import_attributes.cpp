#include <mezzo/onnx/import_call.hpp>

namespace mezzo::detail {
namespace {

template <class T>
T attribute_as(const OnnxCall& call, const OnnxAttribute& attribute, const char* name, const char* type) {
  const T* value = std::get_if<T>(&attribute);
  if (value == nullptr) call.refuse("attribute \"{}\" must be {}; got another type", name, type);
  return *value;
}

}  // namespace

const OnnxAttribute* OnnxCall::find(const char* name) {
  read_.insert(name);
  const auto found = node_.attributes.find(name);
  return found == node_.attributes.end() ? nullptr : &found->second;
}

bool OnnxCall::has_attribute(const char* name) { return find(name) != nullptr; }

std::int64_t OnnxCall::integer(const char* name, std::int64_t otherwise) {
  const OnnxAttribute* found = find(name);
  return found == nullptr ? otherwise : attribute_as<std::int64_t>(*this, *found, name, "an integer");
}

double OnnxCall::number(const char* name, double otherwise) {
  const OnnxAttribute* found = find(name);
  return found == nullptr ? otherwise : attribute_as<double>(*this, *found, name, "a number");
}

std::string OnnxCall::text(const char* name, const char* otherwise) {
  const OnnxAttribute* found = find(name);
  return found == nullptr ? otherwise : attribute_as<std::string>(*this, *found, name, "a text");
}

std::vector<std::int64_t> OnnxCall::integers(const char* name) {
  const OnnxAttribute* found = find(name);
  if (found == nullptr) return {};
  return attribute_as<std::vector<std::int64_t>>(*this, *found, name, "integers");
}

std::vector<double> OnnxCall::numbers_of(const char* name) {
  const OnnxAttribute* found = find(name);
  if (found == nullptr) return {};
  return attribute_as<std::vector<double>>(*this, *found, name, "numbers");
}

std::vector<std::string> OnnxCall::texts(const char* name) {
  const OnnxAttribute* found = find(name);
  if (found == nullptr) return {};
  return attribute_as<std::vector<std::string>>(*this, *found, name, "texts");
}

std::optional<Tensor> OnnxCall::tensor(const char* name) {
  const OnnxAttribute* found = find(name);
  if (found == nullptr) return std::nullopt;
  return attribute_as<Tensor>(*this, *found, name, "a tensor");
}

std::shared_ptr<const OnnxBody> OnnxCall::body(const char* name) {
  const OnnxAttribute* found = find(name);
  if (found == nullptr) refuse("attribute \"{}\" is required; it is absent", name);
  return attribute_as<std::shared_ptr<const OnnxBody>>(*this, *found, name, "a graph");
}

std::optional<std::vector<std::int64_t>> OnnxCall::ints_of(const char* name, std::size_t input, std::int64_t since) {
  if (opset_ >= since) {
    if (!has(input)) return std::nullopt;
    return ints(input, name);
  }
  if (!has_attribute(name)) return std::nullopt;
  return integers(name);
}

std::int64_t OnnxCall::axis(const char* name, std::int64_t otherwise, std::size_t rank) {
  return normalize_axis(integer(name, otherwise), rank, where() + " " + name);
}

void OnnxCall::check_all_read() const {
  for (const auto& entry : node_.attributes) {
    if (read_.count(entry.first) == 0) refuse("attribute \"{}\" isn't supported", entry.first);
  }
}

}  // namespace mezzo::detail
