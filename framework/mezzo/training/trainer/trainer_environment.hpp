#pragma once
#include <optional>
#include <string>
#include <utility>

#include <mezzo/core/api.hpp>

namespace mezzo::detail {

/// Value of the environment variable `MEZZO_TRAINER_<OPTION>` as a default of an option of Trainer.
class MEZZO_API FromEnvironment {
 public:
  /// `option`: name in TrainerOptions.
  explicit FromEnvironment(const char* option);

  /// The value, or none if the variable isn't set. A ValueError if it has another form.
  template <class T>
  operator std::optional<T>() const {
    return text_ ? std::optional<T>(parse<T>()) : std::nullopt;
  }

  template <class T>
  T value_or(T otherwise) const {
    return text_ ? parse<T>() : std::move(otherwise);
  }

 private:
  /// Defined for the types of options.
  template <class T>
  T parse() const;
  template <class T>
  T whole_number() const;
  [[noreturn]] void refuse(const char* form) const;

  const char* option_;
  std::optional<std::string> text_;
};

inline FromEnvironment from_environment(const char* option) { return FromEnvironment(option); }

/// Throws a ValueError for a variable `MEZZO_TRAINER_...` that is not an option of Trainer.
void check_trainer_environment();

}  // namespace mezzo::detail
