// Keys and a search field for pages of many categories. Everything is there without it; this only makes it handy.
"use strict";

document.documentElement.classList.add("scripted"); // what only works with it is shown

const shown = () => [...document.querySelectorAll(".category")].filter((each) => each.getClientRects().length);

// the next category on the page, or the one before
function step(by) {
  const all = shown();
  const here = all.findIndex((each) => each.contains(document.activeElement));
  const top = all.findIndex((each) => each.getBoundingClientRect().bottom > 80);
  const from = here >= 0 ? here + by : by > 0 ? top : top - 1;
  const to = all[Math.max(0, Math.min(all.length - 1, from))];
  if (!to) return;
  to.focus({ preventScroll: true });
  to.scrollIntoView({ block: "start" });
}

function unfold() {
  const folds = document.activeElement.closest(".category")?.querySelectorAll("details") ?? [];
  const open = [...folds].every((each) => each.open);
  for (const each of folds) each.open = !open;
}

// only the categories whose name or id holds what is typed
function find(text) {
  const words = text.toLowerCase().split(/\s+/);
  for (const each of document.querySelectorAll(".category")) {
    const name = each.dataset.name.toLowerCase();
    each.hidden = !words.every((word) => name.includes(word));
  }
  document.body.classList.toggle("finding", text.trim() !== "");
}

const KEYS = { j: () => step(1), k: () => step(-1), o: unfold, "/": () => document.getElementById("find").focus() };

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("input:not([type=radio]), textarea, select")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (KEYS[event.key]) {
    KEYS[event.key]();
    event.preventDefault();
  }
});
document.getElementById("find")?.addEventListener("input", (event) => find(event.target.value));
