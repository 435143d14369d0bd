#pragma once
#include <memory>
#include <string>
#include <utility>

#include <mezzo/core/api.hpp>
#include <mezzo/distributed/communicator.hpp>

namespace mezzo {

/// The option `strategy` of Trainer: the ranks that train together.
///
/// - "auto": "mpi" if mpirun or srun has started the program with several ranks (the environment has
///   OMPI_COMM_WORLD_SIZE, PMI_SIZE, PMIX_RANK, or SLURM_NTASKS and SLURM_STEP_NUM_TASKS), else "single".
/// - "single": this process alone.
/// - "mpi": the processes that mpirun or srun has started (docs/distributed.md).
/// - a Communicator: its ranks.
class MEZZO_API Strategy {
 public:
  Strategy() = default;                                        ///< "auto"
  Strategy(const char* name) : Strategy(std::string(name)) {}  ///< as from std::string
  /// A NameError lists the valid names.
  Strategy(const std::string& name);
  /// A ValueError for an empty pointer.
  Strategy(std::shared_ptr<Communicator> communicator);

  const std::string& name() const { return name_; }  ///< the given name; "communicator" for a Communicator

  /// The ranks, null for a single one. The first call under "mpi" starts MPI; errors are those of Communicator::mpi().
  std::shared_ptr<Communicator> communicator() const;

 private:
  std::string name_ = "auto";
  std::shared_ptr<Communicator> communicator_;
};

namespace detail {

/// True if the environment is that of a program with several ranks.
bool started_by_mpi();

}  // namespace detail
}  // namespace mezzo
