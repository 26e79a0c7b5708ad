# The kernel library for others: cmake --install <build> --component attn
include(CMakePackageConfigHelpers)
set(attn_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/attn)
install(TARGETS attn EXPORT attn COMPONENT attn
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT attn NAMESPACE attn:: FILE attn-targets.cmake DESTINATION ${attn_cmake_dir}
    COMPONENT attn)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/attn-config-version.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES src/attn/attn-config.cmake ${CMAKE_BINARY_DIR}/attn-config-version.cmake
    DESTINATION ${attn_cmake_dir} COMPONENT attn)
# The prefix as seen from the file, so that the tree can be moved.
file(RELATIVE_PATH attn_pc_up ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(src/attn/attn.pc.in ${CMAKE_BINARY_DIR}/attn.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/attn.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
    COMPONENT attn)
