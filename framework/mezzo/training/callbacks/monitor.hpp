#pragma once
#include <optional>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/training/callbacks/callback.hpp>

namespace mezzo {

/// The number that a callback follows: its name in logs and the direction of improvement.
class MEZZO_API Monitor {
 public:
  /// `mode`: "min", "max" or "auto", which picks the direction by the name: losses and errors are to fall, accuracies
  /// and scores to rise. A NameError for another mode.
  Monitor(std::string callback, std::string name, std::string mode, double min_delta = 0);

  /// Finds the direction. A ValueError under "auto" for a name that is none of Keras' losses and metrics.
  void resolve();

  /// True if `value` is better than `reference` by more than min_delta; without a reference always.
  bool improves(double value, const std::optional<double>& reference) const;

  const std::string& name() const { return name_; }
  bool rises() const { return rises_; }  ///< true if larger numbers are better; known after resolve()

  /// The number in logs. If there is none, a warning that lists the names in logs, or a ValueError if it is `required`.
  std::optional<double> value(const Logs& logs, bool required = false) const;

 private:
  std::string callback_, name_, mode_;
  double min_delta_;
  bool rises_ = false;
};

}  // namespace mezzo
