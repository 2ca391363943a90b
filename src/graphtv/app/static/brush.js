// Painting: strokes are drawn immediately and sent while the pointer moves.

const SEND_MILLISECONDS = 250;

export class Brush {
  constructor(stage, { colour, send, changed }) {
    Object.assign(this, { stage, colour, send, changed });
    this.strokes = [];
    this.size = 7;
    this.number = 1;
    this.isEnabled = true;
    this.current = null;
    this.cursor = document.getElementById("cursor");
    const canvas = stage.strokes;
    canvas.addEventListener("pointerdown", (event) => this.begin(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", () => this.end());
    canvas.addEventListener("pointercancel", () => this.end());
    canvas.addEventListener("pointerleave", () => (this.cursor.style.display = "none"));
  }

  place(event) {
    const box = this.stage.strokes.getBoundingClientRect();
    return [
      ((event.clientX - box.left) / box.width) * this.stage.width,
      ((event.clientY - box.top) / box.height) * this.stage.height,
    ].map((value) => Math.round(100 * value) / 100);
  }

  begin(event) {
    if (!this.isEnabled || !this.stage.width || event.button !== 0) return;
    event.preventDefault();
    document.activeElement?.blur();
    this.stage.strokes.setPointerCapture(event.pointerId);
    this.current = { number: this.number, size: this.size, points: [this.place(event)] };
    this.strokes.push(this.current);
    this.sent = 0;
    this.sentAt = performance.now();
    this.draw(this.current, 0);
    this.changed();
  }

  move(event) {
    this.showCursor(event);
    if (!this.current) return;
    const from = this.current.points.length - 1;
    for (const each of event.getCoalescedEvents?.() ?? [event]) {
      this.current.points.push(this.place(each));
    }
    if (this.current.points.length === from + 1) this.current.points.push(this.place(event));
    this.draw(this.current, from);
    if (performance.now() - this.sentAt > SEND_MILLISECONDS) this.flush();
  }

  end() {
    if (!this.current) return;
    this.flush();
    this.current = null;
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

  undo() {
    if (this.current || !this.strokes.length) return;
    this.strokes.pop();
    this.redraw();
    this.send({ type: "undo" });
  }

  clear() {
    this.forget();
    this.send({ type: "clear" });
  }

  forget() {
    this.strokes = [];
    this.current = null;
    this.redraw();
  }

  removeClass(number) {
    this.strokes = this.strokes.filter((stroke) => stroke.number !== number);
    for (const stroke of this.strokes) if (stroke.number > number) stroke.number -= 1;
    this.redraw();
    this.send({ type: "remove", class: number });
  }

  redraw() {
    const { width, height } = this.stage;
    this.stage.strokes.getContext("2d").clearRect(0, 0, width, height);
    for (const stroke of this.strokes) this.draw(stroke, 0);
    this.changed();
  }

  draw({ number, size, points }, from) {
    const context = this.stage.strokes.getContext("2d");
    context.globalCompositeOperation = number ? "source-over" : "destination-out";
    context.strokeStyle = number ? `rgb(${this.colour(number)})` : "#000";
    context.lineWidth = Math.max(size, 1.42);
    context.lineCap = context.lineJoin = "round";
    context.beginPath();
    context.moveTo(...points[from]);
    for (const point of points.slice(from + 1)) context.lineTo(...point);
    if (points.length === from + 1) context.lineTo(...points[from]);
    context.stroke();
  }

  showCursor(event) {
    const box = this.stage.strokes.getBoundingClientRect();
    const size = `${this.size * this.stage.scale}px`;
    Object.assign(this.cursor.style, {
      display: this.isEnabled ? "block" : "none",
      left: `${event.clientX - box.left}px`,
      top: `${event.clientY - box.top}px`,
      width: size,
      height: size,
      background: this.number ? `rgb(${this.colour(this.number)} / 60%)` : "#fff8",
    });
  }
}
