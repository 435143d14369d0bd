#include <mezzo/nn/called_layer.hpp>

#include <algorithm>

namespace mezzo::detail {
namespace {

void keep(Node& node, CalledLayer content) {
  std::shared_ptr<const AttributeFunction> kept = std::make_shared<CalledLayer>(std::move(content));
  node.attributes.set(CalledLayer::attribute, std::move(kept));
}

bool is_one_of(const Value& value, const Values& all) {
  return std::any_of(all.begin(), all.end(), [&](const Value& other) { return other.same_as(value); });
}

}  // namespace

const CalledLayer* called_layer(const Node& node) {
  if (!node.attributes.has(CalledLayer::attribute)) return nullptr;
  const auto& kept = node.attributes.get<std::shared_ptr<const AttributeFunction>>(CalledLayer::attribute);
  return static_cast<const CalledLayer*>(kept.get());
}

void keep_called_layer(const Any<Layer>& layer, const Values& inputs, const Values& outputs) {
  for (const Value& y : outputs) {
    if (!y.node() || y.node()->variable || is_one_of(y, inputs) || called_layer(*y.node()) != nullptr) continue;
    CalledLayer content;
    content.layer = layer;
    keep(*y.node(), std::move(content));
  }
}

void keep_masks(const Values& outputs) {
  for (const Value& y : outputs) {
    const CalledLayer* known = y.node() ? called_layer(*y.node()) : nullptr;
    if (known == nullptr) continue;
    const auto same = [&](const auto& entry) { return entry.first == y.output(); };
    if (std::any_of(known->masks.begin(), known->masks.end(), same)) continue;  // passed through by a later call
    CalledLayer content = *known;
    const Value mask = y.mask();
    content.masks.push_back({y.output(), {mask.defined() ? mask.node() : nullptr, mask.output()}});
    keep(*y.node(), std::move(content));
  }
}

bool CalledLayer::gave(int output, const Value& mask) const {
  for (const auto& [place, given] : masks) {
    if (place != output) continue;
    const std::shared_ptr<Node> node = given.first.lock();
    return mask.defined() ? node != nullptr && node == mask.node() && given.second == mask.output() : node == nullptr;
  }
  return !mask.defined();
}

bool has_own_mask(const Value& value) {
  const CalledLayer* call = value.node() ? called_layer(*value.node()) : nullptr;
  return call == nullptr ? !value.mask().defined() : call->gave(value.output(), value.mask());
}

Values call_again(Layer& layer, const GraphLayout::Call& call, const Values& xs) {
  const std::size_t count = xs.size() - call.masked.size();
  const Values inputs(xs.begin(), xs.begin() + static_cast<std::ptrdiff_t>(count));
  CallOptions options{.training = call.training};
  if (!call.masked.empty()) {
    Values masks(count);
    for (std::size_t i = 0; i < call.masked.size(); ++i) {
      masks.at(static_cast<std::size_t>(call.masked[i])) = xs[count + i];
    }
    options.mask = masks;
  }
  return call.arguments.empty() ? layer(inputs, options) : layer.call_with(call.arguments, inputs, options);
}

}  // namespace mezzo::detail
