// What the pages of the service do by themselves: send edits to the API, follow what happens, take in images, keys.
import { notice } from "./notices.js";
import { send } from "./send.js";
import { changed } from "./live.js";
import "./upload.js";
import "./choose.js";
import "./wall.js";
import "./review.js";

// `data-act` is where to send it, `data-body` what, besides the fields of a form and, for `data-chosen`, what is chosen
function body(element) {
  const said = JSON.parse(element.dataset.body ?? "{}");
  if (element.matches("form")) {
    for (const [name, value] of new FormData(element)) if (value !== "") said[name] = value;
  }
  if (element.dataset.chosen) said[element.dataset.chosen] = window.chosen();
  return said;
}

export async function act(element) {
  const buttons = element.matches("form") ? [...element.querySelectorAll("button")] : [element];
  for (const each of buttons) each.disabled = true;
  const answer = await send(element.dataset.act, body(element));
  for (const each of buttons) each.disabled = false;
  if (!answer.ok) return notice(answer.detail, answer.remedy);
  element.closest("dialog")?.close();
  if (element.dataset.then) return location.assign(element.dataset.then);
  if (element.contains(document.activeElement)) document.activeElement.blur(); // what was typed is said
  element.dispatchEvent(new CustomEvent("done", { bubbles: true }));
  changed(answer.answer.events);
}

document.addEventListener("submit", (event) => {
  if (!event.target.dataset.act) return;
  event.preventDefault();
  act(event.target);
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-act]");
  if (button) return void act(button);
  const opener = event.target.closest("[data-opens]");
  if (opener) open(opener);
});

// in the place of something, a form; Escape puts it back
function open(opener) {
  const form = document.getElementById(opener.dataset.opens);
  const place = opener.closest("[data-place]");
  for (const each of place.children) each.hidden = each !== form;
  const field = form.querySelector("input");
  field.focus();
  field.select();
}

function close(form) {
  for (const each of form.parentElement.children) each.hidden = each === form;
  form.parentElement.querySelector("[data-opens]")?.focus();
}

// categories that begin with what is typed
let typed = 0;

async function offer(field) {
  const turn = ++typed;
  const response = await fetch(`/parts/find?q=${encodeURIComponent(field.value)}`).catch(() => null);
  if (response?.ok && turn === typed) field.list.innerHTML = await response.text();
}

for (const kind of ["input", "focusin"]) {
  document.addEventListener(kind, (event) => event.target.matches?.("[data-find]") && offer(event.target));
}

// a picture that is gone is a blank, and not a broken one
document.addEventListener("error", (event) => {
  const picture = event.target;
  if (!(picture instanceof HTMLImageElement) || picture.closest(".brand")) return;
  const blank = document.createElement("div");
  blank.className = "blank";
  blank.textContent = "no picture";
  picture.replaceWith(blank);
}, true);

const PLACES = { s: "/", r: "/review", c: "/categories", m: "/map", o: "/overview" };
let going = false;

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (event.target.matches("input:not([type=checkbox], [type=radio]), textarea, select")) {
    if (event.key === "Escape") {
      const form = event.target.closest("[data-place] > form");
      if (form) close(form);
      else event.target.blur();
    }
    return;
  }
  if (document.querySelector("dialog[open]")) return;
  if (going && PLACES[event.key]) location.assign(PLACES[event.key]);
  going = event.key === "g";
  const beside = document.querySelector(`[data-go="${CSS.escape(event.key)}"]`);
  if (beside) beside.click();
  const keys = {
    u: () => document.querySelector("#undo [data-undo]")?.click(),
    "?": () => document.getElementById("keys").showModal(),
    "/": () => {
      const search = document.querySelector("input[type=search]");
      if (search) search.focus();
      else location.assign("/categories");
    },
  };
  if (keys[event.key]) {
    keys[event.key]();
    event.preventDefault();
  }
});
