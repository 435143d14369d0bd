#include <mezzo/core/parallel.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <mezzo/core/cpu.hpp>
#include <mezzo/core/error.hpp>
#include <mezzo/core/execution_context.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/fork.hpp>

// libgomp's entry points. clang's -fopenmp would add a second pool to the one of oneDNN.
extern "C" {
void GOMP_parallel(void (*body)(void*), void* context, unsigned threads, unsigned flags);
int omp_get_thread_num();
int omp_get_num_threads();
int omp_get_max_threads();
int omp_in_parallel();
int omp_get_num_procs();
void omp_set_num_threads(int);
int omp_pause_resource_all(int kind);
}

namespace mezzo {
namespace {

struct QuotaState {
  bool applied = false;
};

/// Limits the number of threads to the quota of the control groups, once per thread: libgomp's default is the affinity
/// mask alone, and its setting is per thread.
void apply_quota() {
  bool& applied = detail::ExecutionContext::current().part<QuotaState>().applied;
  if (applied || omp_in_parallel() != 0) return;
  applied = true;
  detail::handle_forks();
  static const double quota = cpu_quota();
  static const bool chosen = std::getenv("OMP_NUM_THREADS") != nullptr;
  const auto most = static_cast<int>(std::ceil(quota));
  if (!chosen && quota > 0 && most < omp_get_max_threads()) omp_set_num_threads(most);
}

}  // namespace

int thread_count() {
  apply_quota();
  return omp_in_parallel() != 0 ? 1 : omp_get_max_threads();
}

void set_thread_count(int threads) {
  if (threads < 1) fail<ValueError>("[set_thread_count]", "threads must be at least 1; got {}", threads);
  const int most = std::max(1024, 4 * omp_get_num_procs());  // libgomp ends the process if the system has no more
  if (threads > most) fail<ValueError>("[set_thread_count]", "threads must be at most {}; got {}", most, threads);
  apply_quota();
  omp_set_num_threads(threads);
}

namespace detail {

void parallel(int threads, void (*body)(void*, int, int), void* context) {
  struct Call {
    void (*body)(void*, int, int);
    void* context;
  } call{body, context};
  GOMP_parallel(
      [](void* p) {
        const auto* c = static_cast<const Call*>(p);
        c->body(c->context, omp_get_thread_num(), omp_get_num_threads());
      },
      &call, static_cast<unsigned>(threads), 0);
}

void parallel_ranges(std::int64_t count, std::int64_t grain, int most,
                     void (*body)(void*, int, std::int64_t, std::int64_t), void* context) {
  if (count <= 0) return;
  const auto threads = static_cast<int>(std::min<std::int64_t>((count + grain - 1) / grain, most));
  if (threads <= 1) {
    body(context, 0, 0, count);
    return;
  }
  parallel_threads(threads, [&](int thread, int n) {
    const std::int64_t begin = count * thread / n;
    const std::int64_t end = count * (thread + 1) / n;
    if (begin < end) body(context, thread, begin, end);
  });
}

int processors() { return omp_get_num_procs(); }

bool waiting_is_chosen() {
  return std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr;
}

bool end_pool() {
  constexpr int soft = 1;  // omp_pause_soft: keeps settings
  return omp_in_parallel() == 0 && omp_pause_resource_all(soft) == 0;
}

ThreadLimit::ThreadLimit(int threads) : before_(thread_count()) {
  if (omp_in_parallel() == 0) omp_set_num_threads(threads < before_ ? threads : before_);
}

ThreadLimit::~ThreadLimit() {
  if (omp_in_parallel() == 0) omp_set_num_threads(before_);
}

}  // namespace detail
}  // namespace mezzo
