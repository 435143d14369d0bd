#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/training/module/stage.hpp>

namespace mezzo {

namespace detail {

/// Progress of a running call. Every hook may read it.
class MEZZO_API SessionProgress {
 public:
  virtual ~SessionProgress() = default;

  virtual Stage stage() const = 0;           ///< kind of call; a validation inside of fit belongs to the call of fit
  virtual bool sanity_checking() const = 0;  ///< true during the validation steps that precede a training

  virtual int epochs() const = 0;          ///< number of the epoch at which fit ends, -1 for no limit; otherwise 1
  virtual std::int64_t steps() const = 0;  ///< batches of an epoch, or of the call; -1: unknown
  virtual int verbose() const = 0;         ///< 0, 1 or 2

  virtual int current_epoch() const = 0;           ///< number of the epoch, as in History; 0 outside of fit
  virtual std::int64_t current_batch() const = 0;  ///< index of the running or last batch of its loop; -1: none yet

  /// Index of the loader of that batch, 0 unless an evaluation has several.
  virtual std::size_t dataloader_idx() const = 0;

  /// Updates since the optimizers began, as in Lightning: steps that were skipped or only accumulated don't count.
  virtual std::int64_t global_step() const = 0;

  /// Duration of the training in seconds, including runs before a resume.
  virtual double seconds() const = 0;

  /// Samples of the running or last batch; 0: none yet.
  virtual std::int64_t batch_size() const = 0;

  /// False if fit validates in the middle of epochs, or not after each one: callbacks then act after validations.
  virtual bool validates_each_epoch() const = 0;
  /// True while no validation of the running epoch has ended in a fit that validates: monitors may lack its numbers.
  virtual bool awaits_validation() const = 0;
  /// True if the loggers receive the numbers of the running or last training step, by log_every_n_steps.
  virtual bool logs_step() const = 0;
  virtual const std::string& ckpt_path() const = 0;  ///< checkpoint that fit resumed from; "": none

  /// Folder for files without a path: the Trainer's default_root_dir; "" is the current one.
  virtual const std::string& default_root_dir() const = 0;

 protected:
  SessionProgress() = default;
  SessionProgress(const SessionProgress&) = default;
  SessionProgress& operator=(const SessionProgress&) = default;
};

}  // namespace detail
}  // namespace mezzo
