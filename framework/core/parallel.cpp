#include <mezzo/core/parallel.hpp>

#include <string>

#include <mezzo/core/error.hpp>

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

int thread_count() { return omp_in_parallel() != 0 ? 1 : omp_get_max_threads(); }

void set_thread_count(int threads) {
  if (threads < 1) throw ValueError("set_thread_count: threads must be at least 1; got " + std::to_string(threads));
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
