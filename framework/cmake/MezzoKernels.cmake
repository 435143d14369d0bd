# Kernels that are compiled once per instruction set and chosen at run time.
#
# Each `name.isa.cpp` is compiled once for every instruction set that MEZZO_KERNELS chooses, with MEZZO_ISA defined as the entry's name:
# `namespace mezzo::xsimd_kernels::MEZZO_ISA { ... }` keeps the copies apart. Inline functions and templates of other
# namespaces would exist in every copy; the linker keeps the first. Therefore the objects are linked like libraries:
# after the target's own sources, and the lowest instruction set first. So a machine never runs an instruction that it
# lacks. The test structure.isa_objects checks that the objects share no symbol.
#
# A new instruction set takes an entry here, its enumerator in core/isa.hpp, its lines in core/compiled_isas.cpp and
# xsimd/isa_kernels.cpp, and a xsimd/vector_<name>.hpp.

set(MEZZO_ALL_ISAS sse2 avx2 avx512 avx512_bf16)
set(MEZZO_ISA_FLAGS_sse2)
set(MEZZO_ISA_FLAGS_avx2 -mavx2 -mfma -mf16c)
set(MEZZO_ISA_FLAGS_avx512 ${MEZZO_ISA_FLAGS_avx2} -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512cd)
set(MEZZO_ISA_FLAGS_avx512_bf16 ${MEZZO_ISA_FLAGS_avx512} -mavx512bf16)

# Processor flags that an instruction set needs beyond those of the one before it, as Linux names them.
set(MEZZO_ISA_CPU_avx2 avx2 fma f16c)
set(MEZZO_ISA_CPU_avx512 avx512f avx512bw avx512dq avx512vl avx512cd)
set(MEZZO_ISA_CPU_avx512_bf16 avx512_bf16)

# Sets `out` to the highest instruction set of this machine's CPU.
function(mezzo_native_isa out)
  file(STRINGS /proc/cpuinfo flags LIMIT_COUNT 1 REGEX "^flags")
  string(REGEX MATCHALL "[a-z0-9_]+" flags "${flags}")
  foreach(isa IN LISTS MEZZO_ALL_ISAS)
    foreach(flag IN LISTS MEZZO_ISA_CPU_${isa})
      if(NOT flag IN_LIST flags)
        return()
      endif()
    endforeach()
    set(${out} ${isa} PARENT_SCOPE)
  endforeach()
endfunction()

# Sets `out` to the instruction sets that MEZZO_KERNELS asks for, the lowest first.
function(mezzo_chosen_isas out)
  if(MEZZO_KERNELS STREQUAL "all")
    set(chosen ${MEZZO_ALL_ISAS})
  elseif(MEZZO_KERNELS STREQUAL "native")
    mezzo_native_isa(chosen)
  else()
    foreach(isa IN LISTS MEZZO_KERNELS)
      if(NOT isa IN_LIST MEZZO_ALL_ISAS)
        message(FATAL_ERROR "MEZZO_KERNELS must be \"all\", \"native\" or a list of ${MEZZO_ALL_ISAS}; got \"${MEZZO_KERNELS}\"")
      endif()
    endforeach()
    set(chosen ${MEZZO_ALL_ISAS})
    list(JOIN MEZZO_KERNELS "|" pattern)
    list(FILTER chosen INCLUDE REGEX "^(${pattern})$")
  endif()
  if(MEZZO_BUILD_TESTS AND NOT chosen STREQUAL MEZZO_ALL_ISAS)
    message(FATAL_ERROR "the tests need MEZZO_KERNELS=all; got \"${MEZZO_KERNELS}\"")
  endif()
  set(${out} ${chosen} PARENT_SCOPE)
endfunction()

# Adds the kernels under `folder` to `target`, an object library that already has its include folders and libraries.
# Sets `objects` to the objects of the kernels in the order in which they are linked.
function(mezzo_add_isa_kernels target folder objects)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${folder}/*.isa.cpp")
  # Optimized in every build: GCC 12 can't compile xsimd's AVX-512 otherwise, and functions that are not inlined would
  # be shared between the copies. Sanitizers take minutes at -O3, and for checks of pointers that AddressSanitizer makes
  # anyway.
  set(optimization -O3)
  if(MEZZO_SANITIZE)
    set(optimization -O1 -fno-sanitize=null,alignment,object-size,vptr,pointer-overflow -fno-sanitize-address-use-after-scope)
  endif()
  set(all)
  mezzo_chosen_isas(isas)
  list(TRANSFORM isas PREPEND MEZZO_WITH_ OUTPUT_VARIABLE definitions)
  list(TRANSFORM definitions APPEND =1)
  get_filename_component(list "${folder}/../../core/compiled_isas.cpp" ABSOLUTE)
  set_source_files_properties("${list}" "${folder}/isa_kernels.cpp" PROPERTIES COMPILE_DEFINITIONS "${definitions}")
  foreach(isa IN LISTS isas)
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
