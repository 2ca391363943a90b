// Painting with a pointer or with the arrow keys: strokes are drawn immediately and sent while they grow.

const SEND_MILLISECONDS = 250;

export class Brush {
  constructor(stage, scribbles, send) {
    Object.assign(this, { stage, scribbles, send });
    this.size = 7;
    this.number = 1;
    this.isEnabled = true;
    this.current = null;
    this.at = null;
    this.cursor = document.getElementById("cursor");
    const layers = stage.layers;
    layers.addEventListener("pointerdown", (event) => this.press(event));
    layers.addEventListener("pointermove", (event) => this.move(event));
    layers.addEventListener("pointerup", () => this.end());
    layers.addEventListener("pointercancel", () => this.end());
    layers.addEventListener("pointerleave", () => this.hideCursor());
    stage.frame.addEventListener("blur", () => (this.end(), this.hideCursor()));
  }

  place(event) {
    const box = this.stage.strokes.getBoundingClientRect();
    return [
      ((event.clientX - box.left) / box.width) * this.stage.width,
      ((event.clientY - box.top) / box.height) * this.stage.height,
    ].map((value) => Math.round(100 * value) / 100);
  }

  press(event) {
    if (!this.isEnabled || !this.stage.width || event.button !== 0) return;
    if (this.stage.viewport.takes(event)) return this.end();
    event.preventDefault();
    this.stage.frame.focus({ preventScroll: true });
    this.stage.layers.setPointerCapture(event.pointerId);
    this.begin(this.place(event));
  }

  move(event) {
    this.at = this.place(event);
    this.showCursor();
    if (!this.current || this.stage.viewport.takes(event)) return;
    const events = event.getCoalescedEvents?.() ?? [];
    this.extend((events.length ? events : [event]).map((each) => this.place(each)));
  }

  begin(point) {
    this.current = { number: this.number, size: this.size, points: [point] };
    this.sent = 0;
    this.sentAt = performance.now();
    this.scribbles.begin(this.current);
  }

  extend(points) {
    const from = this.current.points.length - 1;
    this.current.points.push(...points);
    this.scribbles.draw(this.current, from);
    if (performance.now() - this.sentAt > SEND_MILLISECONDS) this.flush();
  }

  end() {
    if (!this.current) return;
    this.flush();
    this.current = null;
    this.cursor.classList.remove("is-down");
  }

  // Send the points that have not been sent yet.
  flush() {
    const { number, size, points } = this.current;
    if (this.sent === points.length) return;
    const fresh = points.slice(this.sent, this.sent + 4000);
    this.send({ type: "stroke", class: number, size, points: fresh, continues: this.sent > 0 });
    this.sent += fresh.length;
    this.sentAt = performance.now();
  }

  // Move by keys, in pixels of the image.
  step(dx, dy) {
    const { width, height, viewport } = this.stage;
    const [x, y] = this.at ?? [width / 2, height / 2];
    this.at = [Math.min(Math.max(x + dx, 0), width), Math.min(Math.max(y + dy, 0), height)];
    viewport.reveal(this.at[0] / width, this.at[1] / height);
    this.showCursor();
    if (this.current) this.extend([this.at]);
  }

  // Put the brush down or lift it, by keys. Return whether it is down.
  toggle() {
    if (this.current) {
      this.end();
      return false;
    }
    this.step(0, 0);
    this.begin(this.at);
    this.cursor.classList.add("is-down");
    this.showCursor();
    return true;
  }

  showCursor() {
    const { width, height, scale } = this.stage;
    const { zoom, isMoving } = this.stage.viewport;
    const size = `${Math.max(this.size * scale, 4 / zoom)}px`;
    const isDown = this.cursor.classList.contains("is-down");
    Object.assign(this.cursor.style, {
      display: this.isEnabled && !isMoving ? "block" : "none",
      left: `${(100 * this.at[0]) / width}%`,
      top: `${(100 * this.at[1]) / height}%`,
      width: size,
      height: size,
      borderWidth: `${(isDown ? 4 : 2) / zoom}px`,
      boxShadow: `0 0 0 ${1.5 / zoom}px #000c`,
      background: this.number ? `rgb(${this.scribbles.colour(this.number)} / 60%)` : "#fff8",
    });
  }

  hideCursor() {
    this.cursor.style.display = "none";
  }
}
