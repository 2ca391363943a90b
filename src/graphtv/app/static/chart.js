// A plot of relative gaps over iterations, both on log scales.

export class Chart {
  constructor(canvas) {
    this.canvas = canvas;
    this.curves = [];
    this.tolerance = 1e-4;
    new ResizeObserver(() => this.draw()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  // Each curve has `points` (iteration, gap), a `colour` and a `dash`.
  show(curves, tolerance) {
    Object.assign(this, { curves, tolerance });
    this.draw();
  }

  draw() {
    const { clientWidth, clientHeight } = this.canvas;
    if (!clientWidth) return;
    const sharp = devicePixelRatio || 1;
    Object.assign(this.canvas, { width: clientWidth * sharp, height: clientHeight * sharp });
    const context = this.canvas.getContext("2d");
    context.scale(sharp, sharp);
    this.style = getComputedStyle(document.documentElement);
    const low = Math.log10(this.tolerance) - 0.5;
    const most = Math.max(10, ...this.curves.map(({ points }) => points.at(-1)?.[0] ?? 0));
    const [left, bottom] = [40, 20];
    const x = (iteration) => left + ((clientWidth - left - 6) * Math.log1p(iteration)) / Math.log1p(most);
    const y = (gap) => {
      const share = Math.log10(Math.min(Math.max(gap, 10 ** low), 1)) / low;
      return 6 + (clientHeight - bottom - 12) * share;
    };
    this.axes(context, x, y, low, most);
    for (const { points, colour, dash } of this.curves) {
      context.setLineDash(dash ?? []);
      line(context, colour ?? this.colour("--accent"), 2.5, points.map(([i, gap]) => [x(i), y(gap)]));
      context.setLineDash([]);
      const end = points.at(-1);
      if (end) context.fillRect(x(end[0]) - 3, y(end[1]) - 3, 6, 6);
    }
  }

  axes(context, x, y, low, most) {
    const { clientWidth, clientHeight } = this.canvas;
    context.font = "11px system-ui, sans-serif";
    context.fillStyle = this.colour("--quiet");
    for (let power = 0; power >= low; power -= 1) {
      line(context, this.colour("--line"), 1, [[40, y(10 ** power)], [clientWidth, y(10 ** power)]]);
      context.fillStyle = this.colour("--quiet");
      context.fillText(power ? `1e${power}` : "1", 4, y(10 ** power) + 4);
    }
    for (let tick = 1; tick <= most; tick *= 10) context.fillText(String(tick), x(tick) - 4, clientHeight - 4);
    context.setLineDash([6, 5]);
    line(context, this.colour("--quiet"), 1.5, [[40, y(this.tolerance)], [clientWidth, y(this.tolerance)]]);
    context.setLineDash([]);
  }

  colour(name) {
    return this.style.getPropertyValue(name).trim();
  }
}

function line(context, colour, width, points) {
  context.strokeStyle = context.fillStyle = colour;
  context.lineWidth = width;
  context.lineJoin = "round";
  context.beginPath();
  points.forEach((point, k) => (k ? context.lineTo(...point) : context.moveTo(...point)));
  context.stroke();
}
