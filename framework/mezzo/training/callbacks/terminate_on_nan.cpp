#include <mezzo/training/callbacks/terminate_on_nan.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>

namespace mezzo {

bool TerminateOnNaN::on_non_finite(std::int64_t batch, const std::string& error) {
  if (options_.raise_error) {
    fail<ValueError>("[TerminateOnNaN]", "the loss must be finite; at batch {}: {}", batch, error);
  }
  detail::write_line(fmt::format("[TerminateOnNaN] ended the training at batch {}: {}", batch, error));
  return true;
}

}  // namespace mezzo
