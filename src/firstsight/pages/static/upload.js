// Images and folders that are dropped anywhere or chosen: sent a few at a time, each group once however often it is
// sent, with what became of them.
import { headers } from "./send.js";

const GROUP = 8; // images at a time,
const BYTES = 24e6; // or so many bytes
const TRIES = 6; // for a service that does not answer
const panel = document.getElementById("uploads");
const may = !document.body.classList.contains("reading");
const wait = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));
let queue = [];
let now = null; // what is under way

const nothing = () => ({ all: 0, done: 0, born: 0, before: 0, refused: [], word: "", over: false });

function key() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((each) => each.toString(16).padStart(2, "0")).join("");
}

function add(files) {
  const wanted = files.filter(({ file, name }) => file.size && !name.split("/").pop().startsWith("."));
  if (!wanted.length) return;
  if (!now || now.over) now = nothing();
  for (const each of wanted) {
    if (each.file.type && !each.file.type.startsWith("image/")) now.refused.push([each.name, "is no image"]);
    else queue.push(each);
  }
  now.all += wanted.length;
  now.done = now.refused.length + now.done;
  show();
  if (!now.running) run();
}

function group() {
  const some = [];
  let bytes = 0;
  while (queue.length && some.length < GROUP && (!some.length || bytes + queue[0].file.size < BYTES)) {
    bytes += queue[0].file.size;
    some.push(queue.shift());
  }
  return some;
}

async function run() {
  now.running = true;
  while (queue.length) await deliver(group());
  now.running = false;
  now.over = true;
  now.word = "";
  show();
}

// a group until it is answered: a full queue says when to come again, and a lost answer is asked for by the same key
async function deliver(some) {
  const once = key();
  for (let tries = 0; ; ) {
    const form = new FormData();
    for (const { file, name } of some) form.append("images", file, name);
    let response = null;
    try {
      response = await fetch("/api/discover?once=true", {
        method: "POST", headers: headers({ "Idempotency-Key": once }), body: form,
      });
    } catch {
      if (++tries >= TRIES) return refuse(some, "the service cannot be reached");
      now.word = "The service does not answer; trying again.";
      show();
      await wait(tries);
      continue;
    }
    if (response.status === 503) {
      const seconds = Number(response.headers.get("Retry-After")) || 2;
      now.word = `Much is waiting; going on in ${seconds} s.`;
      show();
      await wait(seconds);
      continue;
    }
    now.word = "";
    const said = await response.json().catch(() => ({}));
    if (response.ok) return took(some, said.answers);
    if (some.length > 1 && response.status !== 401 && response.status !== 403) {
      for (const each of some) await deliver([each]);
      return;
    }
    return refuse(some, said.detail ?? response.statusText);
  }
}

function took(some, answers) {
  answers.forEach((each, i) => {
    if (each.problem) now.refused.push([some[i].name, each.problem.detail]);
    else if (each.answer.decided_by === "record" || each.answer.decided_by === "discarded") now.before += 1;
    else if (each.answer.created) now.born += 1;
  });
  now.done += some.length;
  show();
}

function refuse(some, why) {
  for (const { name } of some) now.refused.push([name, why]);
  now.done += some.length;
  show();
}

const images = (count) => (count === 1 ? "1 image" : `${count} images`);

function words() {
  if (!now.over) return `${now.done} of ${images(now.all)}`;
  const fine = now.all - now.refused.length;
  const more = [
    now.born && `${now.born} founded a new category`,
    now.before && `${now.before} had been here before`,
  ].filter(Boolean);
  return `${images(fine)} answered${more.length ? `; ${more.join(", ")}` : ""}.`;
}

function show() {
  panel.hidden = false;
  panel.replaceChildren();
  const line = document.createElement("div");
  line.className = "row";
  const said = document.createElement("p");
  said.textContent = words();
  const button = document.createElement("button");
  button.className = "quiet";
  button.textContent = now.over ? "Close" : "Stop";
  button.addEventListener("click", () => {
    if (now.over) panel.hidden = true;
    else {
      now.all -= queue.length;
      queue = [];
    }
  });
  line.append(said, button);
  panel.append(line);
  if (!now.over) {
    const bar = document.createElement("progress");
    bar.max = now.all;
    bar.value = now.done;
    bar.setAttribute("aria-label", "Images sent");
    panel.append(bar);
  }
  if (now.word) panel.append(Object.assign(document.createElement("p"), { className: "note", textContent: now.word }));
  if (now.refused.length) panel.append(refusals());
}

function refusals() {
  const fold = document.createElement("details");
  fold.open = now.over;
  const title = document.createElement("summary");
  title.textContent = `${images(now.refused.length)} refused`;
  const list = document.createElement("ul");
  for (const [name, why] of now.refused.slice(0, 200)) {
    const item = document.createElement("li");
    item.textContent = why.includes(name) ? why : `${name}: ${why}`;
    list.append(item);
  }
  fold.append(title, list);
  return fold;
}

// everything in a folder that was dropped
async function inside(entry) {
  if (entry.isFile) {
    const file = await new Promise((found, lost) => entry.file(found, lost));
    return [{ file, name: entry.fullPath.replace(/^\//, "") }];
  }
  const reader = entry.createReader();
  const all = [];
  for (;;) { // a hundred at a time
    const some = await new Promise((found, lost) => reader.readEntries(found, lost));
    if (!some.length) break;
    for (const each of some) all.push(...(await inside(each)));
  }
  return all;
}

const carries = (event) => may && event.dataTransfer?.types.includes("Files");
const dropping = document.getElementById("dropping");
let depth = 0;

addEventListener("dragenter", (event) => {
  if (!carries(event)) return;
  depth += 1;
  dropping.hidden = false;
});
addEventListener("dragleave", (event) => {
  if (!carries(event)) return;
  depth = Math.max(0, depth - 1);
  dropping.hidden = depth === 0;
});
addEventListener("dragover", (event) => carries(event) && event.preventDefault());
addEventListener("drop", async (event) => {
  if (!carries(event)) return;
  event.preventDefault();
  depth = 0;
  dropping.hidden = true;
  const plain = [...event.dataTransfer.files];
  const entries = [...event.dataTransfer.items].map((each) => each.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return add(plain.map((file) => ({ file, name: file.name })));
  for (const each of entries) add(await inside(each));
});

document.addEventListener("change", (event) => {
  if (!event.target.matches("[data-upload]")) return;
  add([...event.target.files].map((file) => ({ file, name: file.webkitRelativePath || file.name })));
  event.target.value = "";
});
addEventListener("beforeunload", (event) => now && !now.over && event.preventDefault());
