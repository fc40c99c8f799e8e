// What happens to the register, as it happens: `arrived` for images, `changed` for what people did.
const ARRIVALS = ["Assigned", "Created"];
const EDITS = ["Founded", "Renamed", "Merged", "Split", "Moved", "Confirmed", "Promoted", "Discarded", "Recentred",
  "Relocated", "RadiusChanged", "Undone", "Forgotten"];
const TOGETHER = 250; // milliseconds of events that are told at once
const AGAIN = 5000;

const shown = document.getElementById("live");
const back = document.getElementById("undo");
let last = Number(document.body.dataset.last);
let source = null;
const due = {};

// whoever types or chooses is not disturbed
const busy = () => document.activeElement?.matches("input:not([type=checkbox], [type=radio], [type=search]), textarea")
  || document.querySelector("dialog[open]") || document.body.classList.contains("choosing");

function tell(kind) {
  if (due[kind]) return;
  due[kind] = setTimeout(function go() {
    if (kind === "changed" && busy()) return void (due[kind] = setTimeout(go, 1000));
    due[kind] = null;
    if (kind === "changed") show();
    else document.body.dispatchEvent(new CustomEvent(kind));
  }, TOGETHER);
}

// the way back first: whoever sees an edit takes back that one, and not the one before
let turn = 0;

async function show() {
  const mine = ++turn;
  const response = await fetch("/parts/undo").catch(() => null);
  const part = response?.ok ? await response.text().catch(() => null) : null;
  if (part !== null && mine === turn) back.innerHTML = part;
  document.body.dispatchEvent(new CustomEvent("changed"));
}

// an edit of this page's own is shown at once, and not again when it is told of
const own = new Set();

export function changed(events = []) {
  for (const each of events) own.add(each.event);
  clearTimeout(due.changed);
  due.changed = null;
  show();
}

// nor does what one types in go away under one's hands
document.body.addEventListener("htmx:beforeSwap", (event) => {
  const typing = document.activeElement?.matches("input:not([type=checkbox], [type=radio], [type=search]), textarea");
  if (!typing || !event.detail.target.contains(document.activeElement)) return;
  event.detail.shouldSwap = false;
  tell("changed");
});

function follow() {
  source = new EventSource(`/api/events?after=${last}`);
  source.addEventListener("open", () => say(true));
  source.addEventListener("error", () => {
    say(false);
    if (source.readyState === EventSource.CLOSED) setTimeout(() => document.hidden || follow(), AGAIN);
  });
  for (const kind of [...ARRIVALS, ...EDITS]) {
    source.addEventListener(kind, (event) => {
      last = Number(event.lastEventId);
      if (!own.delete(last)) tell(ARRIVALS.includes(kind) ? "arrived" : "changed");
    });
  }
}

function say(on) {
  shown.classList.toggle("on", on);
  shown.querySelector(".words").textContent = on ? "live" : "not live";
}

// a browser has few connections to one place: pages that nobody sees give theirs back
document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    source?.close();
    say(false);
  } else if (source?.readyState !== EventSource.OPEN) follow();
});
addEventListener("pagehide", () => source?.close());
addEventListener("pageshow", (event) => event.persisted && follow());
if (!document.hidden) follow();
