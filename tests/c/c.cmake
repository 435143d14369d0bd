# The C interface from outside: a program in C99, which test_c runs, and the list of exported symbols. The program is
# compiled as C by the driver of the C++ compiler: the project needs no second one.

if("c/" MATCHES "${MEZZO_TEST_FOLDERS}")
  set(c_folder "${CMAKE_CURRENT_SOURCE_DIR}/c")
  add_executable(mezzo_c_calls "${c_folder}/calls.c")
  set_source_files_properties("${c_folder}/calls.c" PROPERTIES LANGUAGE CXX
    COMPILE_OPTIONS "-xc;-std=c99;-Wall;-Wextra;-Werror;-pedantic")
  target_link_libraries(mezzo_c_calls PRIVATE mezzo_c)
  set(c_python)
  if(Python3_FOUND AND NOT MEZZO_SANITIZE)  # Python would have to load the sanitizer's runtime first
    set(c_python "${Python3_EXECUTABLE}")
  endif()
  set(c_onnx)
  if(BUILD_SHARED_LIBS)  # else libmezzo_onnx.a has a mezzo of its own
    set(c_onnx "$<TARGET_FILE:mezzo_onnx>")
    add_dependencies(test_c mezzo_onnx)
  endif()
  set(c_flags)
  if(MEZZO_SANITIZE)
    set(c_flags "-fsanitize=${MEZZO_SANITIZE}")
  endif()
  add_dependencies(test_c mezzo_c_calls)
  target_compile_definitions(test_c PRIVATE MEZZO_C_PROGRAM="$<TARGET_FILE:mezzo_c_calls>"
    MEZZO_C_LIBRARY="$<TARGET_FILE:mezzo_c>" MEZZO_C_FOLDER="$<TARGET_FILE_DIR:mezzo_c>" MEZZO_PYTHON="${c_python}"
    MEZZO_ONNX_LIBRARY="${c_onnx}"
    MEZZO_C_COMPILER="${CMAKE_CXX_COMPILER}" MEZZO_C_FLAGS="${c_flags}")
  if(Python3_FOUND)
    add_test(NAME c.symbols COMMAND Python3::Interpreter
      "${c_folder}/check_symbols.py" "$<TARGET_FILE:mezzo_c>" "${PROJECT_SOURCE_DIR}/framework/mezzo/c")
  endif()
endif()
