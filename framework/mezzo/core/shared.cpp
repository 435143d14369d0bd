#include <mezzo/core/shared.hpp>

#include <mezzo/core/execution_context.hpp>

namespace mezzo {
namespace {

struct CloneState {
  CloneScope* innermost = nullptr;
};

CloneScope*& innermost() { return detail::ExecutionContext::current().part<CloneState>().innermost; }

}  // namespace

CloneScope::CloneScope() : outer_(innermost()) { innermost() = this; }
CloneScope::~CloneScope() { innermost() = outer_; }
CloneScope* CloneScope::current() { return innermost(); }

}  // namespace mezzo
