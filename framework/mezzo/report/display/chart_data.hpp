#pragma once
#include <string>
#include <vector>

#include <mezzo/training/module/history.hpp>

namespace mezzo::detail {

/// Throws a ValueError that begins with `where` unless each name has one number per epoch.
void check_history(const History& history, const std::string& where);

/// A range of numbers, and the round numbers in it that label an axis.
struct Axis {
  double low = 0;
  double high = 1;
  std::vector<double> marks{};

  /// Relative position of a number: 0 at low, 1 at high.
  double position(double number) const { return (number - low) / (high - low); }
};

/// Axis that covers [low, high] from mark to mark. It has about five marks; their distance is 1, 2 or 5 times a power
/// of ten.
Axis round_axis(double low, double high);

/// Axis of whole numbers from the first epoch to the last, with at most eleven marks.
Axis epoch_axis(int first, int last);

}  // namespace mezzo::detail
