// Runs the module of examples/or_gate.cc on JavaScriptCore, an engine for WebAssembly with a C API
// that Debian has: run_on_engine gate.wasm. It includes nothing of Tensorlathe.
#include <JavaScriptCore/JavaScript.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

namespace {

// The module has no imports. Before each call the input is written to its address in the memory,
// and after it the output is read; C++ reaches the memory only through such copies.
constexpr const char* kScript = R"(
  const { memory, predict_1, ...globals } =
    new WebAssembly.Instance(new WebAssembly.Module(file)).exports;
  const x = new Float32Array(memory.buffer, globals['predict_1.x'].value, input.length);
  const y = new Float32Array(memory.buffer, globals['predict_1.y'].value, output.length);
  () => { x.set(input); predict_1(); output.set(y); };
)";

void check(JSContextRef context, JSValueRef exception) {
  if (exception == nullptr) return;
  char message[256];
  JSStringRef string = JSValueToStringCopy(context, exception, nullptr);
  JSStringGetUTF8CString(string, message, sizeof message);
  std::fprintf(stderr, "run_on_engine: %s\n", message);
  std::exit(1);
}

// The script finds these bytes, which are not copied, as the array of this name.
void share(JSContextRef context, const char* name, JSTypedArrayType type, void* data, size_t size) {
  JSValueRef array = JSObjectMakeTypedArrayWithBytesNoCopy(
      context, type, data, size, [](void*, void*) {}, nullptr, nullptr);
  JSStringRef string = JSStringCreateWithUTF8CString(name);
  JSObjectSetProperty(context, JSContextGetGlobalObject(context), string, array, 0, nullptr);
  JSStringRelease(string);
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  std::ifstream stream(words[1], std::ios::binary);
  std::vector<char> file{std::istreambuf_iterator<char>(stream), {}};
  float input[2], output[1];

  JSGlobalContextRef context = JSGlobalContextCreate(nullptr);
  share(context, "file", kJSTypedArrayTypeUint8Array, file.data(), file.size());
  share(context, "input", kJSTypedArrayTypeFloat32Array, input, sizeof input);
  share(context, "output", kJSTypedArrayTypeFloat32Array, output, sizeof output);
  JSValueRef exception = nullptr;
  JSStringRef script = JSStringCreateWithUTF8CString(kScript);
  JSValueRef result = JSEvaluateScript(context, script, nullptr, nullptr, 0, &exception);
  check(context, exception);
  JSObjectRef predict = JSValueToObject(context, result, nullptr);

  for (const auto& [a, b] : {std::pair(0, 0), {0, 1}, {1, 0}, {1, 1}}) {
    input[0] = static_cast<float>(a);
    input[1] = static_cast<float>(b);
    JSObjectCallAsFunction(context, predict, nullptr, 0, nullptr, &exception);
    check(context, exception);
    std::printf("%d or %d = %.3f\n", a, b, output[0]);
  }
  JSStringRelease(script);
  JSGlobalContextRelease(context);
}
