# The part for ONNX files, `mezzo::onnx`: a library of its own, so that programs without such files need no Protobuf.

# Adds mezzo_onnx, and mezzo_onnx_internal for the tests if there is a mezzo_internal.
function(mezzo_add_onnx)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/framework/mezzo/onnx/*.cpp")
  mezzo_include_roots(include_roots)
  add_library(mezzo_onnx_objects OBJECT ${sources})
  target_compile_options(mezzo_onnx_objects PRIVATE $<$<CONFIG:Release>:-O1>)
  mezzo_target_defaults(mezzo_onnx_objects)
  mezzo_hide_symbols(mezzo_onnx_objects)
  target_include_directories(mezzo_onnx_objects PRIVATE ${include_roots})
  target_link_libraries(mezzo_onnx_objects PRIVATE Onnx::Onnx fmt::fmt nlohmann_json::nlohmann_json)
  mezzo_batch_sources(mezzo_onnx_objects ${sources})
  if(BUILD_SHARED_LIBS)
    set(type SHARED)
  else()
    set(type STATIC)
    target_compile_definitions(mezzo_onnx_objects PRIVATE MEZZO_STATIC)
  endif()
  mezzo_add_onnx_library(mezzo_onnx ${type} mezzo)
  if(BUILD_SHARED_LIBS)
    mezzo_limit_exports(mezzo_onnx)
  endif()
  add_library(mezzo::onnx ALIAS mezzo_onnx)
  if(TARGET mezzo_internal AND BUILD_SHARED_LIBS)
    mezzo_add_onnx_library(mezzo_onnx_internal STATIC mezzo_internal)
  elseif(TARGET mezzo_internal)
    add_library(mezzo_onnx_internal ALIAS mezzo_onnx)
  endif()
endfunction()

function(mezzo_add_onnx_library target type library)
  add_library(${target} ${type} $<TARGET_OBJECTS:mezzo_onnx_objects>)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX EXPORT_NAME onnx)
  target_link_libraries(${target} PUBLIC ${library} PRIVATE Onnx::Onnx fmt::fmt)
endfunction()

# Installs mezzo_onnx. Programs find it by find_package(mezzo REQUIRED COMPONENTS onnx).
function(mezzo_install_onnx)
  set_target_properties(mezzo_onnx PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  mezzo_install_rpath(mezzo_onnx "$ORIGIN")
  install(TARGETS mezzo_onnx EXPORT mezzo-onnx-targets
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT onnx NAMELINK_COMPONENT development
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development)
  install(EXPORT mezzo-onnx-targets NAMESPACE mezzo:: DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/mezzo"
    COMPONENT development)
endfunction()
