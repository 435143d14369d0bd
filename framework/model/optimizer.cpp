#include <mezzo/model/optimizer.hpp>

#include <algorithm>

namespace mezzo {

Optimizer::Optimizer(std::string kind, OptimizerCommon common) : kind_(std::move(kind)), common_(std::move(common)) {
  const double clips[] = {common_.clipnorm, common_.clipvalue, common_.global_clipnorm};
  int set = 0;
  for (const double clip : clips) {
    require(clip >= 0, "clipnorm, clipvalue and global_clipnorm must not be negative");
    set += clip > 0 ? 1 : 0;
  }
  require(set <= 1, "at most one of clipnorm, clipvalue and global_clipnorm may be set");
  require(common_.learning_rate.at(0) >= 0, "learning_rate must not be negative");
  require(common_.weight_decay >= 0, "weight_decay must not be negative");
}

std::shared_ptr<VariableState> Optimizer::slot(const std::shared_ptr<VariableState>& variable, std::size_t index,
                                               const std::string& name) {
  auto& all = state_->slots;
  auto found =
      std::find_if(all.begin(), all.end(), [&](const Slots& entry) { return entry.variable.pointer() == variable; });
  if (found == all.end()) found = all.insert(all.end(), Slots{Shared<VariableState>(variable), {}});
  auto& slots = found->values;
  while (slots.size() <= index) slots.emplace_back(std::in_place, variable->name + "/" + name);
  VariableState& slot = *slots[index];
  const DType dtype = accumulation_dtype(variable->value.dtype());
  if (!slot.filled) {
    slot.assign(Tensor(variable->value.shape(), dtype));
  } else if (slot.value.dtype() != dtype) {
    slot.value = slot.value.cast(dtype);
  }
  return slots[index].pointer();
}

void Optimizer::require(bool good, const std::string& text) const {
  if (!good) throw ValueError("[" + kind_ + "] " + text);
}

}  // namespace mezzo
