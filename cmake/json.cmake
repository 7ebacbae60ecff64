# lathe_json: the header-only nlohmann-json for the folders that read or write JSON, in every build. Its folder alone is
# linked into the build tree, because /usr/include as a whole must not reach the wasm32 compiler.
find_path(LATHE_JSON_DIR nlohmann/json.hpp PATHS /usr/include NO_DEFAULT_PATH REQUIRED)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/include)
file(CREATE_LINK ${LATHE_JSON_DIR}/nlohmann ${PROJECT_BINARY_DIR}/include/nlohmann SYMBOLIC)

add_library(lathe_json INTERFACE)
target_include_directories(lathe_json SYSTEM INTERFACE $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>)
target_compile_definitions(lathe_json INTERFACE JSON_NOEXCEPTION=1 JSON_NO_IO=1 JSON_USE_IMPLICIT_CONVERSIONS=0)
