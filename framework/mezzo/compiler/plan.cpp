#include <mezzo/compiler/plan.hpp>

#include <algorithm>
#include <cstring>

#include <mezzo/compiler/int8_products.hpp>
#include <mezzo/compiler/work.hpp>
#include <mezzo/core/compute_scope.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/usage.hpp>

namespace mezzo {
namespace {

bool lists(const std::vector<int>& groups, int group) {
  return std::find(groups.begin(), groups.end(), group) != groups.end();
}

}  // namespace

void detail::Plan::run(const std::vector<Tensor>& inputs, const std::vector<double>& runtime, bool seek, bool check,
                       UpdateCount* count) {
  const detail::ComputeScope computing;
  const detail::InsideStep inside(this, computes_with);
  profile_.start();
  take(inputs, runtime);
  bind(input_addresses_.data());
  end_of(Chore::bind);
  refresh_copies();
  end_of(Chore::refresh_copies);
  run_steps(0, gates_at_, count);
  ask_gates(seek);
  end_of(Chore::ask_gates);
  run_steps(gates_at_, steps_.size(), count);
  if (check) check_outputs();
  commit();
  end_of(Chore::commit);
  profile_.finish();
}

void detail::Plan::run_body(const void* const* inputs) {
  bind(inputs);
  for (Step& step : steps_) {
    step.chosen.kernel->run({step.in.data(), step.out.data(), arena_->data() + step.scratch_offset});
  }
}

bool detail::Plan::computes_with(const void* plan, const detail::Usage& usage) {
  const auto& self = *static_cast<const detail::Plan*>(plan);
  const auto is = [&](const auto& variable) { return &variable->usage == &usage; };
  return std::any_of(self.variables_.begin(), self.variables_.end(), is) ||
         std::any_of(self.copies_.begin(), self.copies_.end(), [&](const Copy& copy) { return is(copy.variable); });
}

void detail::Plan::take(const std::vector<Tensor>& inputs, const std::vector<double>& runtime) {
  for (std::size_t i = 0; i < input_specs_.size(); ++i) {
    const bool fits =
        i < inputs.size() && inputs[i].shape() == input_specs_[i].shape && inputs[i].dtype() == input_specs_[i].dtype;
    if (!fits) {
      fail<ShapeError>("[Plan]", "input {} must be {}; got {}", i, to_string(input_specs_[i]),
                       i < inputs.size() ? inputs[i].describe() : "nothing");
    }
  }
  if (inputs.size() > input_specs_.size() || runtime.size() != runtime_.size()) {
    fail<ValueError>("[Plan]", "takes {} inputs and {} numbers; got {} and {}", input_specs_.size(), runtime_.size(),
                     inputs.size(), runtime.size());
  }
  std::copy(runtime.begin(), runtime.end(), runtime_.begin());
  for (std::size_t i = 0; i < inputs.size(); ++i) input_addresses_[i] = inputs[i].raw();
  arena_->reserve(arena_bytes_);  // another plan of the model may have reallocated it
  arena_->copies.forget_others(used_copies_, arena_bytes_);
}

void detail::Plan::bind(const void* const* inputs) {
  for (Buffer& buffer : buffers_) {
    const std::size_t i = buffer.index;
    switch (buffer.home) {
      case Buffer::Home::arena:
        buffer.address = arena_->data() + i;
        break;
      case Buffer::Home::input:
        buffer.address = const_cast<void*>(inputs[i]);
        break;
      case Buffer::Home::runtime:
        buffer.address = &runtime_[i];
        break;
      case Buffer::Home::constant:
        buffer.address = const_cast<void*>(constants_[i].raw());
        break;
      case Buffer::Home::copy:
        buffer.address = address_of(copies_[i]);
        break;
      case Buffer::Home::variable: {
        Tensor& value = variables_[i]->value;
        if (value.dtype() != buffer.spec.dtype) {
          fail<DTypeError>(fmt::format("[Variable \"{}\"]", variables_[i]->name),
                           "must be {} as it was when the step was compiled; got {}", buffer.spec.dtype, value.dtype());
        }
        buffer.address = written_[i] ? value.mutable_raw() : const_cast<void*>(value.raw());
        break;
      }
    }
  }
  for (Step& step : steps_) {
    for (std::size_t i = 0; i < step.reads.size(); ++i) step.in[i] = buffers_[step.reads[i]].address;
    for (std::size_t i = 0; i < step.writes.size(); ++i) step.out[i] = buffers_[step.writes[i]].address;
  }
}

void detail::Plan::refresh_copies() {
  for (Copy& copy : copies_) {
    std::uint64_t& version = arena_->copies[copy.entry].version;
    if (version != copy.variable->version) {
      const void* in = copy.variable->value.raw();
      void* out = address_of(copy);
      copy.refresh->run({&in, &out, nullptr});
    }
    // Kernels of this run may overwrite a copy that its update writes again.
    version = copy.written ? ComputeCopies::stale : copy.variable->version;
  }
}

void detail::Plan::run_steps(std::size_t begin, std::size_t end, UpdateCount* count) {
  for (std::size_t i = begin; i < end; ++i) {
    Step& step = steps_[i];
    if (step.updates && !committed(step.group)) continue;
    std::optional<UpdateSample> sample;
    if (count != nullptr && !step.copies) sample.emplace(*step.node, step.in);
    step.chosen.kernel->run({step.in.data(), step.out.data(), arena_->data() + step.scratch_offset});
    if (sample) sample->count(step.out.front(), *count);
    profile_.lap(i);
  }
}

void detail::Plan::ask_gates(bool seek) {
  closed_.clear();
  left_out_.clear();
  overflows_.clear();
  const Gate* failed = nullptr;
  for (const Gate& gate : gates_) {
    if (opened(gate)) continue;
    if (gate.on_failure == Graph::OnFailure::leave_out) {
      left_out_.push_back(gate.group);
      continue;
    }
    if (gate.on_failure == Graph::OnFailure::error && failed == nullptr) failed = &gate;
    closed_.push_back(gate.group);
  }
  if (closed_.empty()) return;
  if (seek || failed != nullptr) seek_overflow();
  if (failed != nullptr) throw NonFiniteError(error_of(*failed, overflow(failed->group)));
}

bool detail::Plan::committed(int group) const {
  if (lists(left_out_, group)) return false;
  if (closed_.empty()) return true;
  return group >= 0 && !lists(closed_, group);
}

bool detail::Plan::left_out(int group) const { return lists(left_out_, group) && !lists(closed_, group); }

void detail::Plan::commit() {
  for (const Commit& commit : commits_) {
    if (!committed(commit.group)) continue;
    detail::VariableState& variable = *commit.variable;
    if (!commit.in_place) {
      std::memcpy(variable.value.mutable_raw(), buffers_[commit.buffer].address, variable.value.bytes());
    }
    ++variable.version;
  }
  for (const Copy& copy : copies_) {
    if (copy.written && committed(copy.group)) arena_->copies[copy.entry].version = copy.variable->version;
  }
}

double detail::Plan::scalar(std::size_t i) const {
  const Buffer& buffer = buffers_[outputs_[i]];
  if (buffer.spec.dtype == DType::float32) return *static_cast<const float*>(buffer.address);
  if (buffer.spec.dtype == DType::float64) return *static_cast<const double*>(buffer.address);
  return output(i).item();
}

Tensor detail::Plan::output(std::size_t i) const {
  const Buffer& buffer = buffers_[outputs_[i]];
  Tensor tensor = Tensor::uninitialized(buffer.spec.shape, buffer.spec.dtype);
  if (tensor.bytes() > 0) std::memcpy(tensor.mutable_raw(), buffer.address, tensor.bytes());
  return tensor;
}

std::vector<std::size_t> detail::Plan::lap_order() const {
  const auto lap = [&](Chore chore) { return steps_.size() + static_cast<std::size_t>(chore); };
  std::vector<std::size_t> order{lap(Chore::bind), lap(Chore::refresh_copies)};
  for (std::size_t i = 0; i < gates_at_; ++i) order.push_back(i);
  order.push_back(lap(Chore::ask_gates));
  for (std::size_t i = gates_at_; i < steps_.size(); ++i) order.push_back(i);
  order.push_back(lap(Chore::commit));
  return order;
}

std::vector<detail::Plan::Row> detail::Plan::rows() const {
  std::vector<Row> rows;
  for (const Step& step : steps_) {
    const bool int8 = is_int8_product(*step.node->op, step.node->attributes);
    Row row{.op = step.node->op->name + (int8 ? " int8" : ""),
            .path = step.node->path,
            .kernel = step.chosen.implementation,
            .detail = step.chosen.kernel->detail(),
            .outputs = "",
            .declined = step.chosen.declined,
            .again = step.node->again};
    KernelRequest request{.op = step.node->op,
                          .attributes = step.node->attributes,
                          .inputs = {},
                          .outputs = step.node->outputs,
                          .where = ""};
    for (const std::size_t read : step.reads) request.inputs.push_back(buffers_[read].spec);
    for (const auto* specs : {&request.inputs, &request.outputs}) {
      for (const Spec& spec : *specs) row.bytes += bytes_of(spec);
    }
    for (const Spec& spec : request.outputs) row.outputs += (row.outputs.empty() ? "" : ", ") + to_string(spec);
    row.operations = operations(request);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace mezzo
