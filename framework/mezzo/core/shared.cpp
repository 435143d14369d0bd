#include <mezzo/core/shared.hpp>

namespace mezzo {
namespace {

CloneScope*& innermost() {
  thread_local CloneScope* scope = nullptr;
  return scope;
}

}  // namespace

CloneScope::CloneScope() : outer_(innermost()) { innermost() = this; }
CloneScope::~CloneScope() { innermost() = outer_; }
CloneScope* CloneScope::current() { return innermost(); }

}  // namespace mezzo
