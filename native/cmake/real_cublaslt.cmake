# Builds starpo-real-cublaslt if cuBLASLt's headers are available: see tests/real_cublaslt.
set(STARPO_CUBLASLT_HEADERS "" CACHE PATH "Folder of cublasLt.h and the headers that it includes, to build starpo-real-cublaslt")
if(STARPO_CUBLASLT_HEADERS)
  add_executable(starpo-real-cublaslt tests/real_cublaslt/real_cublaslt.cpp src/engine/cuda/lt/library.cpp src/engine/cuda/lt/products.cpp)
  target_include_directories(starpo-real-cublaslt PRIVATE src)
  target_include_directories(starpo-real-cublaslt SYSTEM PRIVATE ${STARPO_CUBLASLT_HEADERS})
  target_link_libraries(starpo-real-cublaslt PRIVATE ${CMAKE_DL_LIBS})
endif()
