#pragma once
#include <string>
#include <vector>

#include <mezzo/training/history.hpp>

namespace mezzo::detail {

/// A ValueError unless each name has one number an epoch.
void check_history(const History& history, const std::string& where);

/// A range of numbers and the round ones in it at which an axis has its marks.
struct Axis {
  double low = 0;
  double high = 1;
  std::vector<double> marks{};

  /// Where a number lies between low (0) and high (1).
  double position(double number) const { return (number - low) / (high - low); }
};

/// An axis of about five marks, 1, 2 or 5 times a power of ten apart, that goes from mark to mark around [low, high].
Axis round_axis(double low, double high);

/// An axis of whole numbers from the first epoch to the last, with at most eleven marks.
Axis epoch_axis(int first, int last);

}  // namespace mezzo::detail
