// The pictures of the map, fetched when they are seen: few at a time, and so many kept at most.

const SIDE = 112, AT_ONCE = 8, KEPT = 600;
const TRIES = 8;  // pictures that cannot be had, before it is clear that none can: a register may hold none

export class Thumbnails {
  constructor(changed) {
    [this.changed, this.most] = [changed, 200];
    this.held = new Map();  // number -> picture, the one asked for last at the end
    this.lost = new Set();  // those that cannot be had
    this.wanted = [];
    this.coming = 0;
    this.there = true;  // whether the register has pictures at all
  }

  missing(number) {
    return this.lost.has(number) || this.none;
  }

  get none() {
    return !this.there || (this.held.size === 0 && this.lost.size >= TRIES);
  }

  /** The picture of one image, whenever it is there; none where it cannot be had. */
  async one(number) {
    if (this.missing(number)) return null;
    const picture = this.held.get(number) ?? this.#begin(number);
    await picture.there;
    return this.get(number);
  }

  get(number) {
    const picture = this.held.get(number);
    if (picture) {
      this.held.delete(number);
      this.held.set(number, picture);
    }
    return picture?.complete && picture.naturalWidth ? picture : null;
  }

  /** These are seen now; what was wanted before and has not begun is not fetched any more. */
  want(numbers) {
    this.wanted = numbers.filter((number) => !this.held.has(number) && !this.lost.has(number));
    this.#fetch();
  }

  #fetch() {
    while (this.coming < AT_ONCE && this.wanted.length && !this.none) this.#begin(this.wanted.shift());
    for (const [number, picture] of this.held) {
      if (this.held.size <= KEPT) break;
      if (picture.complete) this.held.delete(number);
    }
  }

  #begin(number) {
    const picture = new Image();
    this.coming++;
    this.held.set(number, picture);
    picture.there = new Promise((over) => { picture.onload = picture.onerror = over; }).then(() => {
      this.coming--;
      if (!picture.naturalWidth) {
        this.held.delete(number);
        this.lost.add(number);
      }
      this.changed();
      this.#fetch();
    });
    picture.src = `/api/images/${number}/thumbnail?side=${SIDE}`;
    return picture;
  }
}
