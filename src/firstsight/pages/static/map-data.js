// The map's data: read from the bytes of /api/map, changed by later ones, and found again by place.

const FINEST = 65535, CELLS = 128;

/** What `evidence/map_bytes.py` writes. */
function read(buffer) {
  const bytes = new Uint8Array(buffer);
  if (String.fromCharCode(...bytes.subarray(0, 4)) !== "FSM1") throw new Error("this is no map");
  const size = new DataView(buffer).getUint32(4, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + size)));
  let at = 8 + size;
  const count = header.images;
  const column = (kind, each) => {
    const values = new kind(buffer, at, count * each);
    at += values.byteLength;
    return values;
  };
  return { header, numbers: column(Uint32Array, 1), places: column(Uint16Array, 2), owners: column(Int32Array, 1), people: column(Uint8Array, 1) };
}

export class Plane {
  constructor(buffer) {
    const { header, numbers, places, owners, people } = read(buffer);
    this.count = numbers.length;  // of lines; those of images that left stay, without a category
    this.numbers = numbers;
    this.x = new Float32Array(this.count);
    this.y = new Float32Array(this.count);
    for (let i = 0; i < this.count; i++) {
      this.x[i] = places[2 * i] / FINEST;
      this.y[i] = places[2 * i + 1] / FINEST;
    }
    this.owners = owners;
    this.people = people;
    this.categories = new Map();  // by position
    this.lines = null;  // of image numbers; made when first needed
    this.#told(header);
  }

  /** Take in what changed. Places never do. */
  change(buffer) {
    const { header, numbers, places, owners, people } = read(buffer);
    this.lines ??= new Map(Array.from(this.numbers, (number, i) => [number, i]));
    const added = [];
    for (let i = 0; i < numbers.length; i++) {
      const line = this.lines.get(numbers[i]);
      if (line === undefined) added.push(i);
      else [this.owners[line], this.people[line]] = [owners[i], people[i]];
    }
    if (added.length) this.#grow(added, numbers, places, owners, people);
    for (const number of header.left) this.owners[this.lines.get(number)] = -1;
    this.#told(header);
    return numbers.length + header.left.length + header.categories.length > 0;
  }

  #grow(added, numbers, places, owners, people) {
    const longer = (kind, old) => {
      const values = new kind(old.length + added.length);
      values.set(old);
      return values;
    };
    this.numbers = longer(Uint32Array, this.numbers);
    this.x = longer(Float32Array, this.x);
    this.y = longer(Float32Array, this.y);
    this.owners = longer(Int32Array, this.owners);
    this.people = longer(Uint8Array, this.people);
    for (const i of added) {
      const line = this.count++;
      this.numbers[line] = numbers[i];
      this.x[line] = places[2 * i] / FINEST;
      this.y[line] = places[2 * i + 1] / FINEST;
      this.owners[line] = owners[i];
      this.people[line] = people[i];
      this.lines.set(numbers[i], line);
    }
  }

  #told(header) {
    this.header = header;
    for (const [position, id, name, known] of header.categories)
      this.categories.set(position, { position, id, name: name ?? id, known: Boolean(known), images: 0 });
    for (const each of this.categories.values()) each.images = 0;
    this.images = 0;
    for (let i = 0; i < this.count; i++) {
      if (this.owners[i] < 0) continue;
      this.categories.get(this.owners[i]).images++;
      this.images++;
    }
    this.#sort();
  }

  /** Lines by the cell of a grid they are in. */
  #sort() {
    const starts = new Uint32Array(CELLS * CELLS + 1), cells = new Uint16Array(this.count);
    for (let i = 0; i < this.count; i++) {
      cells[i] = Math.min(CELLS - 1, this.y[i] * CELLS | 0) * CELLS + Math.min(CELLS - 1, this.x[i] * CELLS | 0);
      starts[cells[i] + 1]++;
    }
    for (let cell = 0; cell < CELLS * CELLS; cell++) starts[cell + 1] += starts[cell];
    const next = starts.slice(), order = new Uint32Array(this.count);
    for (let i = 0; i < this.count; i++) order[next[cells[i]]++] = i;
    [this.starts, this.order] = [starts, order];
  }

  /** Every image in a part of the plane, and a little around it. */
  within(left, top, right, bottom, visit) {
    const cell = (value) => Math.max(0, Math.min(CELLS - 1, Math.floor(value * CELLS)));
    const [first, last] = [cell(left), cell(right)];
    for (let down = cell(top); down <= cell(bottom); down++) {
      const end = this.starts[down * CELLS + last + 1];
      for (let i = this.starts[down * CELLS + first]; i < end; i++) {
        const line = this.order[i];
        if (this.owners[line] >= 0) visit(line);
      }
    }
  }

  /** The image nearest to a place, no farther than so far; -1 where there is none. */
  nearest(x, y, far) {
    let found = -1, best = far * far;
    this.within(x - far, y - far, x + far, y + far, (line) => {
      const apart = (this.x[line] - x) ** 2 + (this.y[line] - y) ** 2;
      if (apart <= best) [found, best] = [line, apart];
    });
    return found;
  }

  /** The images inside a polygon [[x, y], ...]. */
  inside(polygon) {
    const across = polygon.map((each) => each[0]), down = polygon.map((each) => each[1]);
    const box = [Math.min(...across), Math.min(...down), Math.max(...across), Math.max(...down)];
    const found = [];
    this.within(...box, (line) => {
      const x = this.x[line], y = this.y[line];
      let odd = false;
      for (let i = 0, j = polygon.length - 1; i < polygon.length; j = i++)
        if ((down[i] > y) !== (down[j] > y) && x < (across[j] - across[i]) * (y - down[i]) / (down[j] - down[i]) + across[i]) odd = !odd;
      if (odd) found.push(line);
    });
    return found;
  }

  category(line) {
    return this.categories.get(this.owners[line]);
  }

  /** Categories that have images, the largest first; those that hold what was typed. */
  largest(limit, typed = "") {
    const asked = typed.trim().toLowerCase();
    const found = [...this.categories.values()].filter((each) => each.images && `${each.name} ${each.id}`.toLowerCase().includes(asked));
    return found.sort((a, b) => b.images - a.images || a.position - b.position).slice(0, limit);
  }
}
