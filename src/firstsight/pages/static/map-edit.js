// What can be said of the images inside a lasso: each is one request, one edit, one undo.
import { changed } from "./live.js";
import { notice } from "./notices.js";
import { send } from "./send.js";

const many = new Intl.NumberFormat("en");
const counted = (count, one, several) => `${many.format(count)} ${count === 1 ? one : several}`;

export class Editing {
  constructor(painter) {
    this.painter = painter;
    this.bar = document.querySelector("#map-bar");
    this.words = document.querySelector("#map-chosen");
    this.dialog = document.querySelector("#map-dialog");
    this.input = this.dialog.querySelector("input");
    this.choices = this.dialog.querySelector("datalist");
    const verbs = {
      move: () => this.#open("Move to which category?", true, (to) => this.#edit("move", { to })),
      split: () => this.#open("What is the new category called? It may have no name yet.", false, (name) => this.#edit("split", name ? { name } : {})),
      confirm: () => this.#edit("confirm", {}),
      discard: () => this.#edit("discard", {}),
      clear: () => this.choose([]),
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
  choose(lines) {
    this.painter.chosen = new Set(lines);
    this.painter.fresh();
    this.say();
  }

  /** How many are chosen of what; those that left meanwhile are not any more. */
  say() {
    const { plane } = this.painter;
    if (!plane) return;
    const here = Array.from(this.painter.chosen).filter((line) => plane.owners[line] >= 0);
    this.painter.chosen = new Set(here);
    this.bar.hidden = here.length === 0;
    const categories = new Set(here.map((line) => plane.owners[line])).size;
    this.words.textContent = `${counted(here.length, "image", "images")} of ${counted(categories, "category", "categories")}`;
  }

  #open(question, needed, then) {
    this.then = then;
    this.dialog.querySelector("label span").textContent = question;
    [this.input.value, this.input.required] = ["", needed];
    if (needed) this.input.setAttribute("list", "map-choices");
    else this.input.removeAttribute("list");
    this.#suggest();
    this.dialog.showModal();
    this.input.focus();
  }

  #suggest() {
    const told = (each) => `${each.id === each.name ? "" : `${each.id}, `}${counted(each.images, "image", "images")}`;
    this.choices.replaceChildren(...this.painter.plane.largest(30, this.input.value).map((each) => new Option(told(each), each.name)));
  }

  /** One at a time; of what went wrong nothing is lost that was chosen. */
  async #edit(verb, more) {
    const buttons = this.bar.querySelectorAll("button"), { chosen, plane } = this.painter;
    const images = Array.from(chosen, (line) => plane.numbers[line]).sort((a, b) => a - b);
    for (const each of buttons) each.disabled = true;
    this.words.textContent += ", one moment…";
    const answer = await send(`/api/images/${verb}`, { images, ...more });
    for (const each of buttons) each.disabled = false;
    this.say();
    if (!answer.ok) return notice(answer.detail, answer.remedy);
    this.choose([]);
    changed(answer.answer.events);
  }
}
