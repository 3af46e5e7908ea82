"use strict";
// Asks for the answer to the test and shows it. `causewayAnswer`, if another script has defined it, gives the answer; otherwise the
// server of the page does. The address carries the test: `#z=` deflated, `#t=` plain, both in base64url.
(() => {
const LARGEST = 128 << 10;
const get = id => document.getElementById(id);
const [form, source, example, status, errors, answer, stop] = ["ask", "source", "example", "status", "errors", "answer", "stop"].map(get);
const examples = JSON.parse(get("examples").textContent);
let running = null;

async function ask(text, signal) {
  if (globalThis.causewayAnswer) return globalThis.causewayAnswer(text, signal);
  const response = await fetch("answer", { method: "POST", headers: { "content-type": "text/plain;charset=utf-8" }, body: text, signal });
  const object = await response.json().catch(() => ({ error: "The server answered " + response.status + "." }));
  if (object.error) throw new Error(object.error);
  return object;
}

// The answer shows its verdict itself: there these words are for screen readers.
function say(words, bad, unseen) {
  status.textContent = words;
  status.classList.toggle("bad", Boolean(bad));
  status.classList.toggle("unseen", Boolean(unseen));
}

async function run() {
  if (running) running.abort();
  const mine = running = new AbortController();
  const text = source.value;
  say("Checking…");
  stop.hidden = false;
  answer.setAttribute("aria-busy", "true");
  try {
    const object = await ask(text, mine.signal);
    if (running !== mine) return;
    show(object);
    say(object.summary, false, true);
    answer.className = object.expected ? "good" : "bad";
  } catch (error) {
    if (running !== mine) return;
    show({ html: "", errors: [] });
    say(mine.signal.aborted ? "Stopped." : error instanceof TypeError ? "The server does not answer: is it still running?" : error.message, true);
  }
  running = null;
  stop.hidden = true;
  answer.removeAttribute("aria-busy");
  keep(text);
}

// All text of the test is escaped in the markup, and no script in it would run by the policy of the page.
function show(object) {
  answer.innerHTML = object.html;
  errors.replaceChildren(...object.errors.slice(0, 20).map(error => {
    const item = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Line " + error.line + ", column " + error.column + ": " + error.message;
    button.addEventListener("click", () => go(error));
    item.append(button);
    return item;
  }));
  errors.hidden = object.errors.length === 0;
}

// Puts the cursor where an error is; columns count characters from 1.
function go(error) {
  const lines = source.value.split("\n");
  const before = lines.slice(0, error.line - 1).reduce((sum, line) => sum + line.length + 1, 0);
  const at = before + Array.from(lines[error.line - 1] || "").slice(0, error.column - 1).join("").length;
  source.focus();
  source.setSelectionRange(at, at + 1);
}

// What was typed stays in the history of the field: Ctrl+Z brings it back. At the start there is nothing, and the focus stays where it is.
function load(text) {
  const focused = document.activeElement;
  if (source.value === "" || !focused || focused === document.body) {
    source.value = text;
    return;
  }
  source.focus({ preventScroll: true });
  source.select();
  if (!document.execCommand("insertText", false, text)) source.value = text;
  source.setSelectionRange(0, 0);
  source.scrollTop = 0;
  focused.focus({ preventScroll: true });
}

async function through(bytes, stream) {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > LARGEST) { reader.cancel(); throw new Error("The test in the link is larger than 128 KiB."); }
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

function base64(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

function unbase64(text) {
  return Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), c => c.charCodeAt(0));
}

async function fragment(text) {
  const bytes = new TextEncoder().encode(text);
  if (typeof CompressionStream === "undefined") return "#t=" + base64(bytes);
  return "#z=" + base64(await through(bytes, new CompressionStream("deflate-raw")));
}

// An address that has changed meanwhile is another one to follow.
async function keep(text) {
  const before = location.hash;
  const made = await fragment(text);
  if (source.value === text && location.hash === before) history.replaceState(null, "", made);
}

// The test of the address, if it has one.
async function restored() {
  const [, kind, data] = /^#([zt])=([A-Za-z0-9_-]*)$/.exec(location.hash) || [];
  if (!kind) return null;
  try {
    const bytes = unbase64(data);
    return new TextDecoder("utf-8", { fatal: true }).decode(kind === "z" ? await through(bytes, new DecompressionStream("deflate-raw")) : bytes);
  } catch (error) {
    say("The link does not hold a whole test: " + error.message, true);
    return null;
  }
}

form.addEventListener("submit", event => { event.preventDefault(); run(); });
addEventListener("keydown", event => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); run(); }
});
stop.addEventListener("click", () => { if (running) running.abort(); get("run").focus(); });
example.addEventListener("change", () => {
  if (example.value !== "") { load(examples[example.value]); run(); }
});
get("copy").addEventListener("click", async () => {
  const text = source.value;
  await keep(text);
  try {
    await navigator.clipboard.writeText(location.href);
    say("The link is copied.");
  } catch {
    say("The address of this page is the link.");
  }
});
// A step of a derivation shows its line in the picture; the address keeps the test.
answer.addEventListener("click", event => {
  const link = event.target.closest("a[href^='#']");
  const line = link && get(link.getAttribute("href").slice(1));
  if (!line) return;
  event.preventDefault();
  for (const old of answer.querySelectorAll(".target")) old.classList.remove("target");
  line.classList.add("target");
  line.scrollIntoView({ block: "nearest", inline: "nearest" });
});
addEventListener("hashchange", async () => {
  const text = await restored();
  if (text !== null && text !== source.value) { load(text); run(); }
});
(async () => {
  const linked = location.hash.length > 1;
  const text = await restored();
  if (text !== null) { load(text); run(); }
  else if (!linked) { load(source.defaultValue || examples[0]); run(); }
})();
})();
