#include <mezzo/core/parallel.hpp>

#include <cmath>
#include <cstdlib>
#include <string>

#include <mezzo/core/cpu.hpp>
#include <mezzo/core/error.hpp>
#include <mezzo/core/execution_context.hpp>

// libgomp's own entry points: clang's -fopenmp would bring a second pool beside the one that oneDNN runs on.
extern "C" {
void GOMP_parallel(void (*body)(void*), void* context, unsigned threads, unsigned flags);
int omp_get_thread_num();
int omp_get_num_threads();
int omp_get_max_threads();
int omp_in_parallel();
void omp_set_num_threads(int);
}

namespace mezzo {

namespace {

struct QuotaState {
  bool applied = false;
};

/// libgomp begins with the cores of the affinity mask, whatever share of them a quota leaves. Its setting is one of
/// each thread's own.
void apply_quota() {
  auto& quota_state = detail::ExecutionContext::current().part<QuotaState>();
  if (quota_state.applied || omp_in_parallel() != 0) return;
  quota_state.applied = true;
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
  if (threads < 1) throw ValueError("set_thread_count: threads must be at least 1; got " + std::to_string(threads));
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

}  // namespace detail
}  // namespace mezzo
