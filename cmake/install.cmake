# SPDX-License-Identifier: Apache-2.0
# cmake --install: the rooms' libraries and headers (headpond_room adds them) and the package config.
include(CMakePackageConfigHelpers)
set(headpond_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/headpond)

install(TARGETS headpond EXPORT headpond-targets)
install(EXPORT headpond-targets NAMESPACE headpond:: DESTINATION ${headpond_config_dir})
install(FILES headpond/headpond.h headpond/testing.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/headpond)
if(TARGET headpond_torch)
  install(TARGETS headpond_torch EXPORT headpond-torch-targets)
  install(EXPORT headpond-torch-targets NAMESPACE headpond:: DESTINATION ${headpond_config_dir})
  install(FILES headpond/torch.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/headpond)
endif()

configure_package_config_file(cmake/headpond-config.cmake.in ${PROJECT_BINARY_DIR}/headpond-config.cmake
  INSTALL_DESTINATION ${headpond_config_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/headpond-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/headpond-config.cmake ${PROJECT_BINARY_DIR}/headpond-config-version.cmake
  DESTINATION ${headpond_config_dir})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
