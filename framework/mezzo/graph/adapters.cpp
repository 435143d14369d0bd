#include <mezzo/graph/adapters.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <mezzo/core/float_bits.hpp>
#include <mezzo/core/random.hpp>

namespace mezzo::detail {
namespace {

std::uint64_t address_of(const VariableState* variable) {
  return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(variable));
}

}  // namespace

double Adapter::scale() const {
  const auto ranks = static_cast<double>(rank());
  return alpha / (use_rslora ? std::sqrt(ranks) : ranks);
}

const Adapter* Adapters::find(const std::string& name) const {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Adapter& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

const Adapter* Adapters::in_use() const { return disabled > 0 || merged ? nullptr : find(active); }

void Adapters::activate(const std::string& name) {
  active = find(name) == nullptr ? "" : name;
  for (Adapter& one : all) one.a->trainable = one.b->trainable = one.name == active;
}

std::uint64_t Adapters::signature() const {
  std::uint64_t hash = mix(all.size(), disabled > 0 ? 1 : 0);
  hash = mix(hash, merged ? address_of(merged->get()) : 0);
  const Adapter* const used = find(active);
  if (used == nullptr) return hash;
  hash = mix(hash, mix(address_of(used->a.get()), address_of(used->b.get())));
  return mix(hash, mix(bits_of(used->scale()), bits_of(used->dropout)));
}

std::shared_ptr<Adapters> copy_of(const Adapters& adapters) {
  auto copy = std::make_shared<Adapters>(adapters);
  if (std::exchange(copy->disabled, 0) > 0) copy->activate("");  // the scope is of the original
  return copy;
}

bool is_merged(const Adapters& adapters) { return adapters.merged.has_value(); }

}  // namespace mezzo::detail
