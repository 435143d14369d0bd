#include <algorithm>

#include <mezzo/compiler/plan.hpp>

namespace mezzo {

void Plan::seek_overflow() {
  Overflows found;
  // Nothing has been written but the arena, so the same numbers come again, and at the end all is as it was.
  for (std::size_t i = 0; i < gates_at_; ++i) {
    const Step& step = steps_[i];
    if (!step.copies) note_operands(step, found);
    step.chosen.kernel->run({step.in.data(), step.out.data(), arena_->data() + step.scratch_offset});
    for (std::size_t j = 0; j < step.writes.size() && !step.copies; ++j) {
      const Spec& spec = buffers_[step.writes[j]].spec;
      if (!all_finite(step.out[j], spec)) found.note(step.node, spec.dtype, {});
    }
  }
  for (const Gate& gate : gates_) {
    if (opened(gate) || overflow(gate.group)) continue;
    const std::optional<Overflow> overflow = found.behind(gate.ok);
    if (overflow) overflows_.emplace_back(gate.group, *overflow);
  }
}

/// Inputs, constants, variables and their compute copies, which no kernel of the plan computes.
void Plan::note_operands(const Step& step, Overflows& overflows) const {
  for (std::size_t i = 0; i < step.reads.size(); ++i) {
    const Buffer& buffer = buffers_[step.reads[i]];
    if (buffer.home == Buffer::Home::arena || all_finite(step.in[i], buffer.spec)) continue;
    NodePtr node = step.node->inputs[i].node();
    while (node->op->view) node = node->inputs.front().node();
    if (buffer.home == Buffer::Home::copy) {
      const NodePtr& source = node->inputs.front().node();
      const Tensor& value = source->variable->value;
      const Spec spec{value.shape(), value.dtype()};
      if (!all_finite(value.raw(), spec)) overflows.note(source, spec.dtype, step.node->path);
    }
    overflows.note(node, buffer.spec.dtype, step.node->path);
  }
}

std::optional<Overflow> Plan::overflow(int group) const {
  const auto found =
      std::find_if(overflows_.begin(), overflows_.end(), [&](const auto& entry) { return entry.first == group; });
  if (found == overflows_.end()) return {};
  return found->second;
}

}  // namespace mezzo
