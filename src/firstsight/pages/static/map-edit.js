// What can be said of the images inside a lasso: each is one request, one edit, one undo.

const many = new Intl.NumberFormat("en");
const counted = (count, one, several) => `${many.format(count)} ${count === 1 ? one : several}`;

/** Ask the API to change something; what was wrong is thrown as an Error for people. */
async function ask(path, body) {
  const token = document.querySelector("meta[name=firstsight-token]")?.content ?? "";
  const headers = { "Content-Type": "application/json", Accept: "application/json", "X-Firstsight-Token": token };
  const response = await fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
  const said = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error([said.detail ?? `the service answered ${response.status}`, said.remedy].filter(Boolean).join("; "));
  return said;
}

export class Editing {
  constructor(page, painter, refresh) {
    [this.page, this.painter, this.refresh] = [page, painter, refresh];
    this.bar = page.querySelector("#map-bar");
    this.words = page.querySelector("#map-selected");
    this.dialog = page.querySelector("#map-dialog");
    this.input = this.dialog.querySelector("input");
    this.choices = this.dialog.querySelector("datalist");
    const verbs = {
      move: () => this.#open("Move to which category?", true, (to) => this.#edit("move", { to }, `to ${to}`)),
      split: () => this.#open("Split off as a category called (or nothing)", false, (name) => this.#edit("split", name ? { name } : {}, name && `as ${name}`)),
      confirm: () => this.#edit("confirm", {}),
      discard: () => this.#edit("discard", {}),
      clear: () => this.select([]),
      undo: () => this.undo(),
    };
    this.bar.addEventListener("click", (event) => verbs[event.target.closest("button")?.dataset.verb]?.());
    this.input.addEventListener("input", () => this.#suggest());
    this.dialog.querySelector("form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.dialog.close();
      this.then(this.input.value.trim());
    });
    this.dialog.querySelector("[data-verb=cancel]").addEventListener("click", () => this.dialog.close());
  }

  /** These lines are chosen. */
  select(lines) {
    this.painter.selected = new Set(lines);
    this.painter.fresh();
    this.bar.dataset.undo = "";
    this.#say();
  }

  /** After a change: those that left are chosen no more. */
  check() {
    const here = [...this.painter.selected].filter((line) => this.painter.plane.owners[line] >= 0);
    this.painter.selected = new Set(here);
    this.#say();
  }

  async undo() {
    await this.#busy(async () => {
      await ask("/api/undo", {});
      this.bar.dataset.undo = "";
      this.#tell("Taken back.");
    });
  }

  #say() {
    const { selected, plane } = this.painter, count = selected.size;
    this.bar.hidden = count === 0 && !this.bar.dataset.undo;
    this.bar.classList.toggle("choosing", count > 0);
    if (count) {
      const categories = new Set(Array.from(selected, (line) => plane.owners[line])).size;
      this.#tell(`${counted(count, "image", "images")} of ${counted(categories, "category", "categories")}`);
    }
  }

  #tell(words) {
    this.words.textContent = words;
  }

  #open(question, needed, then) {
    this.then = then;
    this.dialog.querySelector("label span").textContent = question;
    [this.input.value, this.input.required] = ["", needed];
    needed ? this.input.setAttribute("list", "map-choices") : this.input.removeAttribute("list");
    this.#suggest();
    this.dialog.showModal();
    this.input.focus();
  }

  #suggest() {
    const found = this.painter.plane.largest(30, this.input.value);
    this.choices.replaceChildren(...found.map((each) => new Option(`${each.id === each.name ? "" : `${each.id}, `}${counted(each.images, "image", "images")}`, each.name)));
  }

  async #edit(verb, more, whereto = "") {
    const { selected, plane } = this.painter, images = Array.from(selected, (line) => plane.numbers[line]).sort((a, b) => a - b);
    await this.#busy(async () => {
      await ask(`/api/images/${verb}`, { images, ...more });
      const done = { move: "Moved", split: "Split off", confirm: "Confirmed", discard: "Discarded" }[verb];
      this.painter.selected = new Set();
      this.bar.dataset.undo = "yes";
      this.bar.hidden = false;
      this.bar.classList.remove("choosing");
      this.#tell([done, counted(images.length, "image", "images"), whereto].filter(Boolean).join(" "));
    });
  }

  /** One at a time; what went wrong is said, and nothing is lost of what was chosen. */
  async #busy(work) {
    if (this.bar.ariaBusy === "true") return;
    this.bar.ariaBusy = "true";
    try {
      await work();
      document.body.dispatchEvent(new Event("changed"));
      await this.refresh();
    } catch (error) {
      this.#tell(error.message);
    } finally {
      this.bar.ariaBusy = "false";
      this.painter.fresh();
    }
  }
}
