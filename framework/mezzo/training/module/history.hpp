#pragma once
#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/names.hpp>

namespace mezzo {

class Logs;

namespace detail {
/// Numbers of epochs by name: `history["loss"]`, `at("loss")`. Looking up never adds a name.
class MEZZO_API NumbersByName : public NameMap<std::vector<double>> {
 public:
  using NameMap::NameMap;
  NumbersByName() = default;

  /// Numbers of that name. A NameError that lists the names if there is none.
  const std::vector<double>& at(const std::string& name) const;
  const std::vector<double>& operator[](const std::string& name) const { return at(name); }
  // Also a literal 0.
  const std::vector<double>& at(std::nullptr_t) const = delete;
  const std::vector<double>& operator[](std::nullptr_t) const = delete;
};
}  // namespace detail

/// Result of fit: one number per epoch for each logged name. `history["loss"]` has one number for each of `epoch`.
/// Names that some epochs don't log, as "val_loss" with validation_freq, have one for each of `epochs_of("val_loss")`.
struct MEZZO_API History {
  std::vector<int> epoch{};                  ///< numbers of the epochs that ran; the first of a training is 0
  detail::NumbersByName history{};           ///< "loss", "val_loss", ...: numbers by epoch
  detail::NameMap<std::vector<int>> some{};  ///< epochs of the names that not all epochs log

  /// Epochs of the numbers of that name. A NameError that lists the names if there is none.
  const std::vector<int>& epochs_of(const std::string& name) const;
  const std::vector<int>& epochs_of(std::nullptr_t) const = delete;  // also a literal 0

  /// Adds the numbers of one epoch.
  void add(int number, const Logs& logs);

  /// Numbers of that name. A NameError that lists the names if there is none.
  const std::vector<double>& operator[](const std::string& name) const { return history.at(name); }
  const std::vector<double>& operator[](std::nullptr_t) const = delete;  // also a literal 0

  /// True: numbers were logged under that name.
  bool contains(const std::string& name) const { return history.count(name) != 0; }
};

/// True if both have the same epochs and the same numbers.
MEZZO_API bool operator==(const History& a, const History& b);
inline bool operator!=(const History& a, const History& b) { return !(a == b); }

/// Prints one line: "epoch=[0, 1] loss=[0.5, 0.25]".
MEZZO_API std::ostream& operator<<(std::ostream& out, const History& history);

}  // namespace mezzo
