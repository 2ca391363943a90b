// Zoom and pan: the layers move and grow inside the frame.

import { element, on } from "./dom.js";

const MOST = 40;
const STEP = 1.4;

export class Viewport {
  constructor(frame, layers, moved) {
    Object.assign(this, { frame, layers, moved });
    this.zoom = 1;
    this.x = this.y = 0;
    this.fingers = new Map();
    this.isMoving = false;
    frame.addEventListener("wheel", (event) => this.turn(event), { passive: false });
    on("zoom-in", "click", () => this.scale(STEP));
    on("zoom-out", "click", () => this.scale(1 / STEP));
    on("zoom-fit", "click", () => this.fit());
    layers.addEventListener("pointerdown", (event) => this.press(event));
    layers.addEventListener("pointermove", (event) => this.drag(event));
    for (const name of ["pointerup", "pointercancel"]) {
      layers.addEventListener(name, (event) => this.fingers.delete(event.pointerId));
    }
  }

  // Two fingers, the middle button or the tool "Move" move the image, so the brush must not paint.
  takes(event) {
    return this.isMoving || event.button === 1 || this.fingers.size > 1;
  }

  press(event) {
    this.fingers.set(event.pointerId, [event.clientX, event.clientY]);
    this.isDragging = this.takes(event);
    if (this.isDragging) {
      event.preventDefault();
      this.layers.setPointerCapture(event.pointerId);
    }
  }

  drag(event) {
    const from = this.fingers.get(event.pointerId);
    if (!from || !this.isDragging) return;
    const to = [event.clientX, event.clientY];
    const other = [...this.fingers].find(([id]) => id !== event.pointerId)?.[1];
    this.fingers.set(event.pointerId, to);
    if (!other) return this.pan(to[0] - from[0], to[1] - from[1]);
    const apart = (a) => Math.hypot(a[0] - other[0], a[1] - other[1]);
    const box = this.frame.getBoundingClientRect();
    const middle = [(to[0] + other[0]) / 2 - box.left, (to[1] + other[1]) / 2 - box.top];
    this.pan((to[0] - from[0]) / 2, (to[1] - from[1]) / 2);
    this.scale(apart(to) / Math.max(apart(from), 1), ...middle);
  }

  turn(event) {
    event.preventDefault();
    const box = this.frame.getBoundingClientRect();
    const lines = event.deltaMode === 1 ? 30 * event.deltaY : event.deltaY;
    this.scale(Math.exp(-lines / 500), event.clientX - box.left, event.clientY - box.top);
  }

  // Zoom by a factor around a point of the frame.
  scale(factor, x = this.frame.clientWidth / 2, y = this.frame.clientHeight / 2) {
    const zoom = Math.min(Math.max(this.zoom * factor, 1), MOST);
    this.x = x - ((x - this.x) * zoom) / this.zoom;
    this.y = y - ((y - this.y) * zoom) / this.zoom;
    this.zoom = zoom;
    this.apply();
  }

  pan(dx, dy) {
    this.x += dx;
    this.y += dy;
    this.apply();
  }

  fit() {
    this.zoom = 1;
    this.apply();
  }

  // Move the image so that a point of it, in fractions of its size, is in view.
  reveal(x, y) {
    const inset = (at, offset, length) => {
      const place = at * length * this.zoom + offset;
      const margin = 0.1 * length;
      return place < margin ? margin - place : Math.min(length - margin - place, 0);
    };
    const { clientWidth, clientHeight } = this.frame;
    this.pan(inset(x, this.x, clientWidth), inset(y, this.y, clientHeight));
  }

  apply() {
    const { clientWidth, clientHeight } = this.frame;
    this.x = Math.min(0, Math.max(this.x, clientWidth * (1 - this.zoom)));
    this.y = Math.min(0, Math.max(this.y, clientHeight * (1 - this.zoom)));
    this.layers.style.transform = `translate(${this.x}px, ${this.y}px) scale(${this.zoom})`;
    element("zoom-shown").textContent = `${Math.round(100 * this.zoom)} %`;
    element("zoom-out").disabled = element("zoom-fit").disabled = this.zoom === 1;
    element("zoom-in").disabled = this.zoom === MOST;
    this.moved();
  }
}
