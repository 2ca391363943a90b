// The image and its overlays: the result to the right of the divider, and the strokes.

const BORDER = [255, 255, 255];

export class Stage {
  constructor() {
    for (const id of ["stage", "frame", "picture", "result", "strokes", "divider", "hint", "split", "reduced"]) {
      this[id] = document.getElementById(id);
    }
    this.width = this.height = 0;
    this.split.addEventListener("input", () => this.divide());
    addEventListener("resize", () => this.fit());
  }

  // `original` is the width and the height of the opened image.
  setSize(width, height, original) {
    Object.assign(this, { width, height });
    for (const canvas of [this.picture, this.result, this.strokes]) {
      Object.assign(canvas, { width, height });
    }
    this.sayIfReduced(...original);
    this.fit();
    this.divide();
  }

  // As large as the window allows.
  fit() {
    if (!this.width) return;
    const rest = 270 + this.reduced.offsetHeight;
    const room = { width: this.stage.clientWidth, height: Math.max(innerHeight - rest, 240) };
    this.scale = Math.min(room.width / this.width, room.height / this.height);
    const width = `${this.width * this.scale}px`;
    this.frame.style.width = width;
    this.frame.style.height = `${this.height * this.scale}px`;
    document.getElementById("split-label").style.width = width;
  }

  sayIfReduced(width, height) {
    const isReduced = width !== this.width || height !== this.height;
    this.reduced.hidden = !isReduced;
    if (!isReduced) return;
    const [from, to] = [[width, height], [this.width, this.height]].map((size) => size.join(" × "));
    this.reduced.textContent =
      `The image was reduced from ${from} to ${to} pixels. ` +
      "Labels and scribbles are downloaded in the original size, the denoised image in the reduced size.";
  }

  divide() {
    const share = `${this.split.value}%`;
    this.result.style.clipPath = `inset(0 0 0 ${share})`;
    this.divider.style.left = share;
    this.divider.hidden = this.split.value <= 0 || this.split.value >= 100;
  }

  say(text) {
    this.hint.textContent = text;
    this.hint.hidden = !text;
  }

  clearResult() {
    this.result.getContext("2d").clearRect(0, 0, this.width, this.height);
  }

  // Draw each class in its colour, with a line at the borders.
  showLabels(labels, colours, tint) {
    const { width, height } = this;
    const image = new ImageData(width, height);
    const alpha = Math.round(255 * tint);
    for (let y = 0, i = 0; y < height; y++) {
      for (let x = 0; x < width; x++, i++) {
        const label = labels[i];
        const isBorder =
          (x + 1 < width && labels[i + 1] !== label) ||
          (y + 1 < height && labels[i + width] !== label);
        image.data.set(isBorder ? BORDER : colours[label - 1], 4 * i);
        image.data[4 * i + 3] = isBorder ? 255 : alpha;
      }
    }
    this.result.getContext("2d").putImageData(image, 0, 0);
  }

  showPixels(canvas, pixels) {
    const image = new ImageData(this.width, this.height);
    for (let i = 0, j = 0; i < image.data.length; i += 4, j += 3) {
      image.data[i] = pixels[j];
      image.data[i + 1] = pixels[j + 1];
      image.data[i + 2] = pixels[j + 2];
      image.data[i + 3] = 255;
    }
    canvas.getContext("2d").putImageData(image, 0, 0);
  }
}
