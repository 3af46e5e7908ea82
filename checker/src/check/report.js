"use strict";
// Filters the tests by verdict and words. The address keeps the choice: #verdict=fails&search=MP.
const form = document.getElementById("filter");
const search = document.getElementById("search");
const shown = document.getElementById("shown");
const rows = Array.from(document.getElementById("tests").children, row => ({ row, words: null }));
// The words of a test are read when it is first searched.
function has(one, words) {
  one.words ??= one.row.textContent.toLowerCase();
  return words.every(word => one.words.includes(word));
}
function apply() {
  const verdict = form.elements.verdict.value;
  const words = search.value.toLowerCase().split(/\s+/).filter(word => word);
  let count = 0;
  for (const one of rows) {
    const fits = verdict === "" || (verdict === "unexpected" ? one.row.className === "bad" : one.row.dataset.verdict === verdict);
    const shows = fits && (words.length === 0 || has(one, words));
    if (one.row.hidden === shows) one.row.hidden = !shows;
    count += shows;
  }
  shown.textContent = count + " of " + rows.length;
}
function keep() {
  const state = new URLSearchParams({ verdict: form.elements.verdict.value, search: search.value });
  history.replaceState(null, "", "#" + state);
  apply();
}
function restore() {
  const state = new URLSearchParams(location.hash.slice(1));
  const verdict = state.get("verdict") || "";
  for (const choice of form.elements.verdict) choice.checked = choice.value === verdict;
  if (form.elements.verdict.value === "") form.elements.verdict[0].checked = true;
  search.value = state.get("search") || "";
  apply();
}
form.hidden = false;
form.addEventListener("input", keep);
form.addEventListener("submit", event => event.preventDefault());
addEventListener("hashchange", restore);
restore();
