#pragma once
#include <optional>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/training/module/beats.hpp>
#include <mezzo/training/module/callback.hpp>

namespace mezzo {

namespace detail {
/// The number that a callback follows: its name in logs and the direction of improvement.
class MEZZO_API Monitor {
 public:
  /// `mode`: "min", "max" or "auto": losses and errors should fall, accuracies and scores should rise. A NameError for
  /// another mode.
  Monitor(std::string callback, std::string name, std::string mode, double min_delta = 0);

  /// Finds the direction, at the start of a fit. "auto" derives it from the class of the compiled model's metric of
  /// that name, else from the name. A ValueError if neither is known.
  void resolve(const Session& session);

  /// True if `value` beats `reference` by more than min_delta. NaN beats nothing. Any number beats NaN and no
  /// reference.
  bool improves(double value, const std::optional<double>& reference) const;

  const std::string& name() const { return name_; }
  bool rises() const { return rises_; }  ///< true if larger numbers are better; known after resolve()

  /// Reaction to logs without the number.
  enum class Missing {
    warning,         ///< always a warning
    error_at_first,  ///< a ValueError until the number was logged once, later a warning
    error            ///< always a ValueError
  };

  /// The number in logs. If there is none, a warning or a ValueError that lists the names in logs; nothing as long as
  /// the epoch's validation may still log it.
  std::optional<double> value(const Logs& logs, const Session& session, Missing missing = Missing::error_at_first);

 private:
  std::string callback_, name_, mode_;
  double min_delta_;
  bool rises_ = false;
  bool seen_ = false;  // since resolve()
};
}  // namespace detail

}  // namespace mezzo
