#pragma once
#include <exception>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/training/module/callback.hpp>

namespace mezzo {

/// Saves a checkpoint when an error ends fit: `<dirpath>/<filename>.ckpt`, from which Trainer::fit can continue. A fit
/// that ends without an error removes the file of an earlier one.
class MEZZO_API OnExceptionCheckpoint : public Callback {
 public:
  /// A ValueError for an empty filename.
  explicit OnExceptionCheckpoint(std::string dirpath, std::string filename = "on_exception");

  std::string ckpt_path() const;  ///< file of the checkpoint: dirpath/filename with its extension

  bool saves() const override { return true; }
  void on_exception(const std::exception& error) override;
  void on_train_end(Logs& logs) override;

 private:
  std::string dirpath_, filename_;
};

}  // namespace mezzo
