# cmake --install: headers, libraries and the package tensorlathe, whose targets are tensorlathe::tensorlathe and one for
# each folder of src/ (tensorlathe::nn, …). Classes are without type information: who derives from one compiles with -fno-rtti.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(LATHE_LIBRARIES GLOBAL PROPERTY LATHE_LIBRARIES)
add_library(tensorlathe INTERFACE)
target_link_libraries(tensorlathe INTERFACE ${LATHE_LIBRARIES})
foreach(target ${LATHE_LIBRARIES})
  string(REGEX REPLACE "^lathe_" "" name ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
endforeach()

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/tensorlathe)
install(TARGETS tensorlathe ${LATHE_LIBRARIES} EXPORT tensorlathe
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/tensorlathe)
install(TARGETS lathe RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tensorlathe
  FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
install(EXPORT tensorlathe NAMESPACE tensorlathe:: FILE tensorlathe-config.cmake DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tensorlathe-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tensorlathe-config-version.cmake DESTINATION ${package_folder})
