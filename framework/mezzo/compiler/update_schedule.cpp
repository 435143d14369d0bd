#include <algorithm>
#include <tuple>
#include <utility>

#include <mezzo/compiler/plan_parts.hpp>
#include <mezzo/compiler/rewrite.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {

UpdateSchedule::UpdateSchedule(detail::Plan& plan, std::size_t computing, const Views& views)
    : plan_(plan), views_(views), computing_(computing) {
  advance_checks();
  for (std::size_t i = 0; i < computing; ++i) {
    const detail::Plan::Step& step = plan_.steps_[i];
    for (const std::size_t buffer : step.writes) written_[buffer] = i + 1;
    for (const std::size_t buffer : step.reads) {
      const detail::Plan::Buffer& read = plan_.buffers_[buffer];
      if (read.home != detail::Plan::Buffer::Home::arena) read_[{read.home, read.index}] = i + 1;
    }
    if (detail::has_effect(*step.node)) gates_at_ = i + 1;
  }
  for (const detail::Plan::Gate& gate : plan_.gates_) {
    const auto found = written_.find(views_.root(gate.buffer));
    if (found != written_.end()) gates_at_ = std::max(gates_at_, found->second);
  }
}

void UpdateSchedule::advance_checks() {
  std::map<std::size_t, std::size_t> written;
  std::vector<std::pair<std::size_t, std::size_t>> order;  // place, step
  for (std::size_t i = 0; i < computing_; ++i) {
    const detail::Plan::Step& step = plan_.steps_[i];
    std::size_t place = 2 * i;
    if (is(*step.node, ops::all_finite) && !step.copies) {
      place = 0;
      for (const std::size_t buffer : step.reads) {
        const auto found = written.find(views_.root(buffer));
        if (found != written.end()) place = std::max(place, found->second + 1);
      }
    }
    for (const std::size_t buffer : step.writes) written[buffer] = place;
    order.emplace_back(place, i);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<detail::Plan::Step> steps;
  for (const auto& entry : order) steps.push_back(std::move(plan_.steps_[entry.second]));
  std::move(steps.begin(), steps.end(), plan_.steps_.begin());
}

std::size_t UpdateSchedule::first_place(const detail::Plan::Step& update) const {
  std::size_t place = gates_at_;
  for (const std::size_t buffer : update.reads) {
    const auto found = written_.find(views_.root(buffer));
    if (found != written_.end()) place = std::max(place, found->second);
  }
  for (const std::size_t buffer : update.writes) {
    const detail::Plan::Buffer& target = plan_.buffers_[buffer];
    const auto found = read_.find({target.home, target.index});
    if (found != read_.end()) place = std::max(place, found->second);
  }
  return place;
}

std::size_t UpdateSchedule::rest_of_copy(const detail::Plan::Step& update) const {
  std::size_t rest = 0;
  for (const std::size_t buffer : update.writes) {
    const detail::Plan::Buffer& target = plan_.buffers_[buffer];
    if (target.home != detail::Plan::Buffer::Home::copy) continue;
    const auto found = read_.find({target.home, target.index});
    rest = computing_ - (found == read_.end() ? 0 : found->second);
  }
  return rest;
}

void UpdateSchedule::apply() {
  std::vector<std::tuple<std::size_t, std::size_t, std::size_t>> order;  // place, rest_of_copy(), step
  for (std::size_t i = 0; i < plan_.steps_.size(); ++i) {
    const detail::Plan::Step& step = plan_.steps_[i];
    if (i < computing_) {
      order.emplace_back(i + 1, 0, i);
    } else {
      order.emplace_back(first_place(step), rest_of_copy(step), i);
    }
  }
  std::sort(order.begin(), order.end());
  std::vector<detail::Plan::Step> steps;
  for (const auto& entry : order) steps.push_back(std::move(plan_.steps_[std::get<2>(entry)]));
  plan_.steps_ = std::move(steps);
  plan_.gates_at_ = gates_at_;
}

}  // namespace mezzo
