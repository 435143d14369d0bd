#include <mezzo/training/module/logs.hpp>

#include <algorithm>
#include <ostream>
#include <set>
#include <sstream>

#include <mezzo/core/fail.hpp>
#include <mezzo/training/module/history.hpp>

namespace mezzo {
namespace {

auto find_in(const std::vector<Logs::Entry>& entries, const std::string& name) {
  return std::find_if(entries.begin(), entries.end(), [&](const Logs::Entry& entry) { return entry.first == name; });
}

template <class Entries>
std::vector<std::string> names_in(const Entries& entries) {
  std::vector<std::string> names;
  for (const auto& entry : entries) names.push_back(entry.first);
  return names;
}

}  // namespace

Logs::Logs(std::vector<Entry> entries) : entries_(std::move(entries)) {
  std::set<std::string> names;
  for (const Entry& entry : entries_) {
    if (!names.insert(entry.first).second) {
      fail<NameError>("[Logs]", "names must differ; got \"{}\" twice", entry.first);
    }
  }
}

double Logs::at(const std::string& name) const {
  const auto found = find_in(entries_, name);
  if (found == entries_.end()) fail_unknown("[Logs]", "name", name, names_in(entries_));
  return found->second;
}

void Logs::set(const std::string& name, double number) {
  for (Entry& entry : entries_) {
    if (entry.first != name) continue;
    entry.second = number;
    return;
  }
  entries_.emplace_back(name, number);
}

bool Logs::contains(const std::string& name) const { return find_in(entries_, name) != entries_.end(); }

bool operator==(const Logs& a, const Logs& b) {
  return std::map<std::string, double>(a) == std::map<std::string, double>(b);
}

std::ostream& operator<<(std::ostream& out, const Logs& logs) {
  const char* separator = "";
  for (const Logs::Entry& entry : logs) {
    out << separator << entry.first << '=' << entry.second;
    separator = " ";
  }
  return out;
}

const std::vector<double>& detail::NumbersByName::at(const std::string& name) const {
  const auto found = find(name);
  if (found == end()) fail_unknown("[History]", "name", name, names_in(*this));
  return found->second;
}

const std::vector<int>& History::epochs_of(const std::string& name) const {
  if (history.count(name) == 0) fail_unknown("[History]", "name", name, names_in(history));
  const auto found = some.find(name);
  return found == some.end() ? epoch : found->second;
}

void History::add(int number, const Logs& logs) {
  for (const auto& [name, value] : logs) {
    std::vector<double>& numbers = history.try_emplace(name).first->second;
    if (numbers.empty() && !epoch.empty()) some[name] = {};  // earlier epochs didn't log it
    numbers.push_back(value);
    if (some.count(name) != 0) some[name].push_back(number);
  }
  for (const auto& [name, numbers] : history) {
    if (numbers.size() <= epoch.size() && some.count(name) == 0) some[name] = epoch;
  }
  epoch.push_back(number);
}

void detail::print_logs(const Logs& logs, const PrintOptions& options) {
  std::ostringstream line;
  line << logs;
  print_text(line.str(), options);
}

bool operator==(const History& a, const History& b) {
  return a.epoch == b.epoch && a.history == b.history && a.some == b.some;
}

std::ostream& operator<<(std::ostream& out, const History& history) {
  out << fmt::format("epoch=[{}]", fmt::join(history.epoch, ", "));
  for (const auto& entry : history.history) {
    out << ' ' << entry.first << "=[";
    const char* separator = "";
    for (const double number : entry.second) {
      out << separator << number;
      separator = ", ";
    }
    out << ']';
  }
  return out;
}

}  // namespace mezzo
