#ifndef MEZZO_C_MEZZO_H
#define MEZZO_C_MEZZO_H

/**
 * @file
 * C interface of mezzo: loads a saved model, predicts, trains it step by step and saves it. Valid C99 and C++. Programs
 * link libmezzo_c: `mezzo::c` in CMake, `mezzo-c` for pkg-config. docs/c_api.md describes it.
 *
 * Every function that can fail returns a mezzo_status; mezzo_last_error() then has the text. No C++ exception leaves
 * these functions. Structs begin with their size, `.struct_size = sizeof s`, so that programs keep running with later
 * versions of the library, which may add members at the end. Members that are left out are 0, their default.
 */

/* NOLINTBEGIN(modernize-deprecated-headers,modernize-use-using,readability-identifier-naming): this is C */
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define MEZZO_C_API __attribute__((visibility("default")))
#else
#define MEZZO_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Result of a function: MEZZO_OK or the kind of an error. */
typedef int32_t mezzo_status;
enum {
  MEZZO_OK = 0,
  MEZZO_ERROR_ARGUMENT = 1, /**< a null pointer, or a struct_size or index that is not valid */
  MEZZO_ERROR_VALUE = 2,    /**< a value out of its range, or a call that the model does not allow */
  MEZZO_ERROR_SHAPE = 3,    /**< a shape that the model does not accept */
  MEZZO_ERROR_DTYPE = 4,    /**< a dtype that the model does not accept */
  MEZZO_ERROR_NAME = 5,     /**< an unknown name; the text lists the valid ones */
  MEZZO_ERROR_FILE = 6,     /**< a file that is missing, damaged or of another kind */
  MEZZO_ERROR_MEMORY = 7,   /**< memory is insufficient */
  MEZZO_ERROR_BUFFER = 8,   /**< a buffer or list is too small; the needed size was set */
  MEZZO_ERROR_OTHER = 9     /**< any other error */
};

/** Type of the elements of an array. bfloat16 and float16 have 2 bytes, booleans 1. */
enum {
  MEZZO_FLOAT32 = 1,
  MEZZO_FLOAT64 = 2,
  MEZZO_BFLOAT16 = 3,
  MEZZO_FLOAT16 = 4,
  MEZZO_INT8 = 5,
  MEZZO_INT16 = 6,
  MEZZO_INT32 = 7,
  MEZZO_INT64 = 8,
  MEZZO_UINT8 = 9,
  MEZZO_BOOL = 10
};

/** Version of this interface that the header describes, and the highest number of axes of an array. */
enum { MEZZO_ABI_VERSION = 1, MEZZO_MAX_RANK = 8 };

/** A loaded model. */
typedef struct mezzo_model mezzo_model;

/** Options of mezzo_load(). */
typedef struct mezzo_load_options {
  size_t struct_size;    /**< sizeof(mezzo_load_options) */
  const char* precision; /**< name of a policy, such as "mixed_bfloat16"; NULL: that of the file */
  int32_t no_compile;    /**< not 0: leaves out optimizer, losses and metrics: the model can only predict */
  int32_t workers;       /**< predictions that run at a time, each by its share of the threads; 0: 1 */
} mezzo_load_options;

/** Options of mezzo_save(). */
typedef struct mezzo_save_options {
  size_t struct_size;   /**< sizeof(mezzo_save_options) */
  int32_t no_overwrite; /**< not 0: a MEZZO_ERROR_FILE if the file exists */
  int32_t no_compile;   /**< not 0: leaves out optimizer, losses and metrics */
} mezzo_save_options;

/** Description of an input or output of a model. */
typedef struct mezzo_tensor_info {
  size_t struct_size;            /**< sizeof(mezzo_tensor_info), set by the caller */
  const char* name;              /**< "" if it has none; exists until mezzo_free() */
  int32_t dtype;                 /**< MEZZO_FLOAT32, ... */
  int32_t rank;                  /**< number of axes */
  int64_t shape[MEZZO_MAX_RANK]; /**< sizes; -1: open, as that of the samples */
} mezzo_tensor_info;

/** An array of the caller that a call reads: contiguous, row-major, samples along axis 0. */
typedef struct mezzo_array {
  size_t struct_size;   /**< sizeof(mezzo_array) */
  const char* name;     /**< name of the input or output; NULL for all arrays of a list: by position */
  const void* data;     /**< the elements; aligned to the size of one */
  size_t bytes;         /**< bytes at `data`: those of the elements */
  const int64_t* shape; /**< `rank` sizes */
  int32_t rank;         /**< number of axes */
  int32_t dtype;        /**< MEZZO_FLOAT32, ... */
} mezzo_array;

/** Memory of the caller for an output. */
typedef struct mezzo_buffer {
  size_t struct_size;            /**< sizeof(mezzo_buffer), set by the caller */
  void* data;                    /**< memory; NULL only with capacity 0 */
  size_t capacity;               /**< bytes of the memory */
  size_t bytes;                  /**< result: bytes of the output, also if the capacity is too small */
  int32_t dtype;                 /**< result: dtype of the output: floats are MEZZO_FLOAT32 or MEZZO_FLOAT64 */
  int32_t rank;                  /**< result: number of axes */
  int64_t shape[MEZZO_MAX_RANK]; /**< result: sizes */
} mezzo_buffer;

/** A number that a step has logged. */
typedef struct mezzo_number {
  const char* name; /**< "loss", "accuracy", ...; exists until mezzo_free() */
  double value;
} mezzo_number;

/** Numbers of a step, in memory of the caller. */
typedef struct mezzo_numbers {
  size_t struct_size;    /**< sizeof(mezzo_numbers), set by the caller */
  mezzo_number* entries; /**< memory; NULL only with capacity 0 */
  size_t capacity;       /**< entries of the memory */
  size_t count;          /**< result: numbers of the step, also if the capacity is too small */
} mezzo_numbers;

/** Arguments of a training or evaluation step. */
typedef struct mezzo_step {
  size_t struct_size;                /**< sizeof(mezzo_step) */
  const mezzo_array* inputs;         /**< arrays of the inputs */
  size_t input_count;                /**< number of them */
  const mezzo_array* targets;        /**< arrays of the targets */
  size_t target_count;               /**< number of them */
  const mezzo_array* sample_weights; /**< weights of the samples, one array or one for each output; NULL: all 1 */
  size_t sample_weight_count;        /**< number of these arrays */
} mezzo_step;

/** Version of the library: "0.2.0". */
MEZZO_C_API const char* mezzo_version(void);

/** MEZZO_ABI_VERSION of the library. A library with a higher number than a program's also serves that program. */
MEZZO_C_API int32_t mezzo_abi_version(void);

/** Text of the last error in the calling thread, one line; "" before the first one. It exists until the next call of
 *  this interface in the thread. */
MEZZO_C_API const char* mezzo_last_error(void);

/** Reads a model from a file of Model::save(), from one of Keras (.keras, .h5), or from an ONNX file if libmezzo_onnx
 *  is in the process. `options` may be NULL. `*model` is NULL after an error, else to be freed by mezzo_free(). */
MEZZO_C_API mezzo_status mezzo_load(const char* path, const mezzo_load_options* options, mezzo_model** model);

/** Frees a model. No other call may use it then. NULL: no effect. */
MEZZO_C_API void mezzo_free(mezzo_model* model);

/** Numbers of inputs and outputs. MEZZO_ERROR_VALUE if they depend on the data. */
MEZZO_C_API mezzo_status mezzo_input_count(const mezzo_model* model, size_t* count);
MEZZO_C_API mezzo_status mezzo_output_count(const mezzo_model* model, size_t* count);

/** Names, dtypes and shapes of inputs and outputs, by position. */
MEZZO_C_API mezzo_status mezzo_input_info(const mezzo_model* model, size_t index, mezzo_tensor_info* info);
MEZZO_C_API mezzo_status mezzo_output_info(const mezzo_model* model, size_t index, mezzo_tensor_info* info);

/** Computes the outputs for all samples, in inference. Arrays have the order of the model's inputs, or names. Any
 *  number of threads may call it with one model at once: mezzo_load_options.workers of them compute. The first call,
 *  the first one after a training step, and the first one for other shapes compile. MEZZO_ERROR_BUFFER if a buffer is too small: no buffer was
 *  written then, and all have `bytes`. */
MEZZO_C_API mezzo_status mezzo_predict(mezzo_model* model, const mezzo_array* inputs, size_t input_count,
                                       mezzo_buffer* outputs, size_t output_count);

/** Trains the model by one update with these samples, as Model::train_on_batch(). The model must have been compiled
 *  when it was saved. `numbers` may be NULL. Other calls with the model wait. After MEZZO_ERROR_BUFFER the step is
 *  done. After another error no weight has changed. */
MEZZO_C_API mezzo_status mezzo_train_step(mezzo_model* model, const mezzo_step* step, mezzo_numbers* numbers);

/** Computes loss and metrics of these samples, as Model::test_on_batch(). Otherwise as mezzo_train_step(). */
MEZZO_C_API mezzo_status mezzo_evaluate_step(mezzo_model* model, const mezzo_step* step, mezzo_numbers* numbers);

/** Writes the model to a file, in which a training can be continued: `.mezzo`, or `.keras` for Keras. The file is
 *  replaced as a whole. `options` may be NULL. Other calls with the model wait. */
MEZZO_C_API mezzo_status mezzo_save(mezzo_model* model, const char* path, const mezzo_save_options* options);

#ifdef __cplusplus
}
#endif
/* NOLINTEND(modernize-deprecated-headers,modernize-use-using,readability-identifier-naming) */

#endif
