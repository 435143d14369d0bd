#include <mezzo/core/shared.hpp>

#include <mezzo/core/execution_context.hpp>

namespace mezzo {
namespace {

struct CloneState {
  detail::CloneScope* innermost = nullptr;
};

detail::CloneScope*& innermost() { return detail::ExecutionContext::current().part<CloneState>().innermost; }

}  // namespace

detail::CloneScope::CloneScope() : outer_(innermost()) { innermost() = this; }
detail::CloneScope::~CloneScope() { innermost() = outer_; }
detail::CloneScope* detail::CloneScope::current() { return innermost(); }

}  // namespace mezzo
