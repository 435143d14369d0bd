#include <mezzo/core/tuning.hpp>

#include <sys/mman.h>
#include <xmmintrin.h>

#include <atomic>
#include <cstdlib>
#include <string>

#include <mezzo/core/compute_scope.hpp>
#include <mezzo/core/error.hpp>
#include <mezzo/core/execution_context.hpp>
#include <mezzo/core/parallel.hpp>

namespace mezzo {
namespace {

/// A setting that begins as the environment says.
class Setting {
 public:
  Setting(const char* variable, bool otherwise) {
    const char* text = std::getenv(variable);
    const std::string value = text == nullptr ? "" : text;
    if (!value.empty() && value != "0" && value != "1") {
      throw ValueError(std::string(variable) + " must be 0 or 1; got \"" + value + "\"");
    }
    on_ = value.empty() ? otherwise : value == "1";
  }
  bool on() const { return on_.load(std::memory_order_relaxed); }
  void set(bool on) { on_ = on; }

 private:
  std::atomic<bool> on_{false};
};

Setting& binding() {
  static Setting setting("MEZZO_BIND_THREADS", false);
  return setting;
}
Setting& flushing() {
  static Setting setting("MEZZO_FLUSH_DENORMALS", true);
  return setting;
}
Setting& paging() {
  static Setting setting("MEZZO_HUGE_PAGES", true);
  return setting;
}

constexpr unsigned flush_bits = 0x8040;  // of MXCSR: results flush to zero, operands denormal are zero

unsigned with_flushing(unsigned control, bool flush) { return flush ? control | flush_bits : control & ~flush_bits; }

/// The cores of the process when the library first asks: threads that inherit a binding don't narrow it.
const cpu_set_t& process_cores() {
  static const cpu_set_t cores = [] {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    sched_getaffinity(0, sizeof(mask), &mask);
    return mask;
  }();
  return cores;
}

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

/// What the pool of this thread was prepared for.
struct Prepared {
  int threads = 0;
  bool flush = false;
  bool bind = false;
};

void prepare_pool(bool flush, bool bind) {
  auto& pool = detail::ExecutionContext::current().part<Prepared>();
  const int threads = thread_count();
  if (pool.threads >= threads && pool.flush == flush && pool.bind == bind) return;
  const bool was_bound = pool.bind;
  pool = {threads, flush, bind};
  parallel_threads(threads, [&](int thread, int) {
    if (thread == 0) return;  // the caller, who gets back what it had
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

detail::ComputeScope::ComputeScope() : control_(_mm_getcsr()), bound_(thread_binding()) {
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
  if (bound_)
    sched_setaffinity(0, sizeof(cores_), &cores_);  // threads that the caller makes would inherit its one core
}

void detail::ask_for_huge_pages(void* address, std::size_t bytes) {
  if (huge_pages()) madvise(address, bytes, MADV_HUGEPAGE);  // advice only: without it is slower, not wrong
}

}  // namespace mezzo
