#pragma once
#include <cstdint>
#include <memory>
#include <optional>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/gradient.hpp>
#include <mezzo/nn/optimizer.hpp>

namespace mezzo {

/// Options of a GradScaler, torch's.
struct GradScalerOptions {
  double init_scale = 65536;            ///< first scale; greater than 0, finite in float32
  double growth_factor = 2;             ///< factor of the scale when it grows; greater than 1
  double backoff_factor = 0.5;          ///< factor of the scale after gradients that are not finite; between 0 and 1
  std::int64_t growth_interval = 2000;  ///< updates in a row with finite gradients before the scale grows; at least 1
  bool enabled = true;                  ///< false: scale() and unscale() return their argument, step() always updates
};

/// State of a GradScaler, for files.
struct GradScalerState {
  double scale = 65536;             ///< current scale
  std::int64_t growth_tracker = 0;  ///< updates in a row with finite gradients
};

/// Loss scaling for float16 in a training loop of your own, as torch.amp.GradScaler:
///
///     const auto [scaled, gradients, aux] = value_and_grad(model, [&] {
///       const Value loss = ...;
///       return std::pair(scaler.scale(loss), Values{loss});
///     });
///     Gradients unscaled = scaler.unscale(optimizer, gradients);  // only to clip or read them
///     clip_grad_norm(unscaled, 1.0);
///     scaler.step(optimizer, unscaled);
///     scaler.update();
///
/// step() skips the update if a gradient is infinite or NaN: weights, moments and iterations() stay. update() then
/// makes the scale smaller, or after growth_interval finite updates greater. The functions compute at once or inside of
/// compile_step(), there all within one step. The scale and the number of finite updates have the values of torch's.
/// Copies share the state.
class MEZZO_API GradScaler {
 public:
  /// A ValueError for an option out of its range.
  explicit GradScaler(const GradScalerOptions& options = {});

  /// The loss times the scale, at least float32.
  Value scale(const Value& loss) const;

  /// The gradients divided by the scale, in their dtypes; step() then doesn't divide them again. A ValueError at the
  /// second call for an optimizer since update(), and after its step().
  Gradients unscale(const Optimizer& optimizer, const Gradients& gradients);

  /// Updates the weights by gradients of the scaled loss, or by those of unscale(), unless one is not finite. Errors of
  /// Optimizer::apply(), and a ValueError at the second call for an optimizer since update().
  void step(Optimizer& optimizer, const Gradients& gradients);

  /// Updates the scale after the steps of all optimizers. A ValueError if there was none since the last update(), or
  /// none in the same run of compile_step().
  void update();

  /// Sets the scale in place of updating it. A ValueError for a number that is not greater than 0 and finite in
  /// float32.
  void update(double new_scale);

  /// Current scale; 1 if it is not enabled.
  double get_scale() const;

  /// @name State
  /// For files; LoopCheckpoint uses it. Setting it drops what was recorded since update(). A ValueError for a scale
  /// that is not greater than 0 and finite in float32, or a negative growth_tracker.
  /// @{
  GradScalerState state() const;
  void set_state(const GradScalerState& state);
  /// @}

  const GradScalerOptions& options() const;  ///< as given to the constructor

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace mezzo
