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

# Adds the kernels under `folder` to `target`, an object library that already has its include folders and libraries.
# Sets `objects` to the objects of both in the order in which they are linked.
function(mezzo_add_isa_kernels target folder objects)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${folder}/*.isa.cpp")
  # Optimized in every build: GCC 12 can't compile xsimd's AVX-512 otherwise, and functions that are not inlined would
  # be shared between the copies. Sanitizers take minutes at -O3, and for checks of pointers that AddressSanitizer makes
  # anyway.
  set(optimization -O3)
  if(MEZZO_SANITIZE)
    set(optimization -O1 -fno-sanitize=null,alignment,object-size,vptr,pointer-overflow -fno-sanitize-address-use-after-scope)
  endif()
  set(all $<TARGET_OBJECTS:${target}>)
  foreach(isa IN LISTS MEZZO_ISAS)
    add_library(mezzo_${isa} OBJECT ${sources})
    mezzo_target_defaults(mezzo_${isa})
    mezzo_hide_symbols(mezzo_${isa})
    mezzo_precompile_headers(mezzo_${isa} <xsimd/xsimd.hpp>)
    target_include_directories(mezzo_${isa} PRIVATE $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
    target_compile_definitions(mezzo_${isa} PRIVATE MEZZO_ISA=${isa})
    # GCC 12 warns of undefined vectors in its own intrinsics (GCC bug 105593).
    target_compile_options(mezzo_${isa} PRIVATE ${optimization} ${MEZZO_ISA_FLAGS_${isa}}
      $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-Wno-uninitialized>)
    list(APPEND all $<TARGET_OBJECTS:mezzo_${isa}>)
  endforeach()
  set(${objects} ${all} PARENT_SCOPE)
endfunction()
