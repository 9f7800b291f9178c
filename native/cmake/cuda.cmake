# The CUDA engine. Its parts are object libraries, so that an executable links one set of kernels:
#   starpo-cuda           the kernels, compiled by nvcc, and the runtime on libcudart
#   starpo-cuda-host      the C++ parts that both sets of kernels use
#   starpo-cuda-emulated  the kernels compiled as C++, with a fiber per CUDA thread, for the tests
#   starpo-cuda-absent    replaces the others without nvcc, and reports that
# STARPO_CUDA_LIBRARIES are the libraries of the trainer.
set(STARPO_CUDA AUTO CACHE STRING "Build for NVIDIA GPUs: ON, OFF, or AUTO (if nvcc works)")
# 8.0 is the first generation with bf16 tensor cores, and its PTX runs on all later ones. 9.0a has its own code.
set(STARPO_CUDA_ARCHITECTURES "80;90a-real" CACHE STRING "CMake architectures for which the kernels are built")

file(GLOB_RECURSE STARPO_KERNEL_SOURCES CONFIGURE_DEPENDS src/engine/cuda/*.cu)
file(GLOB_RECURSE STARPO_CUDA_HOST_SOURCES CONFIGURE_DEPENDS src/engine/cuda/*.cpp)
list(FILTER STARPO_CUDA_HOST_SOURCES EXCLUDE REGEX "/src/engine/cuda/(emulated|absent)/")
file(GLOB STARPO_EMULATION_SOURCES CONFIGURE_DEPENDS src/engine/cuda/emulated/*.cpp)
file(GLOB STARPO_ABSENT_SOURCES CONFIGURE_DEPENDS src/engine/cuda/absent/*.cpp)

# Generates the list of self-tests from the files selftest/check_*.cpp.
file(GLOB STARPO_CHECK_SOURCES CONFIGURE_DEPENDS src/engine/cuda/selftest/check_*.cpp)
set(STARPO_CHECK_DECLARATIONS "")
set(STARPO_CHECK_CALLS "")
foreach(source IN LISTS STARPO_CHECK_SOURCES)
  string(REGEX REPLACE ".*/check_(.*)\\.cpp$" "\\1" family ${source})
  string(APPEND STARPO_CHECK_DECLARATIONS "std::vector<Check> ${family}_checks();\n")
  string(APPEND STARPO_CHECK_CALLS "  append(${family}_checks());\n")
endforeach()
configure_file(${CMAKE_CURRENT_SOURCE_DIR}/cmake/every_check.cpp.in ${CMAKE_CURRENT_BINARY_DIR}/generated/every_check.cpp @ONLY)
add_library(starpo-cuda-host OBJECT ${STARPO_CUDA_HOST_SOURCES} ${CMAKE_CURRENT_BINARY_DIR}/generated/every_check.cpp)
starpo_unite(starpo-cuda-host ${STARPO_CUDA_HOST_SOURCES})
target_link_libraries(starpo-cuda-host PUBLIC starpo ${CMAKE_DL_LIBS})

# A file has one language in CMake, but kernels need two. So the emulation compiles a C++ file that includes the kernel
# file.
foreach(source IN LISTS STARPO_KERNEL_SOURCES)
  if(NOT source MATCHES "/cuda/runtime/")
    cmake_path(GET source STEM name)
    set(wrapper ${CMAKE_CURRENT_BINARY_DIR}/emulated/${name}.cpp)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/src OUTPUT_VARIABLE included)
    file(CONFIGURE OUTPUT ${wrapper} CONTENT "#include \"${included}\"\n")
    list(APPEND STARPO_EMULATION_SOURCES ${wrapper})
  endif()
endforeach()
add_library(starpo-cuda-emulated OBJECT ${STARPO_EMULATION_SOURCES})
if(STARPO_UNITY)
  # The kernels of attention and matrix products take long to compile, so they stay separate.
  set_target_properties(starpo-cuda-emulated PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  set(united ${STARPO_EMULATION_SOURCES})
  list(FILTER united EXCLUDE REGEX "/(attention|gemm)[^/]*$")
  foreach(source IN LISTS united)
    set(group kernels)
    if(source MATCHES "/src/")
      set(group runtime)
    endif()
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
  endforeach()
endif()
target_compile_definitions(starpo-cuda-emulated PUBLIC STARPO_EMULATED)
target_compile_options(starpo-cuda-emulated PRIVATE -Wno-unknown-pragmas)
# Use FMA instructions if this machine has them, because the tests run on the machine that builds them. Otherwise every
# fmaf calls the C library, which doubles the emulation's time.
include(CheckCXXSourceRuns)
check_cxx_source_runs("int main() { return __builtin_cpu_supports(\"fma\") && __builtin_cpu_supports(\"avx2\") ? 0 : 1; }" STARPO_BUILT_ON_FMA)
if(STARPO_BUILT_ON_FMA)
  target_compile_options(starpo-cuda-emulated PRIVATE -mfma -mavx2)
endif()
target_link_libraries(starpo-cuda-emulated PUBLIC starpo)

set(STARPO_NVCC OFF)
if(STARPO_CUDA AND NOT STARPO_SANITIZE AND NOT STARPO_FUZZ)
  include(CheckLanguage)
  set(CMAKE_CUDA_ARCHITECTURES ${STARPO_CUDA_ARCHITECTURES})
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.0)
      set(STARPO_NVCC ON)
    else()
      message(STATUS "nvcc ${CMAKE_CUDA_COMPILER_VERSION} is too old: C++20 requires 12.0")
    endif()
  endif()
  if(NOT STARPO_NVCC AND NOT STARPO_CUDA STREQUAL "AUTO")
    message(FATAL_ERROR "STARPO_CUDA is ON, but no working nvcc (12.0 or newer) was found. Put it on the PATH or set -DCMAKE_CUDA_COMPILER=")
  endif()
endif()

if(NOT STARPO_NVCC)
  message(STATUS "The trainer is built for the CPU only")
  add_library(starpo-cuda-absent OBJECT ${STARPO_ABSENT_SOURCES} src/engine/cuda/choose_gpu.cpp src/engine/cuda/runtime/unavailable.cpp)
  target_link_libraries(starpo-cuda-absent PUBLIC starpo)
  set(STARPO_CUDA_LIBRARIES starpo-cuda-absent)
  return()
endif()

find_package(CUDAToolkit REQUIRED)
# CMake before 3.26 doesn't know nvcc's option for C++20.
set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_FLAGS_RELEASE "-O3")
set(STARPO_CUDA_LAUNCHER ${CMAKE_CURRENT_SOURCE_DIR}/cmake/keep_ptxas_report.sh)
if(STARPO_CCACHE)
  list(APPEND STARPO_CUDA_LAUNCHER ${STARPO_CCACHE})
endif()
add_library(starpo-cuda OBJECT ${STARPO_KERNEL_SOURCES})
set_target_properties(starpo-cuda PROPERTIES CUDA_COMPILER_LAUNCHER "${STARPO_CUDA_LAUNCHER}")
# -fmad=false: as on the CPU, a*b+c is rounded twice unless the source contains fmaf. nvcc's contraction depends on the surrounding code, so that a formula would
# have different bits in the sampler and in the loss. The compression requires driver 550, which CUDA 13 requires anyway.
target_compile_options(starpo-cuda PRIVATE
  --expt-relaxed-constexpr -fmad=false -Xptxas=-v -Xcompiler=-Wall,-Wextra,-ffp-contract=off
  $<$<VERSION_GREATER_EQUAL:${CMAKE_CUDA_COMPILER_VERSION},13.0>:--compress-mode=size>)
target_link_libraries(starpo-cuda PUBLIC starpo CUDA::cudart_static)
set(STARPO_CUDA_LIBRARIES starpo-cuda-host starpo-cuda)
