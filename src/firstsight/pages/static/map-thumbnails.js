// The pictures of the map, fetched when they are seen: few at a time, and so many kept at most.

const SIDE = 112, AT_ONCE = 8, KEPT = 600;

export class Thumbnails {
  constructor(changed) {
    [this.changed, this.most] = [changed, 200];
    this.held = new Map();  // number -> picture, the one asked for last at the end
    this.lost = new Set();  // those that cannot be had
    this.wanted = [];
    this.coming = 0;
  }

  missing(number) {
    return this.lost.has(number);
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
    while (this.coming < AT_ONCE && this.wanted.length) {
      const number = this.wanted.shift(), picture = new Image();
      this.coming++;
      this.held.set(number, picture);
      const over = (there) => {
        this.coming--;
        if (!there) {
          this.held.delete(number);
          this.lost.add(number);
        }
        this.changed();
        this.#fetch();
      };
      picture.onload = () => over(true);
      picture.onerror = () => over(false);
      picture.src = `/api/images/${number}/thumbnail?side=${SIDE}`;
    }
    for (const [number, picture] of this.held) {
      if (this.held.size <= KEPT) break;
      if (picture.complete) this.held.delete(number);
    }
  }
}
