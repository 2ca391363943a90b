// The progress of the solver: numbers, and a plot of the gap.

const element = (id) => document.getElementById(id);

export class Status {
  constructor() {
    this.curve = element("curve");
    this.reset("connecting");
  }

  reset(state, detail = "") {
    this.history = [];
    element("status").classList.remove("is-done");
    element("state").textContent = state;
    element("detail").textContent = detail;
    element("proof").textContent = "relative gap";
    for (const id of ["gap", "iterations", "seconds"]) element(id).textContent = "–";
    this.draw();
  }

  // A request was sent, so the displayed result is out of date.
  ask() {
    element("status").classList.remove("is-done");
    element("state").textContent = "working";
  }

  show(header) {
    const last = this.history.at(-1);
    if (last && header.iterations < last[0]) this.history = [];
    if (header.gap !== null) this.history.push([header.iterations, header.gap]);
    element("status").classList.toggle("is-done", header.done);
    element("proof").textContent = header.done ? "relative gap, certified" : "relative gap";
    element("state").textContent = header.done ? "done" : "iterating";
    const start = header.warm ? ", warm start" : "";
    element("detail").textContent = `preconditioner ${header.preconditioner}${start}`;
    element("gap").textContent = header.gap === null ? "–" : number(header.gap);
    element("iterations").textContent = header.iterations;
    element("seconds").textContent = header.seconds.toFixed(2);
    this.draw(header.tolerance);
  }

  draw(tolerance = 1e-4) {
    const { width, height } = this.curve;
    const context = this.curve.getContext("2d");
    context.clearRect(0, 0, width, height);
    const low = Math.log10(tolerance) - 0.5;
    const most = Math.max(this.history.at(-1)?.[0] ?? 0, 10);
    const x = (iteration) => 6 + ((width - 12) * Math.log1p(iteration)) / Math.log1p(most);
    const y = (gap) => 6 + ((height - 12) * Math.log10(Math.max(gap, 10 ** low))) / low;
    context.setLineDash([6, 6]);
    line(context, "#9aa5b1", 2, [[0, y(tolerance)], [width, y(tolerance)]]);
    context.setLineDash([]);
    line(context, "#0072b2", 4, this.history.map(([i, gap]) => [x(i), y(Math.min(gap, 1))]));
  }
}

function line(context, colour, width, points) {
  context.strokeStyle = context.fillStyle = colour;
  context.lineWidth = width;
  context.lineJoin = "round";
  context.beginPath();
  points.forEach((point, k) => (k ? context.lineTo(...point) : context.moveTo(...point)));
  context.stroke();
  if (points.length) context.fillRect(points.at(-1)[0] - 4, points.at(-1)[1] - 4, 8, 8);
}

export function number(value) {
  if (value === 0) return "0";
  return value < 1e-3 ? value.toExponential(1) : value.toPrecision(2);
}
