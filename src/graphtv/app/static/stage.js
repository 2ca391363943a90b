// The image and its layers: the result to the right of the line, the strokes, and which side is which.

import { element } from "./dom.js";
import { refresh, set, slider } from "./sliders.js";
import { Viewport } from "./viewport.js";

const BORDER = [255, 255, 255];
const LEAST_HEIGHT = 220;

export class Stage {
  constructor() {
    for (const id of ["stage", "frame", "layers", "picture", "result", "strokes", "divider", "hint", "note"]) {
      this[id] = element(id);
    }
    this.width = this.height = 0;
    this.names = ["Original", "Result"];
    this.viewport = new Viewport(this.frame, this.layers, () => this.divide());
    slider("split", (left) => this.sides(left), () => this.divide());
    this.divider.addEventListener("pointerdown", (event) => this.divider.setPointerCapture(event.pointerId));
    this.divider.addEventListener("pointermove", (event) => this.dragDivider(event));
    new ResizeObserver(() => this.fit()).observe(this.stage);
    addEventListener("resize", () => this.fit());
  }

  // The size in which strokes and labels are stored. The picture may have more pixels.
  setSize(width, height) {
    Object.assign(this, { width, height });
    for (const canvas of [this.result, this.strokes]) Object.assign(canvas, { width, height });
    this.fit();
  }

  // As large as the window allows.
  fit() {
    if (!this.width) return;
    const isNarrow = innerWidth <= 820;
    const most = isNarrow ? 0.55 * innerHeight : innerHeight - this.rest();
    const height = Math.max(most, LEAST_HEIGHT);
    this.scale = Math.min(this.stage.clientWidth / this.width, height / this.height);
    this.frame.style.width = `${Math.round(this.width * this.scale)}px`;
    this.frame.style.height = `${Math.round(this.height * this.scale)}px`;
    this.viewport.apply();
  }

  // The height of everything above and below the image.
  rest() {
    const others = [...this.stage.children].filter((child) => child !== this.frame);
    const here = others.reduce((sum, child) => sum + child.offsetHeight + 8, 0);
    return document.querySelector("header").offsetHeight + here + 120;
  }

  name(before, after) {
    this.names = [before, after];
    for (const id of ["side-before", "split-before"]) element(id).textContent = before;
    for (const id of ["side-after", "split-after"]) element(id).textContent = after;
    refresh("split");
  }

  sides(left) {
    return `${this.names[0]} on the left ${left} %, ${this.names[1].toLowerCase()} on the right ${100 - left} %`;
  }

  moveDivider(left) {
    set("split", left);
    this.divide();
  }

  dragDivider(event) {
    if (!this.divider.hasPointerCapture(event.pointerId)) return;
    const box = this.frame.getBoundingClientRect();
    this.moveDivider(Math.min(Math.max((100 * (event.clientX - box.left)) / box.width, 0), 100));
  }

  // The line stands still in the frame while the image moves below it.
  divide() {
    const left = Number(element("split").value) / 100;
    const { x, zoom } = this.viewport;
    const width = this.frame.clientWidth || 1;
    const share = (left * width - x) / zoom / width;
    this.result.style.clipPath = `inset(0 0 0 ${100 * share}%)`;
    this.divider.style.left = `${100 * left}%`;
    this.divider.hidden = left <= 0 || left >= 1;
    element("side-before").hidden = left <= 0;
    element("side-after").hidden = left >= 1;
    this.layers.classList.toggle("is-near", (this.scale * zoom * this.width) / (this.picture.width || 1) > 3);
  }

  say(text) {
    this.hint.textContent = text;
    this.hint.hidden = !text;
  }

  clearResult() {
    this.result.getContext("2d").clearRect(0, 0, this.result.width, this.result.height);
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
    this.draw(this.result, image);
  }

  showPixels(canvas, pixels, width, height) {
    const image = new ImageData(width, height);
    for (let i = 0, j = 0; i < image.data.length; i += 4, j += 3) {
      image.data[i] = pixels[j];
      image.data[i + 1] = pixels[j + 1];
      image.data[i + 2] = pixels[j + 2];
      image.data[i + 3] = 255;
    }
    this.draw(canvas, image);
  }

  // A canvas takes the size of what it shows.
  draw(canvas, image) {
    if (canvas.width !== image.width || canvas.height !== image.height) {
      Object.assign(canvas, { width: image.width, height: image.height });
    }
    const context = canvas.getContext("2d");
    if (image instanceof ImageData) context.putImageData(image, 0, 0);
    else context.drawImage(image, 0, 0);
    this.divide();
  }
}
