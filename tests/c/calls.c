/* Calls every function of <mezzo/c/mezzo.h> as a program in C99 does. calls FOLDER: test_c_interface.cpp has written
 * the files there: a model of 4 inputs and 3 classes, compiled (model.mezzo) and not (plain.mezzo), one of two inputs and
 * outputs (two.mezzo), and arrays. Prints the numbers that that file compares. */
#include <mezzo/c/mezzo.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { samples = 6, features = 4, classes = 3, text_size = 512 };

static int failures = 0;

static void check(int holds, const char* what, int line) {
  if (holds) return;
  printf("line %d: %s; last error: %s\n", line, what, mezzo_last_error());
  ++failures;
}
#define CHECK(condition) check((condition) ? 1 : 0, #condition, __LINE__)

/* Checks the status and the text of an error. */
static void check_error(mezzo_status status, mezzo_status expected, const char* text, int line) {
  if (status == expected && strcmp(mezzo_last_error(), text) == 0) return;
  printf("line %d: expected %d \"%s\"; got %d \"%s\"\n", line, (int)expected, text, (int)status, mezzo_last_error());
  ++failures;
}
#define CHECK_ERROR(call, status, text) check_error((call), (status), (text), __LINE__)

static void in_folder(char* path, const char* folder, const char* name) {
  path[0] = '\0';
  strncat(path, folder, text_size - 64);
  strcat(path, "/");
  strcat(path, name);
}

static void read_bytes(const char* folder, const char* name, void* data, size_t bytes) {
  char path[text_size];
  FILE* file;
  in_folder(path, folder, name);
  file = fopen(path, "rb");
  if (file == NULL || fread(data, 1, bytes, file) != bytes) {
    printf("%s can't be read\n", path);
    exit(2);
  }
  fclose(file);
}

static mezzo_model* load(const char* folder, const char* name) {
  char path[text_size];
  mezzo_model* model = NULL;
  in_folder(path, folder, name);
  CHECK(mezzo_load(path, NULL, &model) == MEZZO_OK);
  if (model == NULL) exit(3);
  return model;
}

static float x[samples][features];
static int64_t y[samples];
static const int64_t x_shape[] = {samples, features};
static const int64_t y_shape[] = {samples};

static mezzo_array x_array(void) {
  mezzo_array out = {.struct_size = sizeof out, .data = x, .bytes = sizeof x, .shape = x_shape, .rank = 2,
                     .dtype = MEZZO_FLOAT32};
  return out;
}

static mezzo_array y_array(void) {
  mezzo_array out = {.struct_size = sizeof out, .data = y, .bytes = sizeof y, .shape = y_shape, .rank = 1,
                     .dtype = MEZZO_INT64};
  return out;
}

static void describe(const mezzo_model* model) {
  mezzo_tensor_info info = {.struct_size = sizeof info};
  size_t count = 0;
  CHECK(mezzo_input_count(model, &count) == MEZZO_OK && count == 1);
  CHECK(mezzo_output_count(model, &count) == MEZZO_OK && count == 1);
  CHECK(mezzo_input_info(model, 0, &info) == MEZZO_OK);
  CHECK(strcmp(info.name, "pixels") == 0 && info.dtype == MEZZO_FLOAT32 && info.rank == 2);
  CHECK(info.shape[0] == -1 && info.shape[1] == features && info.struct_size == sizeof info);
  CHECK(mezzo_output_info(model, 0, &info) == MEZZO_OK);
  CHECK(strcmp(info.name, "scores") == 0 && info.dtype == MEZZO_FLOAT32 && info.rank == 2);
  CHECK(info.shape[0] == -1 && info.shape[1] == classes);
  CHECK_ERROR(mezzo_output_info(model, 1, &info), MEZZO_ERROR_ARGUMENT,
              "[mezzo_output_info] index must be below 1; got 1");
}

static void predict(mezzo_model* model, const char* label) {
  float out[samples][classes];
  const mezzo_array input = x_array();
  mezzo_buffer buffer = {.struct_size = sizeof buffer, .data = out, .capacity = sizeof out};
  size_t i;
  CHECK(mezzo_predict(model, &input, 1, &buffer, 1) == MEZZO_OK);
  CHECK(buffer.bytes == sizeof out && buffer.dtype == MEZZO_FLOAT32 && buffer.rank == 2);
  CHECK(buffer.shape[0] == samples && buffer.shape[1] == classes);
  printf("%s", label);
  for (i = 0; i < samples * classes; ++i) printf(" %.9g", (double)(&out[0][0])[i]);
  printf("\n");
}

static void train(mezzo_model* model) {
  const mezzo_array input = x_array(), target = y_array();
  mezzo_number entries[4];
  mezzo_numbers numbers = {.struct_size = sizeof numbers, .entries = entries, .capacity = 4};
  mezzo_step step = {.struct_size = sizeof step, .inputs = &input, .input_count = 1, .targets = &target,
                     .target_count = 1};
  const float weights[samples] = {1, 0, 1, 2, 1, 1};
  mezzo_array weight = y_array();
  size_t i, k;
  weight.data = weights;
  weight.bytes = sizeof weights;
  weight.dtype = MEZZO_FLOAT32;
  for (i = 0; i < 3; ++i) {
    step.sample_weights = i == 2 ? &weight : NULL;
    step.sample_weight_count = i == 2 ? 1 : 0;
    CHECK(mezzo_train_step(model, &step, &numbers) == MEZZO_OK);
    printf("train");
    for (k = 0; k < numbers.count; ++k) printf(" %s=%.17g", entries[k].name, entries[k].value);
    printf("\n");
  }
  step.sample_weights = NULL;
  step.sample_weight_count = 0;
  CHECK(mezzo_evaluate_step(model, &step, &numbers) == MEZZO_OK);
  printf("evaluate");
  for (k = 0; k < numbers.count; ++k) printf(" %s=%.17g", entries[k].name, entries[k].value);
  printf("\n");
  CHECK(mezzo_train_step(model, &step, NULL) == MEZZO_OK);
  numbers.capacity = 1;
  CHECK_ERROR(mezzo_evaluate_step(model, &step, &numbers), MEZZO_ERROR_BUFFER,
              "[mezzo_evaluate_step] capacity of numbers must be at least 2; got 1");
  CHECK(numbers.count == 2);
}

static void two_inputs(mezzo_model* model) {
  float sum[samples][2], difference[samples][2];
  float a[samples][2], b[samples][2];
  const int64_t shape[] = {samples, 2};
  mezzo_array inputs[] = {
      {.struct_size = sizeof inputs[0], .name = "b", .data = b, .bytes = sizeof b, .shape = shape, .rank = 2,
       .dtype = MEZZO_FLOAT32},
      {.struct_size = sizeof inputs[0], .name = "a", .data = a, .bytes = sizeof a, .shape = shape, .rank = 2,
       .dtype = MEZZO_FLOAT32}};
  mezzo_buffer outputs[] = {{.struct_size = sizeof outputs[0], .data = sum, .capacity = sizeof sum},
                            {.struct_size = sizeof outputs[0], .data = difference, .capacity = sizeof difference}};
  mezzo_tensor_info info = {.struct_size = sizeof info};
  size_t i;
  for (i = 0; i < samples * 2; ++i) {
    (&a[0][0])[i] = (float)i;
    (&b[0][0])[i] = 2;
  }
  CHECK(mezzo_predict(model, inputs, 2, outputs, 2) == MEZZO_OK);
  CHECK(sum[5][1] == 13 && difference[5][1] == 9);
  CHECK(mezzo_output_info(model, 1, &info) == MEZZO_OK && strcmp(info.name, "difference") == 0);
  CHECK_ERROR(mezzo_predict(model, inputs, 2, outputs, 1), MEZZO_ERROR_VALUE,
              "[mezzo_predict] output_count must be 2, that of the model; got 1");
  outputs[1].capacity = 4;
  sum[0][0] = -1;
  CHECK_ERROR(mezzo_predict(model, inputs, 2, outputs, 2), MEZZO_ERROR_BUFFER,
              "[mezzo_predict] outputs[1]: capacity must be at least 48 bytes for float32 (6, 2); got 4");
  CHECK(sum[0][0] == -1 && outputs[0].bytes == sizeof sum && outputs[1].bytes == sizeof difference);
  inputs[0].name = NULL;
  CHECK_ERROR(mezzo_predict(model, inputs, 2, outputs, 2), MEZZO_ERROR_NAME,
              "[mezzo_predict] inputs must all have a name, or none; got 1 of 2");
}

static void refuse_arguments(mezzo_model* model, mezzo_model* plain, const char* folder) {
  float out[samples][classes];
  mezzo_array input = x_array();
  const mezzo_array target = y_array();
  mezzo_buffer buffer = {.struct_size = sizeof buffer, .data = out, .capacity = sizeof out};
  const mezzo_step step = {.struct_size = sizeof step, .inputs = &input, .input_count = 1, .targets = &target,
                           .target_count = 1};
  mezzo_tensor_info info = {.struct_size = 8};
  mezzo_model* none = plain;
  char path[text_size], text[2 * text_size];
  CHECK_ERROR(mezzo_predict(NULL, &input, 1, &buffer, 1), MEZZO_ERROR_ARGUMENT,
              "[mezzo_predict] model must not be NULL");
  CHECK_ERROR(mezzo_predict(model, NULL, 1, &buffer, 1), MEZZO_ERROR_ARGUMENT,
              "[mezzo_predict] inputs must not be NULL");
  CHECK_ERROR(mezzo_predict(model, &input, 1, NULL, 1), MEZZO_ERROR_ARGUMENT,
              "[mezzo_predict] outputs must not be NULL");
  CHECK_ERROR(mezzo_train_step(model, NULL, NULL), MEZZO_ERROR_ARGUMENT, "[mezzo_train_step] step must not be NULL");
  CHECK_ERROR(mezzo_load(NULL, NULL, &none), MEZZO_ERROR_ARGUMENT, "[mezzo_load] path must not be NULL");
  CHECK(none == NULL);
  CHECK_ERROR(mezzo_input_info(model, 0, &info), MEZZO_ERROR_ARGUMENT,
              "[mezzo_input_info] struct_size of info must be its sizeof, 88; got 8");
  input.bytes -= 4;
  CHECK_ERROR(mezzo_predict(model, &input, 1, &buffer, 1), MEZZO_ERROR_SHAPE,
              "[mezzo_predict] inputs[0]: bytes must be 96 for float32 (6, 4); got 92");
  input = x_array();
  input.dtype = 77;
  CHECK_ERROR(mezzo_predict(model, &input, 1, &buffer, 1), MEZZO_ERROR_DTYPE,
              "[mezzo_predict] inputs[0]: dtype must be MEZZO_FLOAT32 (1) to MEZZO_BOOL (10); got 77");
  input = x_array();
  input.rank = 9;
  CHECK_ERROR(mezzo_predict(model, &input, 1, &buffer, 1), MEZZO_ERROR_SHAPE,
              "[mezzo_predict] inputs[0]: rank must be 0 to 8; got 9");
  input = x_array();
  input.struct_size = 3;
  CHECK_ERROR(mezzo_predict(model, &input, 1, &buffer, 1), MEZZO_ERROR_ARGUMENT,
              "[mezzo_predict] struct_size of inputs must be its sizeof, 48; got 3");
  input = x_array();
  CHECK(mezzo_train_step(plain, &step, NULL) == MEZZO_ERROR_VALUE);
  CHECK(strstr(mezzo_last_error(), "must be compiled") != NULL || strstr(mezzo_last_error(), "compile()") != NULL);
  in_folder(path, folder, "missing.mezzo");
  CHECK(mezzo_load(path, NULL, &none) == MEZZO_ERROR_FILE && none == NULL);
  in_folder(path, folder, "missing.onnx");
  sprintf(text, "[mezzo_load] ONNX files need libmezzo_onnx in the process, linked or loaded before; got \"%s\" without it",
          path);
  CHECK_ERROR(mezzo_load(path, NULL, &none), MEZZO_ERROR_FILE, text);
  mezzo_free(NULL);
}

/* A later version's struct, with one member more. */
static void read_versions(const char* folder) {
  struct {
    mezzo_load_options now;
    size_t later;
  } options;
  mezzo_model* model = NULL;
  char path[text_size];
  in_folder(path, folder, "model.mezzo");
  memset(&options, 0, sizeof options);
  options.now.struct_size = sizeof options;
  CHECK(mezzo_load(path, &options.now, &model) == MEZZO_OK);
  mezzo_free(model);
  options.later = 1;
  CHECK_ERROR(mezzo_load(path, &options.now, &model), MEZZO_ERROR_ARGUMENT,
              "[mezzo_load] options has members of a later version that are not 0: struct_size must be at most 24; "
              "got 32");
  options.now.struct_size = sizeof options.now;
  options.now.precision = "half";
  CHECK(mezzo_load(path, &options.now, &model) == MEZZO_ERROR_NAME && model == NULL);
  options.now.precision = "bfloat16";
  options.now.no_compile = 1;
  options.now.workers = -1;
  CHECK_ERROR(mezzo_load(path, &options.now, &model), MEZZO_ERROR_ARGUMENT,
              "[mezzo_load] options: workers must be at least 0; got -1");
  options.now.workers = 0;
  CHECK(mezzo_load(path, &options.now, &model) == MEZZO_OK);
  mezzo_free(model);
}

int main(int argc, char** argv) {
  mezzo_model *model, *plain, *two;
  const mezzo_save_options keep = {.struct_size = sizeof keep, .no_overwrite = 1};
  char path[text_size];
  if (argc != 2) return 2;
  CHECK(strcmp(mezzo_last_error(), "") == 0);
  CHECK(mezzo_abi_version() == MEZZO_ABI_VERSION);
  printf("version %s\n", mezzo_version());
  read_bytes(argv[1], "x.bin", x, sizeof x);
  read_bytes(argv[1], "y.bin", y, sizeof y);
  model = load(argv[1], "model.mezzo");
  plain = load(argv[1], "plain.mezzo");
  two = load(argv[1], "two.mezzo");
  describe(model);
  predict(model, "before");
  train(model);
  predict(model, "after");
  in_folder(path, argv[1], "saved.mezzo");
  CHECK(mezzo_save(model, path, NULL) == MEZZO_OK);
  CHECK(mezzo_save(model, path, &keep) == MEZZO_ERROR_FILE);
  two_inputs(two);
  refuse_arguments(model, plain, argv[1]);
  read_versions(argv[1]);
  mezzo_free(model);
  mezzo_free(plain);
  mezzo_free(two);
  printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
