// What went wrong, and what to do about it: above the page until it is read.
const STAYS = 9000; // milliseconds

export function notice(what, remedy) {
  const box = document.createElement("div");
  box.className = "notice";
  const words = document.createElement("p");
  words.textContent = what.charAt(0).toUpperCase() + what.slice(1);
  if (remedy) {
    const more = document.createElement("small");
    more.textContent = remedy.charAt(0).toUpperCase() + remedy.slice(1);
    words.append(more);
  }
  const close = document.createElement("button");
  close.className = "quiet";
  close.textContent = "Close";
  close.addEventListener("click", () => box.remove());
  box.append(words, close);
  document.getElementById("notices").append(box);
  setTimeout(() => box.remove(), STAYS);
}
