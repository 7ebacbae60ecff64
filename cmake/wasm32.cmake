# Toolchain file: the core as WebAssembly with Debian's clang 19, libc++ and wasi-libc, linked by wasm-ld itself.
# The clang driver is not asked to link: it would run whatever wasm-opt it finds on the PATH.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)

set(CMAKE_CXX_COMPILER clang++-19)
set(CMAKE_CXX_COMPILER_TARGET wasm32-wasi)
set(CMAKE_AR /usr/bin/llvm-ar-19)
set(CMAKE_RANLIB /usr/bin/llvm-ranlib-19)
set(CMAKE_CXX_COMPILER_AR ${CMAKE_AR})
set(CMAKE_CXX_COMPILER_RANLIB ${CMAKE_RANLIB})

set(CMAKE_CXX_FLAGS_INIT "-mbulk-memory -mnontrapping-fptoint -msign-ext -fno-exceptions -fno-rtti -flto -fvisibility=hidden -ffunction-sections -fdata-sections")

# Inlines only what is called once and is small: engines compile functions when they are first called, so what large ones rarely
# need had better be apart. Keeps one of functions that are equal, and neither keeps addresses that loops could count on (LSR) nor
# computes at the ends of branches what is only known on some (PRE).
# A first 1 MiB of stack below all data: overflowing it traps instead of overwriting globals.
string(JOIN " " LATHE_WASM_LD_FLAGS
  -m wasm32 --entry _initialize --gc-sections --stack-first -z stack-size=1048576
  --lto-O2 -mllvm -inline-threshold=-14000 -mllvm -enable-merge-functions -mllvm -disable-lsr -mllvm -enable-pre=false -O2 --strip-debug --no-export-dynamic
  --export-table --growable-table --fatal-warnings)
set(CMAKE_CXX_LINK_EXECUTABLE
  "wasm-ld-19 ${LATHE_WASM_LD_FLAGS} -L/usr/lib/wasm32-wasi /usr/lib/wasm32-wasi/crt1-reactor.o <OBJECTS> -o <TARGET> <LINK_LIBRARIES> -lc++ -lc++abi -lc /usr/lib/llvm-19/lib/clang/19/lib/wasi/libclang_rt.builtins-wasm32.a")
