// The stream: what arrives is put first, unless one has scrolled down, where it waits to be asked for.
const wall = document.getElementById("wall");
const fresh = document.getElementById("fresh");
const MOST = 600; // images a page keeps
let asking = false;

async function take() {
  if (asking) return;
  asking = true;
  try {
    const response = await fetch(`/parts/stream?after=${wall.dataset.newest}`);
    if (response.ok) put(await response.text());
  } catch { /* the service went away; what it has is told when it is back */ }
  asking = false;
}

function put(text) {
  const part = document.createRange().createContextualFragment(text);
  const counts = part.querySelector("template[data-counts]");
  if (counts) document.getElementById("counts").textContent = counts.content.textContent;
  const tiles = [...part.querySelectorAll(".tile")];
  if (!tiles.length) return;
  document.getElementById("empty")?.remove();
  wall.dataset.newest = tiles[0].dataset.image;
  for (const each of tiles) each.classList.add("arrived");
  wall.prepend(...tiles);
  const all = wall.querySelectorAll(".tile");
  if (scrollY < 300) for (const each of [...all].slice(MOST)) each.remove();
}

if (wall) {
  document.body.addEventListener("arrived", () => {
    if (scrollY < 300) return void take();
    fresh.hidden = false;
    fresh.querySelector("span").textContent = "what arrived";
  });
  fresh.addEventListener("click", () => {
    fresh.hidden = true;
    scrollTo({ top: 0 });
    take();
  });
}
