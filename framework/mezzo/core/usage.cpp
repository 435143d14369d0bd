#include <mezzo/core/usage.hpp>

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include <mezzo/core/execution_context.hpp>
#include <mezzo/core/fork.hpp>
#include <mezzo/core/usage_key.hpp>

namespace mezzo::detail {
namespace {

/// Guards all objects of type Usage: their critical sections are a few instructions. Never destroyed, since models in
/// static variables may outlive any other static.
struct Guard {
  ForkMutex mutex;
  std::condition_variable released;
};

Guard& guard() {
  static auto* const one = new Guard;
  return *one;
}

// Made before there are threads: a child of a fork() in the middle of its construction would wait forever.
[[maybe_unused]] const Guard& made_early = guard();

/// The usages' part of a thread's ExecutionContext. Its address is the key of the thread.
struct UsageState {
  const InsideStep* step = nullptr;  // the innermost one
  UsageState* host = nullptr;        // the state of the thread for which this one acts
};

UsageState& own_state() { return ExecutionContext::current().part<UsageState>(); }

UsageState& this_thread() {
  UsageState& own = own_state();
  return own.host == nullptr ? own : *own.host;
}

}  // namespace

const void* usage_key() { return &this_thread(); }

ActingFor::ActingFor(const void* key) : outer_(own_state().host) {
  own_state().host = static_cast<UsageState*>(const_cast<void*>(key));
}

ActingFor::~ActingFor() { own_state().host = static_cast<UsageState*>(const_cast<void*>(outer_)); }

bool Usage::runs_here() const {
  const std::lock_guard<std::mutex> lock(guard().mutex);
  return runs_ > 0 && thread_ == &this_thread();
}

AccessScope::AccessScope(std::vector<Usage*> objects) : objects_(std::move(objects)) {
  const void* const own = &this_thread();
  const auto foreign = [&](const Usage* object) { return object->thread_ != nullptr && object->thread_ != own; };
  const auto run = [&](const Usage* object) { return foreign(object) && object->runs_ > 0; };
  std::unique_lock<std::mutex> lock(guard().mutex);
  guard().released.wait(lock, [&] {
    refused_ = std::any_of(objects_.begin(), objects_.end(), run);
    return refused_ || std::none_of(objects_.begin(), objects_.end(), foreign);
  });
  if (refused_) return;
  for (Usage* object : objects_) {
    object->thread_ = own;
    ++object->scopes_;
  }
}

AccessScope::~AccessScope() {
  if (refused_) return;
  {
    const std::lock_guard<std::mutex> lock(guard().mutex);
    for (Usage* object : objects_) {
      if (--object->scopes_ == 0) object->thread_ = nullptr;
    }
  }
  guard().released.notify_all();
}

const Usage* RunScope::add(const std::vector<Object>& objects, bool alone) {
  const void* const own = &this_thread();
  std::vector<Object> fresh;
  for (const Object& object : objects) {
    if (std::find(objects_.begin(), objects_.end(), object) == objects_.end()) fresh.push_back(object);
  }
  const Usage* busy = nullptr;
  std::unique_lock<std::mutex> lock(guard().mutex);
  guard().released.wait(lock, [&] {
    bool accessed = false;
    for (const Object& object : fresh) {
      const bool foreign = object->thread_ != nullptr && object->thread_ != own;
      if (object->runs_ > 0 && (foreign || alone)) {
        busy = object.get();
        return true;
      }
      accessed |= foreign;
    }
    return !accessed;
  });
  if (busy != nullptr) return busy;
  for (const Object& object : fresh) {
    object->thread_ = own;
    ++object->scopes_;
    ++object->runs_;
  }
  lock.unlock();
  objects_.insert(objects_.end(), fresh.begin(), fresh.end());
  return nullptr;
}

RunScope::~RunScope() {
  {
    const std::lock_guard<std::mutex> lock(guard().mutex);
    for (const Object& object : objects_) {
      --object->runs_;
      if (--object->scopes_ == 0) object->thread_ = nullptr;
    }
  }
  guard().released.notify_all();
}

ListRunScope::ListRunScope(const std::vector<RunScope::Object>& objects) : objects_(objects) {
  const void* const own = &this_thread();
  std::unique_lock<std::mutex> lock(guard().mutex);
  guard().released.wait(lock, [&] {
    bool accessed = false;
    for (const RunScope::Object& object : objects_) {
      if (object->thread_ == nullptr || object->thread_ == own) continue;
      if (object->runs_ > 0) busy_ = object.get();
      accessed = true;
    }
    return busy_ != nullptr || !accessed;
  });
  if (busy_ != nullptr) return;
  for (const RunScope::Object& object : objects_) {
    object->thread_ = own;
    ++object->scopes_;
    ++object->runs_;
  }
}

ListRunScope::~ListRunScope() {
  if (busy_ != nullptr) return;
  {
    const std::lock_guard<std::mutex> lock(guard().mutex);
    for (const RunScope::Object& object : objects_) {
      --object->runs_;
      if (--object->scopes_ == 0) object->thread_ = nullptr;
    }
  }
  guard().released.notify_all();
}

InsideStep::InsideStep(const void* step, Uses uses) : step_(step), uses_(uses), outer_(this_thread().step) {
  this_thread().step = this;
}

InsideStep::~InsideStep() { this_thread().step = outer_; }

bool InsideStep::of(const Usage& object) {
  for (const InsideStep* inside = this_thread().step; inside != nullptr; inside = inside->outer_) {
    if (inside->uses_(inside->step_, object)) return true;
  }
  return false;
}

}  // namespace mezzo::detail
