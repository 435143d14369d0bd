#include <mezzo/training/step/means.hpp>

#include <algorithm>
#include <iterator>
#include <limits>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {

double Means::Entry::number() const {
  if (!(samples > 0)) return std::numeric_limits<double>::quiet_NaN();
  if (metric) return metric->result().item();
  return targets.reduction == Reduction::mean ? total / samples : total;
}

void Means::Entry::add(double value, double count) {
  const bool first = !(samples > 0);
  switch (targets.reduction) {
    case Reduction::mean:
      total += value * count;
      break;
    case Reduction::sum:
      total += value;
      break;
    case Reduction::min:
      if (first || value < total) total = value;
      break;
    case Reduction::max:
      if (first || value > total) total = value;
      break;
  }
  last = value;
  samples += count;
}

void Means::set(const std::string& name, double number) {
  auto entry = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& one) { return one.name == name; });
  if (entry == entries_.end()) {
    entries_.push_back({.name = name, .targets = {.logger_epoch = true}, .of_hook = true});
    entry = std::prev(entries_.end());
  } else if (!entry->of_hook) {
    fail<NameError>("[Module]",
                    "log(\"{}\", ...): names of hooks and steps must differ; got one that a step has logged", name);
  }
  entry->total = entry->last = number;
  entry->samples = 1;
}

Numbers Means::for_history() const {
  Numbers out;
  for (const Entry& entry : entries_) {
    if (entry.targets.history) out.emplace_back(entry.name, entry.number());
  }
  return out;
}

void add_missing(Numbers& numbers, const Numbers& others) {
  for (const auto& other : others) {
    const auto same = [&](const auto& one) { return one.first == other.first; };
    if (std::none_of(numbers.begin(), numbers.end(), same)) numbers.push_back(other);
  }
}

Numbers Means::for_bar() const {
  Numbers out;
  for (const Entry& entry : entries_) {
    if (!entry.targets.prog_bar) continue;
    out.emplace_back(entry.name, entry.targets.history ? entry.number() : entry.last);
  }
  return out;
}

namespace {

/// Name of a number for loggers, with an ending if there are numbers of both steps and epochs.
std::string logger_name(const Means::Entry& entry, const Means::Key& key, const char* ending) {
  std::string name = key ? key(entry.name) : entry.name;
  if (entry.targets.logger_step && entry.targets.logger_epoch) {
    name.insert(std::min(name.find("/dataloader_idx_"), name.size()), ending);
  }
  return name;
}

}  // namespace

Logs Means::for_loggers_by_step(const BatchResult& batch_result, const Key& key) const {
  Logs out;
  for (const Entry& entry : entries_) {
    if (!entry.targets.logger_step || entry.closed || !(entry.samples > 0)) continue;
    const auto number = entry.metric ? batch_result(entry.metric) : entry.last;
    if (number) out.set(logger_name(entry, key, "_step"), *number);
  }
  return out;
}

Logs Means::for_loggers_by_epoch(const Key& key) const {
  Logs out;
  for (const Entry& entry : entries_) {
    if (entry.targets.logger_epoch) out.set(logger_name(entry, key, "_epoch"), entry.number());
  }
  return out;
}

bool Means::has(const std::string& name) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.name == name; });
}

void Means::end_loader() {
  for (Entry& entry : entries_) {
    entry.closed = true;
    if (!entry.metric) continue;
    entry.total = entry.samples > 0 ? entry.number() * entry.samples : 0;
    entry.metric = {};
  }
}

Means::Entry& Means::entry_of(const Logged& logged, std::size_t likely, const std::string& suffix) {
  const std::string& end = logged.targets.add_dataloader_idx ? suffix : std::string();
  const auto same = [&](const Entry& entry) {
    return entry.name.size() == logged.name.size() + end.size() &&
           entry.name.compare(0, logged.name.size(), logged.name) == 0 &&
           entry.name.compare(logged.name.size(), end.size(), end) == 0;
  };
  if (likely >= entries_.size() || !same(entries_[likely])) {
    const auto found = std::find_if(entries_.begin(), entries_.end(), same);
    likely = static_cast<std::size_t>(found - entries_.begin());
  }
  if (likely == entries_.size()) entries_.push_back({.name = logged.name + end});
  if (entries_[likely].of_hook) {
    fail<NameError>("[Module]",
                    "log(\"{}\", ...): names of hooks and steps must differ; got one that a hook has logged",
                    logged.name);
  }
  if (entries_[likely].closed) {
    fail<ValueError>("[Module]",
                     "log(\"{}\", ...): several loaders must log different names without add_dataloader_idx; got the "
                     "same name of two",
                     logged.name);
  }
  entries_[likely].targets = logged.targets;
  entries_[likely].metric = logged.metric;  // entries of a resumed epoch have none yet
  return entries_[likely];
}

}  // namespace mezzo::detail
