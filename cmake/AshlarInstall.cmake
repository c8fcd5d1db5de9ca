# cmake --install: the programs, and the libraries for find_package(ashlar): ashlar::world, ashlar::protocol,
# ashlar::host, ashlar::server and ashlar::client, with headers under include/ashlar.
include(CMakePackageConfigHelpers)

set(installed ashlar_world ashlar_protocol ashlar_client)
set(installed_folders world protocol client_sim/client client_sim/net)
if(ASHLAR_PROGRAMS)
  install(TARGETS ashlar-server ashlar-sim RUNTIME COMPONENT programs)
  list(APPEND installed ashlar_server_base ashlar_host ashlar_store ashlar_server)
  list(APPEND installed_folders server)
endif()
install(TARGETS ${installed}
  EXPORT ashlar_targets ARCHIVE COMPONENT development)
install(EXPORT ashlar_targets NAMESPACE ashlar:: FILE ashlar-targets.cmake
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/ashlar" COMPONENT development)

if(ASHLAR_C_INTERFACE)
  install(TARGETS ashlar_client_c LIBRARY COMPONENT development RUNTIME COMPONENT development
    ARCHIVE COMPONENT development)
  install(FILES "${PROJECT_SOURCE_DIR}/client_sim/c/ashlar_client.h" COMPONENT development
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
endif()

foreach(folder ${installed_folders})
  cmake_path(GET folder PARENT_PATH above)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/${folder}" COMPONENT development
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/ashlar/${above}" FILES_MATCHING PATTERN "*.h" PATTERN examples EXCLUDE
    PATTERN schema EXCLUDE)
endforeach()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/protocol/schema" DESTINATION "${CMAKE_INSTALL_DATADIR}/ashlar"
  COMPONENT development)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT programs)

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/ashlar-config.cmake.in" ashlar-config.cmake
  INSTALL_DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/ashlar")
write_basic_package_version_file(ashlar-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/ashlar-config.cmake"
  "${CMAKE_CURRENT_BINARY_DIR}/ashlar-config-version.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/Findsodium.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/Findzstd.cmake"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/ashlar" COMPONENT development)
