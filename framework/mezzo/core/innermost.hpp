#pragma once
#include <utility>

#include <mezzo/core/execution_context.hpp>

namespace mezzo::detail {

/// Base of scopes T that nest on a thread: the object is the innermost T of its thread for its lifetime.
template <class T>
class Innermost {
 public:
  Innermost(const Innermost&) = delete;
  Innermost& operator=(const Innermost&) = delete;

  /// Innermost object of this thread; null if there is none.
  static T* innermost() { return context().object; }

 protected:
  Innermost() : outer_(std::exchange(context().object, static_cast<T*>(this))) {}
  ~Innermost() { context().object = outer_; }

  T* outer() const { return outer_; }  ///< the one that it hides, or null

 private:
  struct Context {
    T* object = nullptr;
  };

  static Context& context() { return ExecutionContext::current().part<Context>(); }

  T* outer_;
};

}  // namespace mezzo::detail
