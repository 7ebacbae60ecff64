// Runs the module of examples/or_gate.cc without an engine: wasm2c of WABT 1.0.32 has translated it
// to gate.c and gate.h, which are compiled together with this file and its wasm-rt-impl.c.
#include <stdio.h>
#include <string.h>

#include "gate.h"

int main(void) {
  static Z_gate_instance_t gate;
  wasm_rt_init();
  Z_gate_init_module();
  Z_gate_instantiate(&gate);

  // Its memory, the addresses of input and output in it, and the function between them.
  u8* start = Z_gateZ_memory(&gate)->data;
  u8* x = start + *Z_gateZ_predict_1Z2Ex(&gate);
  const u8* y = start + *Z_gateZ_predict_1Z2Ey(&gate);
  for (int row = 0; row < 4; ++row) {
    const float input[2] = {row / 2, row % 2};
    float output;
    memcpy(x, input, sizeof input);
    Z_gateZ_predict_1(&gate);
    memcpy(&output, y, sizeof output);
    printf("%g or %g = %.3f\n", input[0], input[1], output);
  }
  Z_gate_free(&gate);
  wasm_rt_free();
  return 0;
}
