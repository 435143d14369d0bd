#include <mezzo/backends/common/update_request.hpp>

#include <mezzo/backends/common/kernel.hpp>

namespace mezzo {
bool has_compact_gradient(const KernelRequest& request) { return request.attributes.get_or<bool>("compact", false); }

std::int64_t columns_of(const KernelRequest& request) {
  const Shape& shape = request.inputs[0].shape;
  return element_count(Shape(shape.begin() + 1, shape.end()));
}

std::vector<bool> overwritten_by_update(const KernelRequest& request) {
  std::vector<bool> inputs = like_output(request);
  if (has_compact_gradient(request)) inputs[1] = inputs.back() = false;
  return inputs;
}

UpdateRequest::UpdateRequest(const KernelRequest& request, std::size_t slot_count) : slots(slot_count) {
  const Attributes& attributes = request.attributes;
  kept = attributes.get_or("kept", detail::Kept::plain);
  count = element_count(request.inputs[0].shape);
  variable = request.inputs[0].dtype;
  gradient = request.inputs[1].dtype;
  if (slots > 0) slot = request.inputs[2].dtype;
  has_copy = attributes.has("copy_dtype");
  copy_output = request.outputs.size() - 1;
  copy = attributes.get_or("copy_dtype", DType::float32);
  random = attributes.has("key");
  key = attributes.get_or("key", std::int64_t{0});
  weight_decay = attributes.get<double>("weight_decay");
  clipvalue = attributes.get<double>("clipvalue");
  beside = 2 + slots;
  scales = beside + (kept == detail::Kept::split || kept == detail::Kept::kahan ? 1 : 0);
  coded = slots > 0 && (slot == DType::int8 || slot == DType::uint8);
  for (std::size_t s = 0; coded && s < slots; ++s) slot_codes.push_back(request.inputs[2 + s].dtype);
  numbers = scales + slot_codes.size();
  places = request.inputs.size() - 1;
  const bool compact = has_compact_gradient(request);
  seed = request.inputs.size() - (compact ? 3 : 2);
  if (compact) {
    rows = request.inputs[0].shape.front();
    columns = columns_of(request);
  }
}

std::uint64_t UpdateRequest::slot_stream(const KernelArguments& arguments) const {
  return random ? step_stream(key, *arguments.in<double>(seed), *arguments.in<double>(seed + 1)) : 0;
}

std::uint64_t UpdateRequest::variable_stream(const KernelArguments& arguments) const {
  return detail::mix(slot_stream(arguments), 1);
}

}  // namespace mezzo
