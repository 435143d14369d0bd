#pragma once
#include <memory>

#include <mezzo/core/environment_variables.hpp>
#include <mezzo/core/plugin.hpp>
#include <mezzo/distributed/transport.hpp>

namespace mezzo::detail {

/// The plug-in that calls MPI. The parts of Open MPI that it loads itself look for the symbols of libmpi.
inline constexpr Plugin plugin_of_mpi{
    "mezzo_mpi", environment_variables::mpi_plugin, "mezzo_mpi_open",
    "the strategy \"mpi\" needs the plug-in mezzo_mpi, which is built where CMake finds MPI", Plugin::Symbols::global};

/// The transport of Communicator::mpi(); a process has at most one. Errors are those of Communicator::mpi().
std::unique_ptr<Transport> open_mpi();

}  // namespace mezzo::detail
