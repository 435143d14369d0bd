#include <mezzo/distributed/strategy.hpp>

#include <cstdlib>
#include <vector>

#include <mezzo/core/fail.hpp>

namespace mezzo {

Strategy::Strategy(const std::string& name) : name_(name) {
  static const std::vector<std::string> names{"auto", "single", "mpi"};
  for (const std::string& valid : names) {
    if (name == valid) return;
  }
  fail_unknown("[Trainer]", "strategy", name, names);
}

Strategy::Strategy(std::shared_ptr<Communicator> communicator)
    : name_("communicator"), communicator_(std::move(communicator)) {
  if (!communicator_) fail<ValueError>("[Trainer]", "strategy: the communicator must be given; got an empty pointer");
}

std::shared_ptr<Communicator> Strategy::communicator() const {
  std::shared_ptr<Communicator> out = communicator_;
  if (name_ == "mpi" || (name_ == "auto" && detail::started_by_mpi())) out = Communicator::mpi();
  return out && out->size() > 1 ? out : nullptr;
}

bool detail::started_by_mpi() {
  const auto above_one = [](const char* variable) {
    const char* text = std::getenv(variable);
    return text != nullptr && std::atoi(text) > 1;
  };
  if (above_one("OMPI_COMM_WORLD_SIZE") || above_one("PMI_SIZE")) return true;
  if (std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr || std::getenv("PMI_SIZE") != nullptr) return false;
  // SLURM_NTASKS alone may come from a batch script, whose programs are not ranks. PMIX_RANK alone is left over, or set
  // by hand: a launcher also sets the name of the job.
  return (std::getenv("PMIX_RANK") != nullptr && std::getenv("PMIX_NAMESPACE") != nullptr) ||
         (above_one("SLURM_NTASKS") && above_one("SLURM_STEP_NUM_TASKS"));
}

}  // namespace mezzo
