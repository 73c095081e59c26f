# LibTorch, for the one module that uses it. Everything else builds without.
include_guard()

set(OSLER_WITH_TORCH AUTO CACHE STRING "Build the LibTorch module: ON, OFF, or AUTO where LibTorch is found")
set_property(CACHE OSLER_WITH_TORCH PROPERTY STRINGS AUTO ON OFF)

set(OSLER_HAS_TORCH OFF)
# Whoever adds Osler as a subdirectory links LibTorch's targets through Osler's: they must be known outside of it too.
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)
if(OSLER_WITH_TORCH STREQUAL "ON")
  find_package(Torch REQUIRED)
elseif(OSLER_WITH_TORCH STREQUAL "AUTO")
  find_package(Torch QUIET)
endif()
unset(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL)
if(TARGET torch)
  set(OSLER_HAS_TORCH ON)
elseif(OSLER_WITH_TORCH)
  message(STATUS "Osler: LibTorch is not found, so the monitor for C++ and the gallery are left out")
endif()

# osler_torch_target(TARGET): compile a target that includes LibTorch's headers as LibTorch itself was compiled. Without
# NDEBUG its headers give some classes a member more than the release library has. The headers are parsed once.
function(osler_torch_target name)
  target_compile_definitions(${name} PRIVATE NDEBUG)
  if(name STREQUAL "osler_torch")
    target_precompile_headers(${name} PRIVATE <torch/torch.h>)
  else()
    # The headers can be taken over only under the same macros, and fmt defines one. LibTorch 2 brings an fmt of its own
    # among its headers, without the library: from headers alone either of the two works.
    target_link_libraries(${name} PRIVATE fmt::fmt-header-only)
    target_precompile_headers(${name} REUSE_FROM osler_torch)
    # GCC takes precompiled headers over only where code is made for the same kind of place: the library's, not -fPIE.
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${name} PRIVATE -fPIC)
  endif()
endfunction()

# osler_torch_test_target(TARGET): the same for a test program, whose tests all begin with the same random numbers.
function(osler_torch_test_target name)
  osler_torch_target(${name})
  target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/torch/one_seed.cpp)
endfunction()
