#pragma once

/// Environment variables that the library reads, besides MEZZO_TRAINER_* for the options of Trainer.
namespace mezzo::detail::environment_variables {

inline constexpr const char* adaptive_threads = "MEZZO_ADAPTIVE_THREADS";
inline constexpr const char* bind_threads = "MEZZO_BIND_THREADS";
inline constexpr const char* data = "MEZZO_DATA";
inline constexpr const char* eager_cache = "MEZZO_EAGER_CACHE";
inline constexpr const char* float32_winograd = "MEZZO_FLOAT32_WINOGRAD";
inline constexpr const char* flush_denormals = "MEZZO_FLUSH_DENORMALS";
inline constexpr const char* huge_pages = "MEZZO_HUGE_PAGES";
inline constexpr const char* max_isa = "MEZZO_MAX_ISA";
inline constexpr const char* mpi_plugin = "MEZZO_MPI_PLUGIN";
inline constexpr const char* plan_cache = "MEZZO_PLAN_CACHE";
inline constexpr const char* sentencepiece_plugin = "MEZZO_SENTENCEPIECE_PLUGIN";
inline constexpr const char* verbose = "MEZZO_VERBOSE";
inline constexpr const char* warn_slow_policy = "MEZZO_WARN_SLOW_POLICY";
inline constexpr const char* yield_when_busy = "MEZZO_YIELD_WHEN_BUSY";

/// All of them.
inline constexpr const char* all[] = {
    adaptive_threads, bind_threads,   data,       eager_cache, float32_winograd,     flush_denormals,
    huge_pages,       max_isa,        mpi_plugin, plan_cache,  sentencepiece_plugin, verbose,
    warn_slow_policy, yield_when_busy};

/// Start of the variables of Trainer's options. Trainer refuses unknown ones.
inline constexpr const char* trainer_prefix = "MEZZO_TRAINER_";

/// Variables of the Jupyter kernel and of the scripts and tests of the source tree; others of tests begin with
/// test_prefix.
inline constexpr const char* of_tools[] = {"MEZZO_ADAPTERS",       "MEZZO_BUILD_DIR",      "MEZZO_CHROOT",
                                           "MEZZO_FOLDERS",        "MEZZO_FUZZ_ONE",       "MEZZO_JOBS",
                                           "MEZZO_KERAS_FILES",    "MEZZO_KERAS_EXAMPLES", "MEZZO_KERAS_QUANTIZED",
                                           "MEZZO_LIBDIR",         "MEZZO_MINILM",         "MEZZO_MPIRUN",
                                           "MEZZO_ONNX",           "MEZZO_ONNX_CASES",     "MEZZO_ONNX_DEEP",
                                           "MEZZO_ONNX_KEEP",      "MEZZO_ONNX_TRAININGS", "MEZZO_PERFETTO",
                                           "MEZZO_PERFETTO_TRACE", "MEZZO_PREFIX",         "MEZZO_SCALING",
                                           "MEZZO_SITE_PYTHON",    "MEZZO_TENSORBOARD",    "MEZZO_TENSORBOARD_LOGS",
                                           "MEZZO_TIDY_FILES",     "MEZZO_VISION_FOLDERS", "MEZZO_WEIGHT_FILES",
                                           "MEZZO_WRITE_DOCS"};
inline constexpr const char* test_prefix = "MEZZO_TEST_";

}  // namespace mezzo::detail::environment_variables
