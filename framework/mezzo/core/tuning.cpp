#include <mezzo/core/tuning.hpp>

#include <sys/mman.h>
#include <xmmintrin.h>

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include <mezzo/core/compute_scope.hpp>
#include <mezzo/core/environment.hpp>
#include <mezzo/core/environment_variables.hpp>
#include <mezzo/core/error.hpp>
#include <mezzo/core/execution_context.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/fork.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/core/unknown_variables.hpp>

namespace mezzo {
namespace {

namespace names = detail::environment_variables;

/// Value of an environment variable; "" if it is not set.
std::string_view environment_value(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

/// A setting whose initial value is an environment variable.
class Setting {
 public:
  Setting(const char* variable, bool initial) {
    const std::string_view value = detail::environment_choice(variable, {"0", "1"});
    on_ = value.empty() ? initial : value == "1";
  }
  bool on() const { return on_.load(std::memory_order_relaxed); }
  void set(bool on) { on_ = on; }

 private:
  std::atomic<bool> on_{false};
};

/// A size of 1 or more whose initial value is an environment variable.
class Size {
 public:
  Size(const char* variable, int initial) : number_(initial) {
    const std::string_view value = environment_value(variable);
    if (value.empty()) return;
    int number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size() || number < 1) {
      fail<ValueError>(variable, "must be a number of 1 or more; got \"{}\"", value);
    }
    number_ = number;
  }
  int get() const { return number_.load(std::memory_order_relaxed); }
  void set(const char* function, int number) {
    if (number < 1) fail<ValueError>(fmt::format("[{}]", function), "the size must be at least 1; got {}", number);
    number_ = number;
  }

 private:
  std::atomic<int> number_;
};

Setting& binding() {
  static Setting setting(names::bind_threads, false);
  return setting;
}
Setting& flushing() {
  static Setting setting(names::flush_denormals, true);
  return setting;
}
Setting& paging() {
  static Setting setting(names::huge_pages, true);
  return setting;
}

Setting& yielding() {
  static Setting setting(names::yield_when_busy, true);
  return setting;
}
Setting& adapting() {
  static Setting setting(names::adaptive_threads, false);
  return setting;
}
Size& plan_cache() {
  static Size size(names::plan_cache, 64);
  return size;
}
Size& eager_cache() {
  static Size size(names::eager_cache, 512);
  return size;
}

constexpr unsigned flush_bits = 0x8040;  // MXCSR: flush results to zero (FTZ), denormal operands are zero (DAZ)

unsigned with_flushing(unsigned control, bool flush) { return flush ? control | flush_bits : control & ~flush_bits; }

/// The affinity mask at the first call. A later mask could be the binding to one core that a new thread has inherited.
const cpu_set_t& process_cores() {
  static const cpu_set_t cores = [] {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    sched_getaffinity(0, sizeof(mask), &mask);
    return mask;
  }();
  return cores;
}

/// Binds this thread to the core `index` of process_cores(), modulo their number.
void bind_to_core(int index) {
  const cpu_set_t& all = process_cores();
  const int count = CPU_COUNT(&all);
  if (count == 0) return;
  int left = index % count, core = 0;
  while (!CPU_ISSET(core, &all) || left-- > 0) ++core;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  sched_setaffinity(0, sizeof(one), &one);
}

void unbind() { sched_setaffinity(0, sizeof(cpu_set_t), &process_cores()); }

/// Settings that the threads of this thread's pool have.
struct Prepared {
  int threads = 0;
  int ended = 0;  // pools_ended() at that time
  bool flush = false;
  bool bind = false;
};

/// Applies the settings to all threads of the pool except this one, if they have changed.
void prepare_pool(bool flush, bool bind) {
  auto& pool = detail::ExecutionContext::current().part<Prepared>();
  const int threads = thread_count();
  const int ended = detail::pools_ended();
  if (pool.threads >= threads && pool.ended == ended && pool.flush == flush && pool.bind == bind) return;
  const bool was_bound = pool.bind;
  pool = {threads, ended, flush, bind};
  parallel_threads(threads, [&](int thread, int) {
    if (thread == 0) return;  // the caller; ComputeScope restores its state
    _mm_setcsr(with_flushing(_mm_getcsr(), flush));
    if (bind) {
      bind_to_core(thread);
    } else if (was_bound) {
      unbind();
    }
  });
}

}  // namespace

bool thread_binding() { return binding().on(); }
void set_thread_binding(bool bind) { binding().set(bind); }
bool flush_denormals() { return flushing().on(); }
void set_flush_denormals(bool flush) { flushing().set(flush); }
bool huge_pages() { return paging().on(); }
void set_huge_pages(bool use) { paging().set(use); }
bool yield_when_busy() { return yielding().on(); }
void set_yield_when_busy(bool yield) { yielding().set(yield); }
bool adaptive_threads() { return adapting().on(); }
void set_adaptive_threads(bool adapt) { adapting().set(adapt); }
int plan_cache_size() { return plan_cache().get(); }
void set_plan_cache_size(int plans) { plan_cache().set("set_plan_cache_size", plans); }
int eager_cache_size() { return eager_cache().get(); }
void set_eager_cache_size(int kernels) { eager_cache().set("set_eager_cache_size", kernels); }

detail::ComputeScope::ComputeScope() : control_(_mm_getcsr()), bound_(thread_binding()) {
  warn_of_unknown_variables();
  const bool flush = flush_denormals();
  prepare_pool(flush, bound_);
  _mm_setcsr(with_flushing(control_, flush));
  if (bound_) {
    sched_getaffinity(0, sizeof(cores_), &cores_);
    bind_to_core(0);
  }
}

detail::ComputeScope::~ComputeScope() {
  _mm_setcsr(control_);
  if (bound_) sched_setaffinity(0, sizeof(cores_), &cores_);  // new threads of the caller would inherit the one core
}

void detail::ask_for_huge_pages(void* address, std::size_t bytes) {
  if (huge_pages()) madvise(address, bytes, MADV_HUGEPAGE);  // a failure costs speed only
}

bool detail::turned_off(const char* variable) { return environment_choice(variable, {"0", "1"}) == "0"; }

}  // namespace mezzo
