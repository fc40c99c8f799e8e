// The map's picture. Points are written straight into the pixels of a canvas: a hundred thousand take a few
// milliseconds on any machine, with a graphics card or without. Thumbnails are drawn on top where there is room.

const GOLDEN = 137.50776;  // degrees between the hues of categories that follow each other
const NEAR = 4;  // times as large as the whole, from which thumbnails are shown
const SIDE = 46;  // pixels of a thumbnail, up to twice as many
const FEW = 150;  // images that are all shown as thumbnails

/** The colour of a category, the same for ever; of a lightness that can be told from the paper. */
export function colour(position, dark) {
  const steps = dark ? [0.74, 0.66, 0.82] : [0.56, 0.47, 0.64];
  return oklch(steps[position % 3], 0.13, position * GOLDEN % 360);
}

function oklch(lightness, chroma, hue) {
  const a = chroma * Math.cos(hue * Math.PI / 180), b = chroma * Math.sin(hue * Math.PI / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  return linear.map((value) => {
    const held = Math.max(0, Math.min(1, value));
    return Math.round(255 * (held <= 0.0031308 ? 12.92 * held : 1.055 * held ** (1 / 2.4) - 0.055));
  });
}

const packed = ([red, green, blue]) => (255 << 24 | blue << 16 | green << 8 | red) >>> 0;
const css = (rgb) => `rgb(${rgb.join(" ")})`;

/** The pixels of a mark around its middle: a disc for known categories, an open diamond for new ones. */
function stamp(size, known, width) {
  const half = (size - 1) / 2, from = -Math.floor(half), to = Math.ceil(half), inner = half - Math.max(1, size / 5);
  const pixels = [];
  for (let y = from; y <= to; y++)
    for (let x = from; x <= to; x++) {
      const [across, down] = [Math.abs(x - (to + from) / 2), Math.abs(y - (to + from) / 2)];
      const here = known ? size < 5 || across ** 2 + down ** 2 <= (half + 0.3) ** 2 : across + down <= half + 0.1 && (size < 5 || across + down > inner);
      if (here) pixels.push(y * width + x);
    }
  return pixels;
}

export class Painter {
  constructor(canvas, thumbnails) {
    [this.canvas, this.context, this.thumbnails] = [canvas, canvas.getContext("2d", { alpha: false }), thumbnails];
    [this.x, this.y, this.zoom] = [0.5, 0.5, 1];  // what is in the middle, and how large
    this.chosen = new Set();  // lines
    this.bright = null;  // positions of categories; none: all
    this.lasso = [];
    this.pointed = -1;  // the line the keyboard is at
    this.pixels = null;
    this.resize();
  }

  /** As large as the page shows it. */
  resize() {
    const box = this.canvas.getBoundingClientRect();
    this.ratio = Math.min(2, window.devicePixelRatio || 1);
    this.canvas.width = Math.max(1, Math.round(box.width * this.ratio));
    this.canvas.height = Math.max(1, Math.round(box.height * this.ratio));
    const style = getComputedStyle(this.canvas);
    this.dark = matchMedia("(prefers-color-scheme: dark)").matches;
    this.paper = style.getPropertyValue("--paper").trim() || (this.dark ? "#17181a" : "#fdfcf8");
    this.ink = style.getPropertyValue("--ink").trim() || (this.dark ? "#ececea" : "#1c1c1c");
    this.picture = null;
    this.fresh();
  }

  show(plane) {
    this.plane = plane;
    this.fresh();
  }

  /** Draw again, points too. */
  fresh() {
    this.pixels = null;
    this.again();
  }

  /** Draw again, what lies over the points. */
  again() {
    this.waiting ??= requestAnimationFrame(() => {
      this.waiting = undefined;
      this.#paint();
    });
  }

  get scale() {
    return 0.97 * Math.min(this.canvas.width, this.canvas.height) * this.zoom;
  }

  /** From the page's pixels, within the canvas, to the plane. */
  place(across, down) {
    return [this.x + (across * this.ratio - this.canvas.width / 2) / this.scale, this.y + (down * this.ratio - this.canvas.height / 2) / this.scale];
  }

  /** Likewise, how much so many pixels are. */
  far(pixels) {
    return pixels * this.ratio / this.scale;
  }

  spot(line) {
    return [(this.plane.x[line] - this.x) * this.scale + this.canvas.width / 2, (this.plane.y[line] - this.y) * this.scale + this.canvas.height / 2];
  }

  get view() {
    return [...this.place(0, 0), ...this.place(this.canvas.width / this.ratio, this.canvas.height / this.ratio)];
  }

  pan(across, down) {
    this.x = Math.max(0, Math.min(1, this.x - this.far(across)));
    this.y = Math.max(0, Math.min(1, this.y - this.far(down)));
    this.fresh();
  }

  /** Larger or smaller; what is at this place of the canvas stays there. */
  zoomBy(factor, across = this.canvas.width / this.ratio / 2, down = this.canvas.height / this.ratio / 2) {
    const [x, y] = this.place(across, down);
    this.zoom = Math.max(0.8, Math.min(400, this.zoom * factor));
    const [now, then] = this.place(across, down);
    this.x = Math.max(0, Math.min(1, this.x + x - now));
    this.y = Math.max(0, Math.min(1, this.y + y - then));
    this.fresh();
  }

  whole() {
    [this.x, this.y, this.zoom] = [0.5, 0.5, 1];
    this.fresh();
  }

  isBright(line) {
    return this.bright === null || this.bright.has(this.plane.owners[line]);
  }

  #paint() {
    if (!this.plane) return;
    if (!this.pixels) this.#points();
    this.context.putImageData(this.pixels, 0, 0);
    this.#pictures();
    this.#over();
    this.canvas.dataset.drawn = this.plane.images;
    if (!this.drawn) {
      this.drawn = true;
      performance.mark("map-drawn");
    }
  }

  #points() {
    const { width, height } = this.canvas, { plane, scale } = this;
    this.picture ??= this.context.createImageData(width, height);
    this.pixels = this.picture;
    const pixels = new Uint32Array(this.pixels.data.buffer);
    pixels.fill(this.#number(this.paper));
    const apart = scale / Math.sqrt(Math.max(1, plane.images));
    const size = Math.round(Math.max(3, Math.min(11 * this.ratio, 0.45 * apart)));
    const marks = [stamp(size, false, width), stamp(size, true, width)], around = stamp(size + 4, true, width);
    const { tones, dim, known } = this.#colours(), ink = this.#number(this.ink);
    const left = width / 2 - this.x * scale, top = height / 2 - this.y * scale, edge = size / 2 + 4;
    const view = this.view;
    const put = (line, mark, tone) => {
      const across = plane.x[line] * scale + left | 0, down = plane.y[line] * scale + top | 0;
      if (across < edge || down < edge || across >= width - edge || down >= height - edge) return;
      const at = down * width + across;
      for (let i = 0; i < mark.length; i++) pixels[at + mark[i]] = tone;
    };
    const stands = (line) => this.isBright(line) && (this.chosen.size === 0 || this.chosen.has(line));
    const all = this.bright === null && this.chosen.size === 0;
    if (!all) plane.within(...view, (line) => stands(line) || put(line, marks[known[plane.owners[line]]], dim[plane.owners[line]]));
    for (const line of this.chosen) put(line, around, ink);
    plane.within(...view, (line) => (all || stands(line)) && put(line, marks[known[plane.owners[line]]], tones[plane.owners[line]]));
  }

  /** By position: the tone of each category, the same where others stand out, and whether it is known. */
  #colours() {
    if (this.toned?.header !== this.plane.header || this.toned.dark !== this.dark) {
      const last = Math.max(0, ...this.plane.categories.keys()), paper = this.#parts(this.paper);
      const tones = new Uint32Array(last + 1), dim = new Uint32Array(last + 1), known = new Uint8Array(last + 1);
      for (const each of this.plane.categories.values()) {
        const tone = colour(each.position, this.dark);
        tones[each.position] = packed(tone);
        dim[each.position] = packed(tone.map((value, i) => Math.round(0.22 * value + 0.78 * paper[i])));
        known[each.position] = each.known ? 1 : 0;
      }
      this.toned = { header: this.plane.header, dark: this.dark, tones, dim, known };
    }
    return this.toned;
  }

  #parts(tone) {
    this.context.fillStyle = tone;
    const hex = this.context.fillStyle;  // as the canvas writes it: #rrggbb
    return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  }

  #number(tone) {
    return packed(this.#parts(tone));
  }

  /** One image for every square of the plane that is large enough on the screen, the first that came to it. */
  #pictures() {
    const few = this.plane.images <= FEW;
    if (this.zoom < NEAR && !few) return this.thumbnails.want([]);
    const zoom = Math.max(1, this.zoom), octave = 2 ** Math.floor(Math.log2(zoom)), side = SIDE * this.ratio * zoom / octave;
    const square = 1.15 * SIDE * this.ratio * this.zoom / (this.scale * octave);  // the same until twice as large
    const chosen = new Map();
    this.plane.within(...this.view, (line) => {
      if (!this.isBright(line) || this.thumbnails.missing(this.plane.numbers[line])) return;
      const key = few ? -1 - line : Math.floor(this.plane.x[line] / square) * 1e6 + Math.floor(this.plane.y[line] / square);
      const other = chosen.get(key);
      if (other === undefined || line < other) chosen.set(key, line);
    });
    const middle = (line) => (this.plane.x[line] - this.x) ** 2 + (this.plane.y[line] - this.y) ** 2;
    const lines = [...chosen.values()].sort((a, b) => middle(a) - middle(b)).slice(0, this.thumbnails.most);
    this.thumbnails.want(lines.map((line) => this.plane.numbers[line]));
    for (const line of lines.reverse()) this.#thumbnail(line, side);
  }

  #thumbnail(line, side) {
    const picture = this.thumbnails.get(this.plane.numbers[line]);
    if (!picture) return;
    const [across, down] = this.spot(line), category = this.plane.category(line), context = this.context;
    const larger = side / Math.max(picture.width, picture.height), width = picture.width * larger, height = picture.height * larger;
    context.drawImage(picture, across - width / 2, down - height / 2, width, height);
    context.lineWidth = 3 * this.ratio;
    context.strokeStyle = this.chosen.has(line) ? this.ink : css(colour(category.position, this.dark));
    context.setLineDash(category.known ? [] : [5 * this.ratio, 3 * this.ratio]);
    context.strokeRect(across - width / 2, down - height / 2, width, height);
    context.setLineDash([]);
  }

  /** The lasso while it is drawn, and the image the keyboard is at. */
  #over() {
    const context = this.context, { width, height } = this.canvas;
    context.strokeStyle = this.ink;
    context.lineWidth = 2 * this.ratio;
    if (this.lasso.length > 1) {
      context.setLineDash([6 * this.ratio, 4 * this.ratio]);
      context.beginPath();
      for (const [x, y] of this.lasso) context.lineTo((x - this.x) * this.scale + width / 2, (y - this.y) * this.scale + height / 2);
      context.closePath();
      context.stroke();
      context.setLineDash([]);
    }
    if (this.pointed >= 0) {
      context.beginPath();
      context.arc(...this.spot(this.pointed), 10 * this.ratio, 0, 2 * Math.PI);
      context.stroke();
    }
  }
}
