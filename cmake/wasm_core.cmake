# The api folder and all it stands on as modules without imports: lathe-core.wasm, the compiler, lathe-text.wasm, which
# spells modules, lathe-onnx.wasm and lathe-onnx-export.wasm, which read and write ONNX models, lathe-webgpu.wasm, which compiles
# graphs to shaders, and lathe-formats.wasm, which reads and writes saved models. Only the wasm32 build includes this.
if(TARGET lathe_api)
  # module NAME LIBRARY OBJECTS: the objects, not the archive: nothing refers to an exported function, so the linker would leave
  # it out.
  function(lathe_module name library)
    add_executable(${name} ${PROJECT_SOURCE_DIR}/src/api/wasm32.cc ${ARGN})
    set_target_properties(${name} PROPERTIES SUFFIX .wasm RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
    target_link_libraries(${name} PRIVATE ${library})
    add_custom_command(TARGET ${name} POST_BUILD
      COMMAND python3 ${PROJECT_SOURCE_DIR}/tools/check_core.py $<TARGET_FILE:${name}>)
  endfunction()
  # Modules take objects of it by the names of their sources.
  set_target_properties(lathe_api PROPERTIES UNITY_BUILD OFF)
  set(objects $<TARGET_OBJECTS:lathe_api>)
  lathe_module(lathe-core lathe_api "$<FILTER:${objects},EXCLUDE,/(wat|describe)[.]cc>")
  lathe_module(lathe-text lathe_wasm "$<FILTER:${objects},INCLUDE,/(wat|error)[.]cc>")
  foreach(name onnx onnx_export webgpu formats)
    string(REPLACE "_" "-" module lathe-${name})
    lathe_module(${module} lathe_api_${name} $<TARGET_OBJECTS:lathe_api_${name}> "$<FILTER:${objects},INCLUDE,/error[.]cc>")
  endforeach()
  # The compiler and what reads ONNX models in one, which hold much in common: for those who begin with such a model.
  lathe_module(lathe-core-onnx lathe_api_onnx "$<FILTER:${objects},EXCLUDE,/(wat|describe)[.]cc>" $<TARGET_OBJECTS:lathe_api_onnx>)
  target_link_libraries(lathe-core-onnx PRIVATE lathe_api)
endif()
