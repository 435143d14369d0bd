#pragma once
#include <memory>

#include <mezzo/distributed/transport.hpp>

namespace mezzo::detail {

/// The transport of Communicator::mpi(); a process has at most one. Errors are those of Communicator::mpi().
std::unique_ptr<Transport> open_mpi();

}  // namespace mezzo::detail
