#include <mezzo/training/means.hpp>

#include <algorithm>
#include <limits>

namespace mezzo::detail {

void Means::add(const StepRunner& runner, std::int64_t samples) {
  const std::vector<Logged>& logged = runner.logged();
  for (std::size_t i = 0; i < logged.size(); ++i) {
    Entry& entry = entry_of(logged[i], i);
    if (runner.skipped()) continue;
    if (!entry.metric) entry.total += runner.value(i) * static_cast<double>(samples);
    entry.samples += static_cast<double>(samples);
  }
}

std::vector<std::pair<std::string, double>> Means::numbers(bool prog_bar_only) const {
  std::vector<std::pair<std::string, double>> out;
  for (const Entry& entry : entries_) {
    if (prog_bar_only && !entry.prog_bar) continue;
    double number = std::numeric_limits<double>::quiet_NaN();
    if (entry.samples > 0) number = entry.metric ? entry.metric->result().item() : entry.total / entry.samples;
    out.emplace_back(entry.name, number);
  }
  return out;
}

bool Means::has(const std::string& name) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.name == name; });
}

Means::Entry& Means::entry_of(const Logged& logged, std::size_t likely) {
  if (likely < entries_.size() && entries_[likely].name == logged.name) return entries_[likely];
  for (Entry& entry : entries_) {
    if (entry.name == logged.name) return entry;
  }
  return entries_.emplace_back(Entry{logged.name, logged.prog_bar, logged.metric});
}

}  // namespace mezzo::detail
