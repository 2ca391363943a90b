// The state of the computation in plain words, and its numbers in the advanced panel.

import { Chart } from "./chart.js";
import { announce, element, number, percent } from "./dom.js";

export class Status {
  constructor() {
    this.chart = new Chart(element("curve"));
    this.reset("Connecting");
  }

  reset(state, text = "") {
    this.history = [];
    this.say(state, text, false);
    for (const id of ["gap", "iterations", "seconds", "detail"]) element(id).textContent = "–";
    this.chart.show([{ points: [] }], 1e-4);
  }

  // A request was sent, so the displayed result is out of date.
  ask() {
    this.say("Working", "", false);
  }

  show(header) {
    const last = this.history.at(-1);
    if (last && header.iterations < last[0]) this.history = [];
    if (header.gap !== null) this.history.push([header.iterations, header.gap]);
    if (header.done) this.say("Done", proof(header), true);
    else this.say("Improving", header.gap === null ? "" : `so far within ${percent(header.gap)} of the best result`, false);
    element("gap").textContent = header.gap === null ? "–" : number(header.gap);
    element("iterations").textContent = header.iterations;
    element("seconds").textContent = header.seconds.toFixed(2);
    element("detail").textContent = `${header.preconditioner}${header.warm ? ", warm start" : ""}`;
    element("curve").setAttribute("aria-label", `Relative gap over iterations: ${number(header.gap ?? 1)} after ${header.iterations}`);
    this.chart.show([{ points: this.history }], header.tolerance);
  }

  say(state, text, isDone) {
    const isNews = element("state").textContent !== state;
    element("state").textContent = state;
    element("proof").textContent = text;
    element("status").classList.toggle("is-done", isDone);
    if (isNews && state !== "Improving" && state !== "Working") announce(`${state}. ${text}`);
  }
}

function proof({ gap, seconds }) {
  const within = gap ? `within ${percent(gap)} of the best possible` : "the best possible";
  return `Proven: this result is ${within} for these settings (${seconds.toFixed(1)} s).`;
}
