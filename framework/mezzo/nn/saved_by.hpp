#pragma once
#include <mezzo/nn/saved_class.hpp>

namespace mezzo::detail {

/// Entry of a class whose constructor does not take the options struct of describe(): `get` returns the options struct
/// of an object, `make` makes an object of it. Captureless lambdas.
template <class Base, class L, class Options, class Get, class Make>
SavedClass<Base> saved_by(const std::string& name, Get, Make) {
  SavedClass<Base> entry;
  entry.name = name;
  entry.type = &typeid(L);
  entry.options = [](const Base& object) -> std::any { return Options(Get{}(static_cast<const L&>(object))); };
  entry.write = [](const std::any& options, Fields& fields) {
    auto copy = std::any_cast<Options>(options);
    describe(fields, copy);
  };
  entry.make = [](Fields& fields, const std::string&, const Policy&) -> Any<Base> {
    Options options{};
    describe(fields, options);
    fields.finish();
    return Make{}(options);
  };
  return entry;
}

/// Empty options, for a class without options.
struct NoOptions {};
inline void describe(Fields&, NoOptions&) {}

/// Entry of a class without options.
template <class Base, class L>
SavedClass<Base> saved_plain(const std::string& name) {
  return saved_by<Base, L, NoOptions>(
      name, [](const L&) { return NoOptions{}; }, [](const NoOptions&) { return L(); });
}

}  // namespace mezzo::detail
