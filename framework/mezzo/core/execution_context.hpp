#pragma once
#include <cstddef>
#include <memory>
#include <vector>

namespace mezzo::detail {

/// All state that the library keeps per thread: scopes, the running trace and layer, caches. A folder that needs such
/// state defines a default-constructible struct and accesses the thread's object by
/// `ExecutionContext::current().part<GraphState>()`; it is made at the first use and destroyed with the thread.
class ExecutionContext {
 public:
  static ExecutionContext& current();

  template <class Part>
  Part& part() {
    static const std::size_t index = next_index();
    if (index >= parts_.size()) parts_.resize(index + 1);
    if (!parts_[index]) parts_[index] = std::make_shared<Part>();
    return *static_cast<Part*>(parts_[index].get());
  }

 private:
  static std::size_t next_index();

  std::vector<std::shared_ptr<void>> parts_;
};

}  // namespace mezzo::detail
