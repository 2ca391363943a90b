// The race of preconditioners: a curve and a row of the table for each.

import { Chart } from "./chart.js";
import { announce, element, number, on } from "./dom.js";

// Okabe and Ito's colours that are visible on white and on black, with different dashes.
const LOOKS = [
  { colour: "#8a8f96", dash: [2, 3] },
  { colour: "#cc79a7", dash: [8, 4] },
  { colour: "#56a0d3", dash: [12, 3, 2, 3] },
  { colour: "#d55e00", dash: [5, 2] },
  { colour: "#009e73", dash: [] },
];

export class Race {
  constructor(send) {
    this.send = send;
    this.chart = new Chart(element("race-curve"));
    this.contestants = new Map();
    this.isRunning = false;
    on("race", "click", () => (this.isRunning ? this.stop() : this.start()));
  }

  setContestants(names) {
    this.names = names;
  }

  start() {
    this.contestants = new Map(this.names.map((name, k) => [name, { points: [], ...LOOKS[k % LOOKS.length] }]));
    const rows = [...this.contestants].map(([name, contestant]) => row(name, contestant));
    element("race-table").querySelector("tbody").replaceChildren(...rows);
    element("race-table").hidden = element("race-figure").hidden = false;
    this.setRunning(true);
    this.send({ type: "race" });
  }

  stop() {
    if (!this.isRunning) return;
    this.setRunning(false);
    this.send({ type: "stop race" });
  }

  // An error message of the server ends the race.
  abandon() {
    this.setRunning(false);
  }

  hear({ name, state, points, seconds }) {
    if (!this.isRunning) return;
    if (name === null) {
      this.setRunning(false);
      announce(`The race is over. ${this.summary()}`);
      return;
    }
    const contestant = this.contestants.get(name);
    contestant.points.push(...points);
    const [iterations, gap] = contestant.points.at(-1) ?? [0, null];
    const cells = contestant.cells;
    cells[0].textContent = iterations;
    cells[1].textContent = gap === null ? "–" : number(gap);
    cells[2].textContent = state === "running" ? "running" : `${state.replace("_", " ")}, ${seconds.toFixed(1)} s`;
    this.chart.show([...this.contestants.values()], this.tolerance ?? 1e-4);
  }

  summary() {
    return [...this.contestants].map(([name, { points }]) => `${name}: ${points.at(-1)?.[0] ?? 0} iterations`).join(", ");
  }

  setRunning(isRunning) {
    this.isRunning = isRunning;
    element("race").textContent = isRunning ? "Stop the race" : "Start the race";
  }
}

function row(name, contestant) {
  const made = document.createElement("tr");
  const head = document.createElement("th");
  head.scope = "row";
  const key = document.createElement("i");
  key.className = "key";
  key.style.borderTopColor = contestant.colour;
  if (contestant.dash.length) key.style.borderTopStyle = contestant.dash[0] > 3 ? "dashed" : "dotted";
  head.append(key, name);
  contestant.cells = ["0", "–", "waiting"].map((textContent) => Object.assign(document.createElement("td"), { textContent }));
  made.append(head, ...contestant.cells);
  return made;
}
