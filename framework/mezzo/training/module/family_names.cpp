#include <mezzo/training/module/family_names.hpp>

#include <mezzo/core/registered_names.hpp>

namespace mezzo {

void register_names(const NameTable<Logger>& names) { detail::registered_names<Logger>() = &names; }
void register_names(const NameTable<Profiler>& names) { detail::registered_names<Profiler>() = &names; }

Any<Logger> Logger::from_name(const std::string& name) { return detail::names_of<Logger>("logger", name).at(name); }

Any<Profiler> Profiler::from_name(const std::string& name) {
  return detail::names_of<Profiler>("profiler", name).at(name);
}

}  // namespace mezzo
