#include <mezzo/graph/executor.hpp>

#include <mezzo/core/fail.hpp>

namespace mezzo {
namespace {

Executor* registered = nullptr;

}  // namespace

void register_executor(Executor& executor) { registered = &executor; }

Executor& current_executor() {
  if (registered == nullptr) {
    fail<ValueError>("[mezzo]", "an executor must be registered; got none: link the library's registration.cpp");
  }
  return *registered;
}

}  // namespace mezzo
