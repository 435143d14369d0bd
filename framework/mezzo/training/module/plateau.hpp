#pragma once
#include <string>

#include <mezzo/core/api.hpp>

namespace mezzo {

/// Options of Plateau, named as in torch.
struct PlateauOptions {
  std::string mode = "min";            ///< "min": smaller numbers are better; "max": larger ones
  double factor = 0.1;                 ///< of each reduction, from 0 to below 1
  int patience = 10;                   ///< numbers in a row without improvement before a reduction, 0 or more
  double threshold = 1e-4;             ///< smaller changes are not an improvement; at least 0
  std::string threshold_mode = "rel";  ///< "rel": threshold is a share of the best number; "abs": a difference
  int cooldown = 0;                    ///< numbers after a reduction that are not counted, 0 or more
  double min_lr = 0;                   ///< lower bound of the learning rate, at least 0
  double eps = 1e-8;                   ///< smaller reductions are not made; at least 0
};

/// Scheduler that reduces a learning rate once a number has stopped improving, by the rules of torch's
/// ReduceLROnPlateau. The callback ReduceLROnPlateau has Keras' rules.
class MEZZO_API Plateau {
 public:
  /// A ValueError for an option out of its range, a NameError for an unknown mode.
  explicit Plateau(PlateauOptions options = {});

  const PlateauOptions& options() const { return options_; }  ///< as given to the constructor

  /// True if the number is an improvement. NaN is not; any number improves on NaN.
  bool improves(double number, double best) const;

 private:
  PlateauOptions options_;
};

}  // namespace mezzo
