// The strokes on each slice, with undo and redo. The server keeps the same history.

export class Scribbles {
  // `canvas` shows the strokes, `colour(k)` is the colour of class k, `changed` is called after each change.
  constructor(canvas, { colour, send, changed }) {
    Object.assign(this, { canvas, colour, send, changed });
    this.pages = new Map();
    this.page = { steps: [], undone: [] };
  }

  // Forget everything: another image.
  forget() {
    this.pages = new Map();
  }

  open(slice) {
    if (!this.pages.has(slice)) this.pages.set(slice, { steps: [], undone: [] });
    this.page = this.pages.get(slice);
    this.redraw();
  }

  get canUndo() {
    return this.page.steps.length > 0;
  }

  get canRedo() {
    return this.page.undone.length > 0;
  }

  get isEmpty() {
    const last = this.page.steps.at(-1);
    return !last || (last.sheet !== undefined && !last.sheet);
  }

  begin(stroke) {
    this.page.steps.push(stroke);
    this.page.undone = [];
    this.draw(stroke, 0);
    this.changed();
  }

  undo() {
    if (!this.canUndo) return;
    this.page.undone.push(this.page.steps.pop());
    this.redraw();
    this.send({ type: "undo" });
  }

  redo() {
    if (!this.canRedo) return;
    this.page.steps.push(this.page.undone.pop());
    this.redraw();
    this.send({ type: "redo" });
  }

  clear() {
    if (this.isEmpty) return;
    this.replace(null);
    this.send({ type: "clear" });
  }

  // A sheet replaces everything below it: an array of classes, or null for nothing.
  replace(sheet) {
    this.page.steps.push({ sheet });
    this.page.undone = [];
    this.redraw();
  }

  removeClass(number) {
    for (const page of this.pages.values()) {
      page.undone = [];
      page.steps = page.steps.filter((step) => step.number !== number);
      for (const step of page.steps) {
        if (step.number > number) step.number -= 1;
        step.sheet = step.sheet?.map((k) => (k === number ? 0 : k - (k > number))) ?? step.sheet;
      }
    }
    this.redraw();
    this.send({ type: "remove", class: number });
  }

  redraw() {
    const context = this.canvas.getContext("2d");
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    for (const step of this.page.steps) {
      if (step.sheet === undefined) this.draw(step, 0);
      else this.drawSheet(step.sheet);
    }
    this.changed();
  }

  drawSheet(sheet) {
    const { width, height } = this.canvas;
    const image = new ImageData(width, height);
    for (let i = 0; sheet && i < width * height; i++) {
      if (!sheet[i]) continue;
      image.data.set(this.colour(sheet[i]), 4 * i);
      image.data[4 * i + 3] = 255;
    }
    this.canvas.getContext("2d").putImageData(image, 0, 0);
  }

  draw({ number, size, points }, from) {
    const context = this.canvas.getContext("2d");
    context.globalCompositeOperation = number ? "source-over" : "destination-out";
    context.strokeStyle = number ? `rgb(${this.colour(number)})` : "#000";
    context.lineWidth = Math.max(size, 1.42);
    context.lineCap = context.lineJoin = "round";
    context.beginPath();
    context.moveTo(...points[from]);
    for (const point of points.slice(from + 1)) context.lineTo(...point);
    context.stroke();
    if (points.length === from + 1) {
      // A line of length zero is not drawn.
      context.fillStyle = context.strokeStyle;
      context.beginPath();
      context.arc(...points[from], context.lineWidth / 2, 0, 2 * Math.PI);
      context.fill();
    }
    context.globalCompositeOperation = "source-over";
  }
}
