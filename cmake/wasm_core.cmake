# lathe-core.wasm: the api folder and all it stands on as one module without imports. Only the wasm32 build includes this.
if(TARGET lathe_api)
  # The objects, not the archive: nothing refers to an exported function, so the linker would leave it out.
  add_executable(lathe-core ${PROJECT_SOURCE_DIR}/src/api/wasm32.cc $<TARGET_OBJECTS:lathe_api>)
  set_target_properties(lathe-core PROPERTIES SUFFIX .wasm RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  target_link_libraries(lathe-core PRIVATE lathe_api)
  add_custom_command(TARGET lathe-core POST_BUILD
    COMMAND python3 ${PROJECT_SOURCE_DIR}/tools/check_core.py $<TARGET_FILE:lathe-core>)
endif()
