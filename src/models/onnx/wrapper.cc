#include "lathe/models/onnx/wrapper.h"

#include "lathe/base/text.h"

namespace lathe::onnx {
namespace {

std::string_view array_of(scalar::DType dtype) {
  switch (dtype) {
#define JS(name) #name
#define LATHE_DTYPE(name_, text_, type_, kind_, computed_, wasm_, wgsl_, js_, ...) \
  case scalar::DType::name_:                                                       \
    return js_;
#include "lathe/scalar/dtypes.def"
#undef JS
  }
  return "";
}

std::string places_of(const std::vector<compile::Buffer>& buffers) {
  std::string text;
  for (const compile::Buffer& each : buffers) {
    append(text, "  { name: ", json_string(each.name),
           ", dtype: ", json_string(scalar::text(each.dtype)), ", shape: ", bracketed(each.shape),
           ", array: ", array_of(each.dtype), ", at: ", each.offset,
           ", count: ", graph::element_count(each.shape), " },\n");
  }
  return text;
}

std::string members_of(const std::vector<compile::Buffer>& buffers, std::string_view indent) {
  std::string text;
  for (const compile::Buffer& each : buffers) {
    append(text, indent, "/** ", scalar::text(each.dtype), bracketed(each.shape), " */\n", indent,
           json_string(each.name), ": ", array_of(each.dtype), ";\n");
  }
  return text;
}

constexpr std::string_view kCode = R"JS(
/** What the module takes and gives, in order. */
export const inputs = places.inputs.map(told);
export const outputs = places.outputs.map(told);

function told({ name, dtype, shape }) {
  return { name, dtype, shape };
}

async function bytes() {
  const { readFile } = globalThis.process?.getBuiltinModule?.('node:fs/promises') ?? {};
  if (at.protocol === 'file:' && readFile !== undefined) return readFile(at);
  const response = await fetch(at);
  if (!response.ok) throw new Error(`${at}: HTTP status ${response.status}`);
  return response.arrayBuffer();
}

/** The module at work; each call gives one of its own. */
export async function load() {
  const { instance } = await WebAssembly.instantiate(await bytes());
  const { memory, run } = instance.exports;
  const windowOn = (place) => new place.array(memory.buffer, place.at, place.count);
  return {
    run(values) {
      for (const place of places.inputs) {
        const given = values[place.name];
        const what = `input ${place.name}`;
        if (!(given instanceof place.array)) throw new TypeError(`${what}: wants ${place.array.name}`);
        if (given.length !== place.count) {
          throw new RangeError(`${what}: wants ${place.count} values, [${place.shape}], got ${given.length}`);
        }
      }
      for (const place of places.inputs) windowOn(place).set(values[place.name]);
      run();
      return Object.fromEntries(
        places.outputs.map((place) => [place.name, windowOn(place).slice()]),
      );
    },
  };
}
)JS";

}  // namespace

Result<Wrapper> wrapper_of(const compile::Executable& executable, std::string_view module_name) {
  if (executable.threads) {
    return fail(
        "a module for threads takes its memory from outside; leave out the feature threads");
  }
  const compile::Entry& entry = executable.entries[0];
  const std::string name = json_string(module_name);
  Wrapper wrapper;
  wrapper.code =
      concat("// Runs ", name, ", which lies beside this file. Written by `lathe compile --js`.\n",
             "const at = new URL(encodeURIComponent(", name, "), import.meta.url);\n",
             "const places = { inputs: [\n", places_of(entry.inputs), "], outputs: [\n",
             places_of(entry.outputs), "] };\n", kCode);
  wrapper.types =
      concat("// Types of what runs ", name, ". Written by `lathe compile --js`.\n",
             "export interface Place {\n  name: string;\n  dtype: string;\n  shape: number[];\n}\n",
             "export interface Inputs {\n", members_of(entry.inputs, "  "), "}\n",
             "export interface Outputs {\n", members_of(entry.outputs, "  "), "}\n",
             "export declare const inputs: Place[];\nexport declare const outputs: Place[];\n",
             "/** The module at work; each call gives one of its own. */\n",
             "export declare function load(): Promise<{ run(values: Inputs): Outputs }>;\n");
  return wrapper;
}

}  // namespace lathe::onnx
