# The CUDA engine. Its parts are object libraries, so that an executable picks one set of kernels by naming it:
#   starpo-cuda-host      what is plain C++ and serves both
#   starpo-cuda-emulated  the kernels as C++, each CUDA thread a fiber: what the tests run

file(GLOB_RECURSE STARPO_KERNEL_SOURCES CONFIGURE_DEPENDS src/cuda/*.cu)
file(GLOB_RECURSE STARPO_CUDA_HOST_SOURCES CONFIGURE_DEPENDS src/cuda/*.cpp)
list(FILTER STARPO_CUDA_HOST_SOURCES EXCLUDE REGEX "/src/cuda/emulated/")
file(GLOB STARPO_EMULATION_SOURCES CONFIGURE_DEPENDS src/cuda/emulated/*.cpp)

add_library(starpo-cuda-host OBJECT ${STARPO_CUDA_HOST_SOURCES})
target_link_libraries(starpo-cuda-host PUBLIC starpo)

# A file has one language in CMake; a kernel's has two, so C++ gets it through a file that includes it.
foreach(source IN LISTS STARPO_KERNEL_SOURCES)
  if(source MATCHES "/cuda/runtime/")
    continue()
  endif()
  cmake_path(GET source STEM name)
  set(wrapper ${CMAKE_CURRENT_BINARY_DIR}/emulated/${name}.cpp)
  file(CONFIGURE OUTPUT ${wrapper} CONTENT "#include \"${source}\"\n")
  list(APPEND STARPO_EMULATION_SOURCES ${wrapper})
endforeach()
add_library(starpo-cuda-emulated OBJECT ${STARPO_EMULATION_SOURCES})
target_compile_definitions(starpo-cuda-emulated PUBLIC STARPO_EMULATED)
target_compile_options(starpo-cuda-emulated PRIVATE -Wno-unknown-pragmas)
target_link_libraries(starpo-cuda-emulated PUBLIC starpo)
