#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <mezzo/distributed/communicator.hpp>

namespace mezzo_tests {

// Calls body(communicator) on a thread for each rank. Texts of the errors, "" for none.
inline std::vector<std::string> run_ranks(
    int ranks, const std::function<void(const std::shared_ptr<mezzo::Communicator>&)>& body) {
  std::vector<std::shared_ptr<mezzo::Communicator>> communicators = mezzo::Communicator::threads(ranks);
  std::vector<std::string> errors(communicators.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < communicators.size(); ++i) {
    threads.emplace_back([&errors, &body, i, own = std::move(communicators[i])]() mutable {
      try {
        body(own);
      } catch (const std::exception& error) {
        errors[i] = error.what();
      }
      own.reset();
    });
  }
  for (std::thread& thread : threads) thread.join();
  return errors;
}

}  // namespace mezzo_tests
