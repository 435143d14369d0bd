#pragma once
#include <exception>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/data/loaders.hpp>
#include <mezzo/training/module/callback.hpp>

namespace mezzo {

/// The data of a training and of its evaluations, as Lightning's LightningDataModule:
/// `trainer.fit(module, data)`, `trainer.test(module, data)`. A call of the Trainer runs prepare_data(), setup(), the
/// loaders that it needs, and teardown() at its end. `stage` is "fit", "validate", "test" or "predict".
class MEZZO_API DataModule {
 public:
  virtual ~DataModule() = default;

  virtual void prepare_data() {}  ///< makes files that all calls share

  /// Before the loaders are made; stage: "fit", "validate", "test" or "predict".
  virtual void setup(const std::string& stage) { static_cast<void>(stage); }
  virtual void teardown(const std::string& stage) { static_cast<void>(stage); }  ///< also after an error

  /// Before teardown(), if a call throws.
  virtual void on_exception(const std::exception& error) { static_cast<void>(error); }

  /// Loaders of a call, after setup(); fit uses those of training and validation. Each call of the Trainer calls these
  /// functions again, and so does fit after every reload_dataloaders_every_n_epochs epochs. The default is none.
  virtual DataLoader train_dataloader() { return {}; }
  virtual DataLoaders val_dataloader() { return {}; }
  virtual DataLoaders test_dataloader() { return {}; }
  virtual DataLoaders predict_dataloader() { return {}; }

  /// State for the checkpoints of fit: numbers, arrays and texts. A resumed fit passes it to load_state_dict(), between
  /// setup() and the loaders.
  virtual CallbackState state_dict() const { return {}; }
  virtual void load_state_dict(const CallbackState& state) { static_cast<void>(state); }

 protected:
  DataModule() = default;
  DataModule(const DataModule&) = default;
  DataModule(DataModule&&) = default;
  DataModule& operator=(const DataModule&) = default;
  DataModule& operator=(DataModule&&) = default;
};

}  // namespace mezzo
