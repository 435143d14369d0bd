#include <algorithm>

#include <mezzo/compiler/plan_parts.hpp>

namespace mezzo {

std::size_t Views::root(std::size_t buffer) const {
  const auto found = roots_.find(buffer);
  return found == roots_.end() ? buffer : found->second;
}

void Views::lay(std::size_t buffer, std::size_t base) {
  const std::size_t bottom = root(base);
  for (auto& entry : roots_) {
    if (entry.second == buffer) entry.second = bottom;
  }
  roots_[buffer] = bottom;
}

BufferPlacement::BufferPlacement(detail::Plan& plan, Views& views)
    : plan_(plan), views_(views), lifetimes_(plan.buffers_.size()) {
  const auto& steps = plan_.steps_;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    for (const std::size_t b : steps[s].writes)
      lifetimes_[b] = {.bytes = bytes_of(plan_.buffers_[b].spec), .first = s, .last = s};
    for (const std::size_t b : steps[s].reads) lifetimes_[views_.root(b)].last = s;
  }
  const auto keep = [&](std::size_t b) { lifetimes_[views_.root(b)].last = steps.size(); };
  for (const std::size_t b : plan_.outputs_) keep(b);
  for (const auto& gate : plan_.gates_) keep(gate.buffer);
  for (const auto& commit : plan_.commits_) {
    if (!commit.in_place) keep(commit.buffer);
  }
}

void BufferPlacement::apply() {
  for (std::size_t s = 0; s < plan_.steps_.size(); ++s) overwrite(s);
  place();
}

void BufferPlacement::overwrite(std::size_t s) {
  for (std::size_t output = 0; output < plan_.steps_[s].writes.size(); ++output) overwrite(s, output);
}

void BufferPlacement::overwrite(std::size_t s, std::size_t output) {
  const detail::Plan::Step& step = plan_.steps_[s];
  const std::size_t to = step.writes[output];
  if (plan_.buffers_[to].home != detail::Plan::Buffer::Home::arena) return;
  const auto taken = [&](std::size_t from) {
    return std::any_of(step.writes.begin(), step.writes.end(), [&](std::size_t b) { return views_.root(b) == from; });
  };
  for (std::size_t i = 0; i < step.reads.size(); ++i) {
    const std::size_t from = views_.root(step.reads[i]);
    const bool alone =
        std::count_if(step.reads.begin(), step.reads.end(), [&](std::size_t b) { return views_.root(b) == from; }) == 1;
    const bool dies = plan_.buffers_[from].home == detail::Plan::Buffer::Home::arena && lifetimes_[from].last == s;
    const bool fits = lifetimes_[from].bytes == lifetimes_[to].bytes;
    if (!alone || !dies || !fits || taken(from) || !step.chosen.kernel->may_overwrite(i, output)) continue;
    lifetimes_[from].last = lifetimes_[to].last;
    views_.lay(to, from);
    return;
  }
}

std::vector<Lifetime> BufferPlacement::lifetimes_of_copies() const {
  const std::size_t end = plan_.steps_.size();
  std::vector<Lifetime> out;
  for (const detail::Plan::Copy& copy : plan_.copies_) {
    const ComputeCopies::Entry& entry = plan_.arena_->copies[copy.entry];
    out.push_back({.bytes = entry.bytes, .first = 0, .last = copy.written ? 0 : end, .offset = entry.offset});
  }
  const auto written = [&](const detail::Plan::Buffer& buffer) {
    return buffer.home == detail::Plan::Buffer::Home::copy && plan_.copies_[buffer.index].written;
  };
  for (std::size_t s = 0; s < end; ++s) {
    for (const std::size_t b : plan_.steps_[s].reads) {
      if (written(plan_.buffers_[b])) out[plan_.buffers_[b].index].last = s;
    }
    for (const std::size_t b : plan_.steps_[s].writes) {
      if (written(plan_.buffers_[b])) out[plan_.buffers_[b].index].first = s;
    }
  }
  return out;
}

void BufferPlacement::place() {
  std::vector<Lifetime> pieces;
  std::vector<std::size_t> owners;
  for (std::size_t b = 0; b < lifetimes_.size(); ++b) {
    if (plan_.buffers_[b].home != detail::Plan::Buffer::Home::arena || views_.has(b)) continue;
    pieces.push_back(lifetimes_[b]);
    owners.push_back(b);
  }
  for (std::size_t s = 0; s < plan_.steps_.size(); ++s) {
    pieces.push_back({.bytes = plan_.steps_[s].chosen.kernel->scratch_bytes(), .first = s, .last = s});
  }
  const std::vector<Lifetime> copies = lifetimes_of_copies();
  pieces.insert(pieces.end(), copies.begin(), copies.end());
  const MemoryPlan memory = plan_memory(pieces);
  for (std::size_t i = 0; i < owners.size(); ++i) plan_.buffers_[owners[i]].index = memory.offsets[i];
  for (std::size_t s = 0; s < plan_.steps_.size(); ++s) {
    plan_.steps_[s].scratch_offset = memory.offsets[owners.size() + s];
  }
  for (const auto& [view, base] : views_.roots()) {
    if (plan_.buffers_[view].home == detail::Plan::Buffer::Home::arena)
      plan_.buffers_[view].index = plan_.buffers_[base].index;
  }
  plan_.arena_bytes_ = memory.bytes;
}

}  // namespace mezzo
