"use strict";
// The checker of this page: WebAssembly in a worker, which is ended to stop a search. The page waits for `causewayAnswer`.
(() => {
const bytes = Uint8Array.from(atob(document.getElementById("wasm").textContent.trim()), c => c.charCodeAt(0));
const code = document.getElementById("worker").textContent;
let compiled = null, worker = null;

function compile() {
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(unpacked).arrayBuffer().then(WebAssembly.compile);
}

async function start() {
  compiled ??= compile();
  const module = await compiled;
  if (worker) return worker;
  const address = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  worker = new Worker(address);
  URL.revokeObjectURL(address);
  worker.postMessage({ module });
  return worker;
}

function end() {
  if (worker) worker.terminate();
  worker = null;
}

globalThis.causewayAnswer = async (test, signal) => {
  const mine = await start();
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => { if (worker === mine) end(); reject(signal.reason); });
    mine.onerror = event => {
      event.preventDefault();
      end();
      reject(new Error("The test made the checker fail, which is a bug: " + event.message));
    };
    mine.onmessage = event => {
      const answer = JSON.parse(event.data);
      if (answer.error) reject(new Error(answer.error)); else resolve(answer);
    };
    mine.postMessage({ test });
  });
};
})();
