# SPDX-License-Identifier: Apache-2.0
# The target `torch` of a libtorch in the folder HEADPOND_LIBTORCH, as PyPI's package torch is one: its part for the CPU is
# linked directly, as its own config file wants CUDA's compiler. Its include path has fmt headers of another version than the
# system's library, so sources that include both take fmt from the headers alone.
add_library(torch INTERFACE IMPORTED GLOBAL)
foreach(part torch_cpu c10)
  find_library(libtorch_${part} ${part} PATHS ${HEADPOND_LIBTORCH}/lib NO_DEFAULT_PATH NO_CACHE REQUIRED)
  target_link_libraries(torch INTERFACE ${libtorch_${part}})
endforeach()
target_include_directories(torch SYSTEM INTERFACE ${HEADPOND_LIBTORCH}/include ${HEADPOND_LIBTORCH}/include/torch/csrc/api/include)
target_compile_definitions(torch INTERFACE FMT_HEADER_ONLY)
target_link_options(torch INTERFACE -Wl,--no-as-needed)
