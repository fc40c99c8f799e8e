// The review: one question after the other. What is skipped stays so until the browser is closed.
const place = document.querySelector("[data-review]");
const KEPT = "firstsight-skipped";
const MOST = 300; // skipped questions that are remembered
const skipped = () => JSON.parse(sessionStorage.getItem(KEPT) ?? "[]");
let asking = 0;

async function load() {
  const turn = ++asking;
  const query = skipped().map((id) => `skipped=${encodeURIComponent(id)}`).join("&");
  try {
    const response = await fetch(`/parts/review?${query}`);
    if (!response.ok || turn !== asking) return;
    place.innerHTML = await response.text();
  } catch {
    return; // the service went away, which is said elsewhere
  }
  place.querySelector("#asked")?.focus({ preventScroll: true });
  again();
}

function again() {
  if (place.querySelector("[data-again]")) setTimeout(load, 1500);
}

function skip() {
  const item = place.querySelector("[data-item]");
  if (!item) return;
  sessionStorage.setItem(KEPT, JSON.stringify([...skipped(), item.dataset.item].slice(-MOST)));
  load();
}

if (place) {
  document.body.addEventListener("changed", load);
  place.addEventListener("click", (event) => {
    if (event.target.closest("[data-skip]")) skip();
    if (event.target.closest("[data-unskip]")) {
      sessionStorage.removeItem(KEPT);
      load();
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.target.matches("input, textarea, select")) return;
    if (event.key === "Enter" && event.target.matches("a, button, summary")) return; // which has its own meaning
    const meant = [...place.querySelectorAll("[data-key]")].find((each) => each.dataset.key === event.key);
    if (!meant || event.repeat) return;
    event.preventDefault();
    if (meant.matches("form")) meant.querySelector("input").focus();
    else meant.click();
  });
  if (skipped().length) load();
  else again();
}
