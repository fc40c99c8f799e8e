// Choosing images or categories: a click in the corner, with Shift all between; arrows move, x chooses.
const boxes = () => [...document.querySelectorAll("[data-choices] input[type=checkbox]")];
const bar = document.getElementById("chosen");
let anchor = null;

// the numbers of images, or the ids of categories
window.chosen = () => boxes().filter((each) => each.checked)
  .map((each) => (each.name === "image" ? Number(each.value) : each.value));

function told() {
  const count = window.chosen().length;
  document.body.classList.toggle("choosing", count > 0);
  if (!bar) return;
  bar.hidden = count === 0;
  const words = bar.querySelector("[data-count]");
  const [one, many] = words.dataset.count.split("|");
  words.textContent = `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
  for (const each of bar.querySelectorAll("[data-least]")) each.disabled = count < Number(each.dataset.least);
}

function clear() {
  for (const each of boxes()) each.checked = false;
  anchor = null;
  told();
}

function step(by) {
  const all = boxes();
  if (!all.length) return;
  const here = all.indexOf(document.activeElement);
  const to = all[Math.max(0, Math.min(all.length - 1, here < 0 ? 0 : here + by))];
  to.focus({ preventScroll: true });
  to.closest("figure, li").scrollIntoView({ block: "nearest" });
}

// how many stand side by side
function across() {
  const all = boxes().map((each) => each.closest("figure, li").offsetTop);
  const next = all.findIndex((top) => top !== all[0]);
  return next < 0 ? all.length : next;
}

if (document.querySelector("[data-choices]")) {
  document.addEventListener("click", (event) => {
    const box = event.target;
    if (box.matches?.("[data-clear]")) return clear();
    if (box.matches?.("[data-all]")) {
      for (const each of boxes()) each.checked = true;
      return told();
    }
    const tile = event.shiftKey && box.closest?.(".choice");
    if (tile && !box.matches("input, label")) { // a picture, with Shift: chosen, not opened
      event.preventDefault();
      const own = tile.querySelector("input");
      own.checked = true;
      between(own);
      return told();
    }
    if (!box.matches?.("[data-choices] input[type=checkbox]")) return;
    if (event.shiftKey) between(box);
    anchor = box;
    told();
  });
  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches("input:not([type=checkbox]), textarea, select");
    if (typing || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const moves = { ArrowRight: () => step(1), ArrowLeft: () => step(-1), ArrowDown: () => step(across()),
      ArrowUp: () => step(-across()), j: () => step(1), k: () => step(-1) };
    const focused = event.target.matches("[data-choices] input[type=checkbox]") ? event.target : null;
    if (moves[event.key]) {
      if (!focused && event.key.startsWith("Arrow")) return; // the page scrolls, as ever
      moves[event.key]();
      if (event.shiftKey && document.activeElement.type === "checkbox") {
        document.activeElement.checked = true;
        told();
      }
    } else if (event.key === "x" && focused) focused.click();
    else if (event.key === "Enter" && focused) focused.closest("figure, li").querySelector("a").click();
    else if (event.key === "Escape") clear();
    else return;
    event.preventDefault();
  });
  document.addEventListener("done", clear);
  document.body.addEventListener("htmx:afterSettle", told);
}

function between(box) {
  const all = boxes();
  const [from, to] = [all.indexOf(anchor), all.indexOf(box)].sort((a, b) => a - b);
  if (from >= 0) for (const each of all.slice(from, to + 1)) each.checked = true;
  anchor = box;
}

// two categories or more side by side, before they are one
document.addEventListener("click", async (event) => {
  if (!event.target.closest("[data-preview]")) return;
  const ids = window.chosen().map((id) => `id=${encodeURIComponent(id)}`).join("&");
  const dialog = document.getElementById("preview");
  const response = await fetch(`/parts/merge?${ids}`);
  dialog.querySelector("[data-inside]").innerHTML = await response.text();
  dialog.showModal();
});
