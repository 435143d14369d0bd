#pragma once
#include <type_traits>
#include <utility>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/positional.hpp>

// Constructors with Keras' first arguments, without a name, of layers for 1 to 3 spatial axes. `Base` has the type
// `Options`, a constructor that takes them, and the class name `kind`.
namespace mezzo::detail {

/// Constructors with `filters` and `kernel_size`: `Conv1D(32, 3, {.strides = 2})`, `Conv1D(32, {.kernel_size = 3})`.
template <class Base>
class MEZZO_API FiltersFirst : public Base {
 public:
  using Options = typename Base::Options;
  explicit FiltersFirst(Options options = {}) : Base(std::move(options)) {}

  template <class I, IfInteger<I> = 0>
  explicit FiltersFirst(I filters, Options options = {})
      : FiltersFirst(positional(Base::kind, options.name, "filters", &Options::filters,
                                static_cast<std::int64_t>(filters), options)) {}
  template <class I, class S, IfInteger<I> = 0, IfOther<S, Ints> = 0>
  explicit FiltersFirst(I filters, const S& kernel_size, Options options = {})
      : FiltersFirst(filters, Ints(kernel_size), std::move(options)) {}
  template <class I, class S = Ints, IfInteger<I> = 0, IfSame<S, Ints> = 0>
  explicit FiltersFirst(I filters, const S& kernel_size, Options options = {})
      : FiltersFirst(filters,
                     positional(Base::kind, options.name, "kernel_size", &Options::kernel_size, kernel_size, options)) {
  }
};

/// Constructors with the option `Base::first`, which has the name `Base::first_name`: `MaxPooling1D(3)`,
/// `MaxPooling3D({2, 3, 1}, {.padding = "same"})`.
template <class Base>
class MEZZO_API SizesFirst : public Base {
 public:
  using Options = typename Base::Options;
  using First = std::decay_t<decltype(std::declval<Options&>().*Base::first)>;
  explicit SizesFirst(Options options = {}) : Base(std::move(options)) {}

  template <class S, IfOther<S, First> = 0>
  explicit SizesFirst(const S& sizes, Options options = {}) : SizesFirst(First(sizes), std::move(options)) {}
  template <class S = First, IfSame<S, First> = 0>
  explicit SizesFirst(const S& sizes, Options options = {})
      : SizesFirst(positional(Base::kind, options.name, Base::first_name, Base::first, sizes, options)) {}
};

}  // namespace mezzo::detail
