#pragma once
#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <typeinfo>

namespace mezzo::detail {

/// Name of a class as C++ writes it: "mezzo::loggers::CSVLogger".
inline std::string demangled(const std::type_info& type) {
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(type.name(), nullptr, nullptr, nullptr),
                                                    std::free);
  return text ? text.get() : type.name();
}

}  // namespace mezzo::detail
