# Finds the messages of ONNX files, compiled for Protobuf: Debian's libonnx-dev and libprotobuf-dev. Defines Onnx::Onnx.
# ONNX's own package file also asks for libraries that mezzo doesn't use.

find_path(Onnx_INCLUDE_DIR onnx/onnx_pb.h)
find_library(Onnx_LIBRARY onnx_proto)
find_library(Onnx_PROTOBUF_LIBRARY protobuf)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Onnx REQUIRED_VARS Onnx_LIBRARY Onnx_PROTOBUF_LIBRARY Onnx_INCLUDE_DIR)
mark_as_advanced(Onnx_INCLUDE_DIR Onnx_LIBRARY Onnx_PROTOBUF_LIBRARY)

if(Onnx_FOUND AND NOT TARGET Onnx::Onnx)
  add_library(Onnx::Onnx UNKNOWN IMPORTED)
  # The macros choose the messages that libonnx_proto was compiled with.
  set_target_properties(Onnx::Onnx PROPERTIES
    IMPORTED_LOCATION "${Onnx_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${Onnx_INCLUDE_DIR}"
    INTERFACE_COMPILE_DEFINITIONS "ONNX_ML=1;ONNX_NAMESPACE=onnx" INTERFACE_LINK_LIBRARIES "${Onnx_PROTOBUF_LIBRARY}")
endif()
