// Behind the functions of wasm-bindgen.
onmessage = event => {
  if (event.data.module) wasm_bindgen.initSync({ module: event.data.module });
  else postMessage(wasm_bindgen.answer(event.data.test));
};
