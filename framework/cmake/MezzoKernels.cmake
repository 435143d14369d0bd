# Kernels that are compiled once per instruction set and chosen at run time.
#
# Each `name.isa.cpp` is compiled once for every entry of MEZZO_ISAS, with MEZZO_ISA defined as the entry's name:
# `namespace mezzo::xsimd_kernels::MEZZO_ISA { ... }` keeps the copies apart. Inline functions and templates of other
# namespaces would exist in every copy; the linker keeps the first. Therefore the objects are linked like libraries:
# after the target's own sources, and the lowest instruction set first. So a machine never runs an instruction that it
# lacks. The test structure.isa_objects checks that the objects share no symbol.
#
# A new instruction set takes an entry here, its enumerator in core/isa.hpp, its table in xsimd/isa_kernels.cpp and a
# xsimd/vector_<name>.hpp.

set(MEZZO_ISAS sse2 avx2 avx512 avx512_bf16)
set(MEZZO_ISA_FLAGS_sse2)
set(MEZZO_ISA_FLAGS_avx2 -mavx2 -mfma -mf16c)
set(MEZZO_ISA_FLAGS_avx512 ${MEZZO_ISA_FLAGS_avx2} -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512cd)
set(MEZZO_ISA_FLAGS_avx512_bf16 ${MEZZO_ISA_FLAGS_avx512} -mavx512bf16)

# Adds the kernels under `folder` to `target`. Call it after the target's include folders and libraries are set.
function(mezzo_add_isa_kernels target folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${folder}/*.isa.cpp")
  if(NOT sources)
    return()
  endif()
  # With so many small inlined functions, GCC 12 takes minutes for use-after-scope checks.
  set(quick_to_sanitize)
  if(MEZZO_SANITIZE)
    set(quick_to_sanitize -fno-sanitize-address-use-after-scope)
  endif()
  foreach(isa IN LISTS MEZZO_ISAS)
    set(objects ${target}_${isa})
    add_library(${objects} OBJECT ${sources})
    mezzo_target_defaults(${objects})
    target_include_directories(${objects} PRIVATE $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
    target_compile_definitions(${objects} PRIVATE MEZZO_ISA=${isa})
    # Optimized in every type of build: GCC 12 can't compile xsimd's AVX-512 code otherwise, and functions that are not
    # inlined would be shared between the copies. GCC 12 warns of undefined vectors in its own intrinsics (GCC bug
    # 105593).
    target_compile_options(${objects} PRIVATE -O3 ${MEZZO_ISA_FLAGS_${isa}}
      ${quick_to_sanitize}
      $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-Wno-uninitialized>)
    target_link_libraries(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
  endforeach()
endfunction()
