#include <mezzo/training/step/run_turn.hpp>

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <utility>

#include <mezzo/core/fork.hpp>

namespace mezzo::detail {
namespace {

/// An object of both lists, which are sorted; null if there is none.
const Usage* shared_object(const RunTurn::Objects& a, const RunTurn::Objects& b) {
  auto one = a.begin(), other = b.begin();
  while (one != a.end() && other != b.end()) {
    if (*one == *other) return *one;
    ++(std::less<>()(*one, *other) ? one : other);
  }
  return nullptr;
}

}  // namespace

/// All runs, and the threads that wait for one.
class RunTurn::List {
 public:
  /// A thread that waits.
  struct Waiter {
    const void* key = nullptr;
    std::uint64_t number = 0;              // in the order of calls
    std::vector<RunTurn*> runs{};          // that it waits for
    const RunTurn* would_visit = nullptr;  // the only one of these, if it lends its objects
  };

  ForkMutex mutex;
  std::condition_variable changed;
  std::vector<RunTurn*> runs;
  std::vector<Waiter*> waiters;
  std::uint64_t calls = 0;

  /// Runs of other threads that use one of the objects.
  std::vector<RunTurn*> others(const Objects& objects, const void* key) const {
    std::vector<RunTurn*> out;
    for (RunTurn* run : runs) {
      if (run->key_ != key && shared_object(run->objects_, objects) != nullptr) out.push_back(run);
    }
    return out;
  }

  /// True if the thread waits for `target`, directly or through at most `others` others.
  bool waits_for(const void* key, const void* target, std::size_t others) const {
    return std::any_of(waiters.begin(), waiters.end(), [&](const Waiter* waiter) {
      return waiter->key == key && std::any_of(waiter->runs.begin(), waiter->runs.end(), [&](const RunTurn* run) {
               return run->key_ == target || (others > 0 && waits_for(run->key_, target, others - 1));
             });
    });
  }

  void remove(RunTurn& run) {
    runs.erase(std::remove(runs.begin(), runs.end(), &run), runs.end());
    for (Waiter* waiter : waiters) {
      waiter->runs.erase(std::remove(waiter->runs.begin(), waiter->runs.end(), &run), waiter->runs.end());
      if (waiter->would_visit == &run) waiter->would_visit = nullptr;
    }
  }
};

RunTurn::List& RunTurn::list() {
  static auto* const one = new List;  // never destroyed, as ForkMutex requires
  return *one;
}

const Usage* RunTurn::wait_for(const Usage& first, const std::function<Objects()>& all) {
  List& list = RunTurn::list();
  std::unique_lock<std::mutex> lock(list.mutex);
  List::Waiter self{.key = usage_key(), .number = ++list.calls};
  list.waiters.push_back(&self);
  const auto refused = [&](const RunTurn* run) {
    return run->forks_ < fork_depth() || (trains_ && run->trains_) ||
           list.waits_for(run->key_, self.key, list.waiters.size());
  };
  const Usage* result = nullptr;
  for (;;) {
    Objects objects{&first};
    self.runs = list.others(objects, self.key);
    const auto closed = [](const RunTurn* run) { return !run->lent_ || run->visited_; };
    if (std::none_of(self.runs.begin(), self.runs.end(), closed)) {
      objects = all();
      std::sort(objects.begin(), objects.end(), std::less<>());
      self.runs = list.others(objects, self.key);
    }
    const RunTurn* const visited = !trains_ && self.runs.size() == 1 ? self.runs.front() : nullptr;
    if (std::exchange(self.would_visit, visited) != visited) list.changed.notify_all();
    const auto bad = std::find_if(self.runs.begin(), self.runs.end(), refused);
    if (bad != self.runs.end()) {
      const Objects& theirs = (*bad)->objects_;
      const bool itself = std::binary_search(theirs.begin(), theirs.end(), &first, std::less<>());
      result = itself ? &first : shared_object(objects, theirs);
    }
    if (result != nullptr || self.runs.empty()) break;
    if (visited != nullptr && !closed(visited)) {
      host_ = self.runs.front();
      host_->visited_ = true;
      acting_.emplace(host_->key_);
      break;
    }
    list.changed.wait(lock);
  }
  list.waiters.erase(std::find(list.waiters.begin(), list.waiters.end(), &self));
  list.changed.notify_all();
  return result;
}

void RunTurn::add(const Objects& objects) {
  List& list = RunTurn::list();
  const std::lock_guard<std::mutex> lock(list.mutex);
  objects_.insert(objects_.end(), objects.begin(), objects.end());
  std::sort(objects_.begin(), objects_.end(), std::less<>());
  objects_.erase(std::unique(objects_.begin(), objects_.end()), objects_.end());
  if (listed_) return;
  key_ = usage_key();
  forks_ = fork_depth();
  listed_ = true;
  list.runs.push_back(this);
}

void RunTurn::lend() {
  if (visits()) return;
  List& list = RunTurn::list();
  const std::lock_guard<std::mutex> lock(list.mutex);
  // A run inside of another one of this thread must not lend what the outer one uses.
  const auto outer = [&](const RunTurn* run) { return run != this && run->key_ == key_; };
  if (std::any_of(list.runs.begin(), list.runs.end(), outer)) return;
  lent_ = true;
  if (!list.waiters.empty()) list.changed.notify_all();
}

void RunTurn::reclaim() {
  List& list = RunTurn::list();
  std::unique_lock<std::mutex> lock(list.mutex);
  if (!lent_) return;
  const std::uint64_t before = list.calls;
  list.changed.wait(lock, [&] {
    const auto waits = [&](const List::Waiter* waiter) {
      return waiter->would_visit == this && waiter->number <= before;
    };
    return !visited_ && std::none_of(list.waiters.begin(), list.waiters.end(), waits);
  });
  lent_ = false;
}

RunTurn::~RunTurn() {
  List& list = RunTurn::list();
  {
    const std::lock_guard<std::mutex> lock(list.mutex);
    list.remove(*this);
    if (host_ != nullptr) host_->visited_ = false;
  }
  list.changed.notify_all();
}

}  // namespace mezzo::detail
