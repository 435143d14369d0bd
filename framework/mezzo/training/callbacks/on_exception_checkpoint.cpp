#include <mezzo/training/callbacks/on_exception_checkpoint.hpp>

#include <filesystem>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/check_path.hpp>
#include <mezzo/training/loops/texts.hpp>

namespace mezzo {
namespace {

const char* const exception_label = "[OnExceptionCheckpoint]";

}  // namespace

OnExceptionCheckpoint::OnExceptionCheckpoint(std::string dirpath, std::string filename)
    : dirpath_(std::move(dirpath)), filename_(std::move(filename)) {
  detail::check_path(dirpath_, exception_label);
  detail::check_path(filename_, exception_label);
  if (filename_.empty()) fail<ValueError>(exception_label, "filename must not be empty");
}

std::string OnExceptionCheckpoint::ckpt_path() const {
  return (std::filesystem::path(dirpath_) / (filename_ + ".ckpt")).string();
}

void OnExceptionCheckpoint::on_exception(const std::exception&) {
  if (session().stage() != Stage::fit) return;
  detail::make_folder_of(exception_label, ckpt_path());
  session().save_checkpoint(ckpt_path());
}

void OnExceptionCheckpoint::on_train_end(Logs&) {
  std::error_code ignored;
  if (ckpt_path() != session().ckpt_path()) std::filesystem::remove(ckpt_path(), ignored);
}

}  // namespace mezzo
