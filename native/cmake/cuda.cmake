# The CUDA engine. Its parts are object libraries, so that an executable picks one set of kernels by naming it:
#   starpo-cuda           the kernels by nvcc and the runtime on libcudart
#   starpo-cuda-host      what is plain C++ and serves both sets of kernels
#   starpo-cuda-emulated  the kernels as C++, each CUDA thread a fiber: what the tests run
#   starpo-cuda-absent    in the others' place where there is no nvcc: says so
# STARPO_CUDA_LIBRARIES are those of the trainer.
set(STARPO_CUDA AUTO CACHE STRING "Build for NVIDIA GPUs: ON, OFF, or AUTO (where there is an nvcc that works)")
# 8.0 is the first generation that multiplies bf16, and its PTX serves every later one; 9.0a has code of its own.
set(STARPO_CUDA_ARCHITECTURES "80;90a-real" CACHE STRING "The GPUs that the kernels are built for, as CMake names them")

file(GLOB_RECURSE STARPO_KERNEL_SOURCES CONFIGURE_DEPENDS src/engine/cuda/*.cu)
file(GLOB_RECURSE STARPO_CUDA_HOST_SOURCES CONFIGURE_DEPENDS src/engine/cuda/*.cpp)
list(FILTER STARPO_CUDA_HOST_SOURCES EXCLUDE REGEX "/src/engine/cuda/(emulated|absent)/")
file(GLOB STARPO_EMULATION_SOURCES CONFIGURE_DEPENDS src/engine/cuda/emulated/*.cpp)
file(GLOB STARPO_ABSENT_SOURCES CONFIGURE_DEPENDS src/engine/cuda/absent/*.cpp)

# The list of self-tests is the list of the files that hold them.
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

# A file has one language in CMake; a kernel's has two, so C++ gets it through a file that includes it.
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
target_compile_definitions(starpo-cuda-emulated PUBLIC STARPO_EMULATED)
target_compile_options(starpo-cuda-emulated PRIVATE -Wno-unknown-pragmas)
# The tests run where they are built. Without the instruction, every fmaf is a call of the C library, and half of the emulation's time.
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
      message(STATUS "nvcc ${CMAKE_CUDA_COMPILER_VERSION} is too old, 12.0 is the first with C++20")
    endif()
  endif()
  if(NOT STARPO_NVCC AND NOT STARPO_CUDA STREQUAL "AUTO")
    message(FATAL_ERROR "STARPO_CUDA is on, but there is no nvcc that works (12.0 or newer). Put it on the PATH or name it by -DCMAKE_CUDA_COMPILER=")
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
# CMake before 3.26 knows nothing of nvcc's C++20.
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
# -fmad=false: as for the processor, a*b+c is rounded twice unless the source says fmaf. What nvcc contracts depends on the code around it, so that a formula would
# have other bits in the sampler than in the loss. The compression wants driver 550; one that CUDA 13 runs on has it.
target_compile_options(starpo-cuda PRIVATE
  --expt-relaxed-constexpr -fmad=false -Xptxas=-v -Xcompiler=-Wall,-Wextra,-ffp-contract=off
  $<$<VERSION_GREATER_EQUAL:${CMAKE_CUDA_COMPILER_VERSION},13.0>:--compress-mode=size>)
target_link_libraries(starpo-cuda PUBLIC starpo CUDA::cudart_static)
set(STARPO_CUDA_LIBRARIES starpo-cuda-host starpo-cuda)
