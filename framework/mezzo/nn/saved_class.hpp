#pragma once
#include <any>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/constraint.hpp>
#include <mezzo/nn/fields.hpp>
#include <mezzo/nn/initializer.hpp>
#include <mezzo/nn/layer.hpp>
#include <mezzo/nn/loss.hpp>
#include <mezzo/nn/metric.hpp>
#include <mezzo/nn/optimizer.hpp>
#include <mezzo/nn/regularizer.hpp>
#include <mezzo/nn/schedule.hpp>

namespace mezzo {

namespace detail {

/// A class of a family (Layer, Loss, ...) that configs name, and how objects of it are written and made.
template <class Base>
struct SavedClass {
  std::string name;                                           ///< in configs: "Dense", "my>Scale"
  const std::type_info* type = nullptr;                       ///< the class
  std::any (*options)(const Base& object) = nullptr;          ///< options passed to an object's constructor; empty if
                                                              ///< unknown
  void (*write)(const std::any& options, Fields&) = nullptr;  ///< writes such options
  Any<Base> (*make)(Fields&, const std::string& name, const Policy& dtype) = nullptr;  ///< reads them
  Any<Base> (*copy)(const Base& object) = nullptr;                                     ///< copies an object
};

template <class L, class = void>
struct HasOptions : std::false_type {};
template <class L>
struct HasOptions<L, std::void_t<decltype(std::declval<const L&>().options())>> : std::true_type {};

/// Options of an object: the result of its function options(), else those that its base class has kept.
template <class L, class Options, class Base>
std::any options_of(const Base& object) {
  if constexpr (HasOptions<L>::value) {
    return Options(static_cast<const L&>(object).options());
  } else if constexpr (std::is_same_v<Base, Layer>) {
    return object.state()->options;
  } else {
    return object.made_of();
  }
}

template <class Options, class = void>
struct NamedOptions : std::false_type {};
template <class Options>
struct NamedOptions<Options, std::void_t<decltype(std::declval<Options&>().dtype = Policy())>> : std::true_type {};

/// Entry of a class whose constructor takes `Options`, which describe() describes.
template <class L, class Options, class Base>
SavedClass<Base> saved_class(const std::string& name) {
  SavedClass<Base> entry;
  entry.name = name;
  entry.type = &typeid(L);
  entry.options = [](const Base& object) { return options_of<L, Options, Base>(object); };
  entry.write = [](const std::any& options, Fields& fields) {
    auto copy = std::any_cast<Options>(options);
    describe(fields, copy);
  };
  entry.make = [](Fields& fields, const std::string& given, const Policy& dtype) -> Any<Base> {
    Options options{};
    if constexpr (std::is_same_v<Base, Layer>) {
      options.name = given;
      if constexpr (NamedOptions<Options>::value) options.dtype = dtype;
    }
    describe(fields, options);
    fields.finish();
    return L(std::move(options));
  };
  entry.copy = [](const Base& object) -> Any<Base> { return L(static_cast<const L&>(object)); };
  return entry;
}

/// Adds a class of the user. A NameError if another class has the name or the name has no package, "my>Name".
MEZZO_API void register_saved(SavedClass<Constraint> entry);
MEZZO_API void register_saved(SavedClass<Initializer> entry);
MEZZO_API void register_saved(SavedClass<Layer> entry);
MEZZO_API void register_saved(SavedClass<Loss> entry);
MEZZO_API void register_saved(SavedClass<Metric> entry);
MEZZO_API void register_saved(SavedClass<Optimizer> entry);
MEZZO_API void register_saved(SavedClass<Regularizer> entry);
MEZZO_API void register_saved(SavedClass<Schedule> entry);

template <class L, class... Bases>
struct FamilyOf;
template <class L, class Base, class... Rest>
struct FamilyOf<L, Base, Rest...>
    : std::conditional_t<std::is_base_of_v<Base, L>, std::common_type<Base*>, FamilyOf<L, Rest...>> {};
template <class L>
struct FamilyOf<L> {};

/// Family of a class: Layer, Loss, ...
template <class L>
using Family = std::remove_pointer_t<
    typename FamilyOf<L, Constraint, Initializer, Layer, Loss, Metric, Optimizer, Regularizer, Schedule>::type>;

}  // namespace detail

/// Registers a class of your own for save() and load_model(), as keras.saving.register_keras_serializable: a layer,
/// loss, metric, optimizer, schedule, initializer, regularizer or constraint. `Options` is the struct that its
/// constructor takes, with a function `describe(Fields&, Options&)` in its namespace (see Fields). A Layer, Loss or
/// Metric hands the struct to the constructor of its base class, `Layer("Scale", options)`, `Loss(options)`,
/// `Metric(options)`; an Optimizer uses common_options(); other classes have `const Options& options() const`.
///
///     register_class<Scale, ScaleOptions>("my>Scale");
///
/// The name has a package, so that it differs from those of mezzo. Register before saving and before loading, in every
/// program. A NameError for a name without a package, or of another class. Thread safe.
template <class L, class Options>
void register_class(const std::string& name) {
  detail::register_saved(detail::saved_class<L, Options, detail::Family<L>>(name));
}

/// register_class() for a layer.
template <class L, class Options>
void register_layer(const std::string& name) {
  static_assert(std::is_base_of_v<Layer, L>, "register_layer is for layers; use register_class");
  register_class<L, Options>(name);
}

}  // namespace mezzo
