// The map: fetch it, draw it, and let people move over it by mouse, finger and key.

import { Plane } from "./map-data.js";
import { Editing } from "./map-edit.js";
import { Painter, colour } from "./map-paint.js";
import { Thumbnails } from "./map-thumbnails.js";
import { notice } from "./notices.js";
import { send } from "./send.js";

const page = document.querySelector("#map"), canvas = page.querySelector("canvas"), card = page.querySelector("#map-card");
const state = page.querySelector("#map-state"), legend = page.querySelector("#map-legend"), search = page.querySelector("#map-search");
const lassoButton = page.querySelector("[data-tool=lasso]"), anew = page.querySelector("#map-anew");
const many = new Intl.NumberFormat("en");
const AGAIN = 1500;  // milliseconds until one asks again whether the map is laid out
const SHOWN = 40;  // categories in the legend

const thumbnails = new Thumbnails(() => painter.again());
const painter = new Painter(canvas, thumbnails);
const editing = new Editing(painter);
let plane = null, drawing = false, fetching = null, focused = -1;

// ---------------------------------------------------------------- fetching

/** The whole map, or what changed; one request at a time. */
async function refresh() {
  if (fetching) return fetching.then(refresh);
  fetching = load().catch((error) => say(`The map could not be fetched: ${error.message}`));
  await fetching.finally(() => { fetching = null; });
}

async function load() {
  const address = plane ? `/api/map?since=${plane.header.last}&layout=${plane.header.layout}` : "/api/map";
  const response = await fetch(address);
  if (response.status === 202) return later(await response.json());
  if (!response.ok) throw new Error(`the service answered ${response.status}`);
  const content = await response.arrayBuffer();
  const part = plane && isPart(content), other = plane !== null && !part;
  if (part) plane.change(content);
  else plane = new Plane(content);
  if (other) [painter.chosen, painter.pointed] = [new Set(), -1];  // laid out anew: lines are others
  thumbnails.there = plane.header.pictures;
  painter.show(plane);
  editing.say();
  describe();
  if (plane.header.working) setTimeout(refresh, AGAIN);
}

/** Whether these bytes tell only what changed. */
function isPart(content) {
  const size = new DataView(content).getUint32(4, true);
  return JSON.parse(new TextDecoder().decode(new Uint8Array(content, 8, size))).since !== null;
}

function later({ working, images, failed }) {
  page.classList.add("waiting");
  if (failed) return say(`The map could not be laid out: ${failed}`);
  if (!images) return say("There are no images yet. Add some, and the map of them is drawn here.");
  say(`Laying out ${many.format(images)} images by likeness. This is done once, and takes up to a minute.`);
  if (working) setTimeout(refresh, AGAIN);
}

function say(words) {
  state.textContent = words;
}

/** What the page says about the map beside the canvas. */
function describe() {
  page.classList.remove("waiting");
  const { came, working, failed } = plane.header, categories = [...plane.categories.values()].filter((each) => each.images).length;
  say(`${many.format(plane.images)} images of ${many.format(categories)} ${categories === 1 ? "category" : "categories"}`);
  const words = working ? "It is being laid out anew…" : failed ? `It could not be laid out anew: ${failed}` : came ? `${many.format(came)} came since it was laid out.` : "";
  anew.querySelector("span").textContent = words;
  anew.hidden = !words;
  anew.querySelector("button")?.toggleAttribute("disabled", working);
  list();
}

// ---------------------------------------------------------------- legend

function list() {
  if (!plane) return;
  const found = plane.largest(SHOWN, search.value);
  legend.replaceChildren(...found.map((each) => {
    const button = document.createElement("button");
    button.type = "button";
    button.ariaPressed = String(painter.bright?.has(each.position) ?? false);
    button.append(mark(each), Object.assign(document.createElement("span"), { textContent: each.name }), Object.assign(document.createElement("small"), { textContent: many.format(each.images) }));
    button.title = `${each.name}, ${each.known ? "known" : "new"}`;
    button.addEventListener("click", () => highlight(each.position));
    const item = document.createElement("li");
    item.append(button);
    return item;
  }));
  const none = page.querySelector("#map-none");
  none.hidden = found.length > 0;
}

/** A category's mark: a disc where it is known, an open diamond where it is new. */
function mark(category) {
  const drawn = document.createElementNS("http://www.w3.org/2000/svg", "svg"), tone = `rgb(${colour(category.position, painter.dark).join(" ")})`;
  drawn.setAttribute("viewBox", "-6 -6 12 12");
  drawn.setAttribute("aria-hidden", "true");
  const shape = document.createElementNS("http://www.w3.org/2000/svg", category.known ? "circle" : "path");
  const attributes = category.known ? { r: 5, fill: tone } : { d: "M0-5 5 0 0 5-5 0Z", fill: "none", stroke: tone, "stroke-width": 2 };
  for (const [name, value] of Object.entries(attributes)) shape.setAttribute(name, value);
  drawn.append(shape);
  return drawn;
}

/** Show a category among the others, or no more. */
function highlight(position) {
  const bright = new Set(painter.bright ?? []);
  bright.has(position) ? bright.delete(position) : bright.add(position);
  painter.bright = bright.size ? bright : null;
  painter.fresh();
  list();
}

// ---------------------------------------------------------------- one image

/** Tell about the image at a place of the canvas. */
function point(across, down, reach = 14) {
  if (!plane || drawing) return hide();
  const [x, y] = painter.place(across, down), line = plane.nearest(x, y, painter.far(reach));
  if (line < 0) return hide();
  if (line !== focused) tell(line);
  beside(across, down);
}

/** The card beside a place, on the canvas. */
function beside(across, down) {
  const box = canvas.getBoundingClientRect();
  const left = across + card.offsetWidth + 24 > box.width ? across - card.offsetWidth - 16 : across + 16;
  card.style.left = `${Math.max(4, left)}px`;
  card.style.top = `${Math.max(4, Math.min(down + 12, box.height - card.offsetHeight - 8))}px`;
}

function tell(line) {
  focused = line;
  const category = plane.category(line), number = plane.numbers[line], picture = card.querySelector("img");
  picture.hidden = thumbnails.missing(number);
  picture.classList.add("coming");  // its room is kept, so that the card stays where it is
  thumbnails.one(number).then((found) => {
    if (focused !== line) return;
    picture.hidden = !found;
    if (found) picture.src = found.src;
    picture.classList.toggle("coming", !found);
  });
  card.querySelector("strong").replaceChildren(mark(category), ` ${category.name}`);
  card.querySelector("small").textContent = `${category.known ? "known" : "new"}, image ${number}${plane.people[line] ? ", placed by a person" : ""}`;
  card.href = `/images/${number}`;
  card.hidden = false;
}

function hide() {
  focused = -1;
  card.classList.remove("open");
  card.hidden = true;
}

// ---------------------------------------------------------------- moving

const fingers = new Map();
let moved = 0;

function at(event) {
  const box = canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

canvas.addEventListener("pointerdown", (event) => {
  if (event.button > 0) return;
  canvas.setPointerCapture(event.pointerId);
  fingers.set(event.pointerId, at(event));
  moved = 0;
  painter.pointed = -1;
  if (drawing && fingers.size === 1) painter.lasso = [painter.place(...at(event))];
});

canvas.addEventListener("pointermove", (event) => {
  const now = at(event), before = fingers.get(event.pointerId);
  if (!before) return event.pointerType === "mouse" && point(...now);
  moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
  if (fingers.size === 2) pinch(event.pointerId, now);
  else if (drawing) {
    painter.lasso.push(painter.place(...now));
    painter.again();
  } else if (moved > 3) {
    hide();
    painter.pan(now[0] - before[0], now[1] - before[1]);
  }
  fingers.set(event.pointerId, now);
});

function pinch(id, now) {
  const [other] = [...fingers].filter(([each]) => each !== id).map(([, where]) => where), before = fingers.get(id);
  const apart = (one) => Math.hypot(one[0] - other[0], one[1] - other[1]);
  painter.lasso = [];
  painter.pan((now[0] - before[0]) / 2, (now[1] - before[1]) / 2);
  if (apart(before) > 8) painter.zoomBy(apart(now) / apart(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
}

canvas.addEventListener("pointerup", (event) => {
  const alone = fingers.size === 1;
  fingers.delete(event.pointerId);
  if (!alone) return;
  if (drawing) return close();
  if (moved > 6) return;
  const mouse = event.pointerType === "mouse";
  point(...at(event), mouse ? 14 : 24);
  if (focused < 0) return;
  if (mouse) location.assign(card.href);
  else card.classList.add("open");  // for a second tap
});
canvas.addEventListener("pointercancel", (event) => { fingers.delete(event.pointerId); painter.lasso = []; painter.again(); });
canvas.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && hide());
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  hide();
  const lines = event.deltaMode === 1 ? 16 : 1;
  painter.zoomBy(Math.exp(-Math.max(-200, Math.min(200, event.deltaY * lines)) / 300), ...at(event));
}, { passive: false });

// ---------------------------------------------------------------- choosing

function lasso(on = !drawing) {
  drawing = on;
  lassoButton.ariaPressed = String(on);
  page.classList.toggle("lassoing", on);
  painter.lasso = [];
  hide();
  painter.again();
}

/** The lasso is closed: what is inside, and shown, is chosen. */
function close() {
  const polygon = thinned(painter.lasso);
  painter.lasso = [];
  if (polygon.length > 2 && plane) editing.choose(plane.inside(polygon).filter((line) => painter.isBright(line)));
  lasso(false);
}

function thinned(polygon) {
  const near = painter.far(2), kept = [];
  for (const place of polygon) {
    const last = kept.at(-1);
    if (!last || Math.hypot(place[0] - last[0], place[1] - last[1]) >= near) kept.push(place);
  }
  return kept;
}

/** All that is seen: the lasso of those who draw none. */
function everything() {
  const [left, top, right, bottom] = painter.view;
  const corners = [[left, top], [right, top], [right, bottom], [left, bottom]];
  if (plane) editing.choose(plane.inside(corners).filter((line) => painter.isBright(line)));
}

// ---------------------------------------------------------------- keys and buttons

function step(across, down) {
  painter.pan(across, down);
  centre();
}

/** The keyboard points at the image nearest to the middle. */
function centre() {
  const box = canvas.getBoundingClientRect();
  const line = plane ? plane.nearest(painter.x, painter.y, painter.far(Math.min(box.width, box.height) / 2)) : -1;
  painter.pointed = line;
  painter.again();
  if (line < 0) return hide();
  tell(line);
  beside(...painter.spot(line).map((each) => each / painter.ratio));
}

const tools = {
  in: () => painter.zoomBy(1.5),
  out: () => painter.zoomBy(1 / 1.5),
  whole: () => painter.whole(),
  lasso: () => lasso(),
  seen: () => everything(),
};
const keys = {
  ArrowLeft: () => step(80, 0), ArrowRight: () => step(-80, 0), ArrowUp: () => step(0, 80), ArrowDown: () => step(0, -80),
  "+": () => { tools.in(); centre(); }, "=": () => { tools.in(); centre(); }, "-": () => { tools.out(); centre(); },
  0: tools.whole, a: tools.seen,
  Enter: () => { if (focused >= 0) location.assign(card.href); },
};

canvas.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});
canvas.addEventListener("blur", () => { painter.pointed = -1; painter.again(); });
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("input, textarea, select, dialog")) return;
  if (event.key === "l" || event.key === "L") lasso();
  if (event.key === "Escape") drawing ? lasso(false) : (hide(), editing.choose([]));
});
page.querySelector("#map-tools").addEventListener("click", (event) => tools[event.target.closest("button")?.dataset.tool]?.());
search.addEventListener("input", list);
anew.querySelector("button")?.addEventListener("click", async () => {
  const answer = await send("/api/map/layout", {});
  if (!answer.ok) notice(answer.detail, answer.remedy);
  refresh();
});

new ResizeObserver(() => painter.resize()).observe(canvas);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { painter.resize(); list(); });
for (const kind of ["arrived", "changed"]) document.body.addEventListener(kind, refresh);
refresh();
